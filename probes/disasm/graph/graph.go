// Package graph finds the flow of control in a function: blocks, loops, and which blocks every way
// passes.
package graph

import (
	"encoding/binary"
	"slices"

	"golang.org/x/arch/x86/x86asm"

	"ompp-attach/probes/disasm"
)

// Block is a stretch of instructions that are executed one after the other.
type Block struct {
	Insts []disasm.Inst
	Succs []int // blocks that may follow
	Preds []int
	// After is the block that follows a cut, -1 if the block does not end in a cut.
	After int
	// Leaves says that control may leave the function here, or cannot be followed. That is so at a
	// return, a tail jump, a trap, and a jump to an unknown place.
	Leaves bool
}

// Last returns the block's last instruction.
func (b *Block) Last() disasm.Inst { return b.Insts[len(b.Insts)-1] }

// Graph is the flow of control in a function that is cut into segments. A segment ends at certain
// calls, and the next one starts behind them. Blocks[0] is the entry.
type Graph struct {
	Blocks []Block
	// Unknown says that a jump leads to places that are not known.
	Unknown bool

	byAddr map[uint64]int
	roots  []int // entry and the blocks behind cuts
}

// Effect says what a call does to the flow of control in a Graph.
type Effect uint8

// The effects.
const (
	CallReturns Effect = iota
	CallCuts           // a segment ends there, the next one starts behind it
	CallEnds           // it does not return
)

// New builds the graph of a function (as disasm.Parts returns it). effect says what each of
// its calls, and of its jumps to other functions, does.
func New(code disasm.Code, parts [][]disasm.Inst, effect func(disasm.Inst) Effect) *Graph {
	body := disasm.Joined(parts)
	g := &Graph{byAddr: map[uint64]int{}}
	if len(body) == 0 {
		return g
	}
	at := make(map[uint64]int, len(body))
	for n, i := range body {
		at[i.Addr] = n
	}
	tables := map[uint64][]uint64{}
	leader := make([]bool, len(body))
	lead := func(addr uint64) {
		if n, ok := at[addr]; ok {
			leader[n] = true
		}
	}
	leader[0] = true
	for n, i := range body {
		switch {
		case i.Control == disasm.JumpIndirect && i.Target == 0:
			tables[i.Addr] = jumpTable(code, body[max(0, n-tableCode):n], at)
			for _, t := range tables[i.Addr] {
				lead(t)
			}
		case i.Control == disasm.Jump || i.Control == disasm.Jcc:
			lead(i.Target)
		}
		if i.Ends() || i.Control == disasm.Jcc || effect(i) != CallReturns {
			lead(i.Next())
		}
		if n > 0 && body[n-1].Next() != i.Addr {
			leader[n] = true
		}
	}
	for n := 0; n < len(body); {
		end := n + 1
		for end < len(body) && !leader[end] {
			end++
		}
		g.byAddr[body[n].Addr] = len(g.Blocks)
		g.Blocks = append(g.Blocks, Block{Insts: body[n:end:end], After: -1})
		n = end
	}
	g.roots = []int{0}
	for n := range g.Blocks {
		g.connect(n, effect, tables)
	}
	g.prune()
	return g
}

// prune removes blocks to which no way leads, such as the padding before a loop.
func (g *Graph) prune() {
	reached := make([]bool, len(g.Blocks))
	for work := g.Roots(); len(work) > 0; {
		n := work[len(work)-1]
		work = work[:len(work)-1]
		if !reached[n] {
			reached[n] = true
			work = append(work, g.Blocks[n].Succs...)
		}
	}
	for n := range g.Blocks {
		b := &g.Blocks[n]
		b.Preds = slices.DeleteFunc(b.Preds, func(p int) bool { return !reached[p] })
		if !reached[n] {
			b.Succs, b.Leaves, b.After = nil, false, -1
		}
	}
}

func (g *Graph) connect(n int, effect func(disasm.Inst) Effect, tables map[uint64][]uint64) {
	b := &g.Blocks[n]
	to := func(addr uint64) {
		if k, ok := g.byAddr[addr]; !ok {
			b.Leaves = true
		} else if !slices.Contains(b.Succs, k) {
			b.Succs = append(b.Succs, k)
			g.Blocks[k].Preds = append(g.Blocks[k].Preds, n)
		}
	}
	switch i := b.Last(); {
	case i.Control == disasm.JumpIndirect && len(tables[i.Addr]) > 0:
		for _, t := range tables[i.Addr] {
			to(t)
		}
	case i.Control == disasm.JumpIndirect:
		b.Leaves = true
		g.Unknown = g.Unknown || i.Target == 0
	case i.Control == disasm.Ret || i.Control == disasm.Trap:
		b.Leaves = true
	case i.Control == disasm.Jump:
		to(i.Target)
	case effect(i) == CallEnds:
	case effect(i) == CallCuts:
		b.Leaves = true
		if k, ok := g.byAddr[i.Next()]; ok {
			b.After = k
			g.roots = append(g.roots, k)
		}
	default:
		if i.Control == disasm.Jcc {
			to(i.Target)
		}
		to(i.Next())
	}
}

// BlockOf returns the block that contains the instruction at addr.
func (g *Graph) BlockOf(addr uint64) (int, bool) {
	n := slices.IndexFunc(g.Blocks, func(b Block) bool { return b.Insts[0].Addr <= addr && addr < b.Last().Next() })
	return n, n >= 0
}

// Roots returns the first blocks of all segments: the entry, and what follows
// the cuts.
func (g *Graph) Roots() []int { return slices.Clone(g.roots) }

// An indirect jump takes its target from a table. tableCode is how many instructions before the
// jump are searched for the table's address. maxTable is how many entries a table may have.
const (
	tableCode = 12
	maxTable  = 1024
)

// jumpTable returns the targets of a switch as GCC compiles it. GCC compares with the last case's
// number, loads the table's address (lea table(%rip)), and loads the 32-bit distance from the table
// to the case.
func jumpTable(code disasm.Code, before []disasm.Inst, at map[uint64]int) (targets []uint64) {
	cases := maxTable
	for _, i := range before {
		if d, ok := i.X86(); ok && d.Op == x86asm.CMP {
			if n, ok := d.Args[1].(x86asm.Imm); ok && n >= 0 && n < maxTable {
				cases = int(n) + 1
			}
		}
	}
	for _, i := range slices.Backward(before) {
		if i.Meaning.Op != disasm.MeansAddress || i.Ref == 0 {
			continue
		}
		b := code.Read(i.Ref, 4*cases)
		for ; len(b) >= 4; b = b[4:] {
			t := i.Ref + uint64(int64(int32(binary.LittleEndian.Uint32(b))))
			if _, ok := at[t]; !ok {
				break
			}
			targets = append(targets, t)
		}
		return targets
	}
	return nil
}

// Order says which blocks every way to (or from) a block passes. Blocks that no way reaches have no
// order.
type Order struct {
	parent []int // the nearest such block; the root's is itself; -1: none
	depth  []int
}

// Over returns the nearest block that is on every way to block n (for
// Dominators) or from it (for PostDominators), -1 if there is none.
func (o Order) Over(n int) int {
	if p := o.parent[n]; p >= 0 && p < len(o.parent)-1 {
		return p
	}
	return -1
}

// Reached reports whether a block has an order: whether it is on any way from
// the start (to the end) of a segment.
func (o Order) Reached(n int) bool { return o.parent[n] >= 0 }

// Covers reports whether block a is on every way to (from) block b, or is b.
func (o Order) Covers(a, b int) bool {
	if o.parent[a] < 0 || o.parent[b] < 0 {
		return false
	}
	for o.depth[b] > o.depth[a] {
		b = o.parent[b]
	}
	return a == b
}

// Dominators finds what is on every way from the start of a segment.
func (g *Graph) Dominators() Order {
	return order(len(g.Blocks), g.roots, func(n int) []int { return g.Blocks[n].Succs }, func(n int) []int { return g.Blocks[n].Preds })
}

// PostDominators finds what is on every way to the end of a segment.
func (g *Graph) PostDominators() Order {
	var ends []int
	for n := range g.Blocks {
		if g.Blocks[n].Leaves {
			ends = append(ends, n)
		}
	}
	return order(len(g.Blocks), ends, func(n int) []int { return g.Blocks[n].Preds }, func(n int) []int { return g.Blocks[n].Succs })
}

// order computes immediate dominators (Cooper, Harvey and Kennedy, "A Simple, Fast Dominance
// Algorithm") of a graph with several roots. It adds a common root above them, numbered n.
func order(n int, roots []int, next, prev func(int) []int) Order {
	post, rank := postorder(n, roots, next)
	parent := slices.Repeat([]int{-1}, n+1)
	parent[n] = n
	isRoot := make([]bool, n+1)
	for _, r := range roots {
		isRoot[r] = true
	}
	// common is the closest dominator of two nodes, as far as dominators are known.
	common := func(a, b int) int {
		for a != b {
			for rank[a] < rank[b] {
				a = parent[a]
			}
			for rank[b] < rank[a] {
				b = parent[b]
			}
		}
		return a
	}
	for changed := true; changed; {
		changed = false
		for _, b := range slices.Backward(post) {
			best := -1
			if isRoot[b] {
				best = n
			}
			for _, p := range prev(b) {
				switch {
				case parent[p] < 0:
				case best < 0:
					best = p
				default:
					best = common(best, p)
				}
			}
			if best >= 0 && parent[b] != best {
				parent[b], changed = best, true
			}
		}
	}
	o := Order{parent, make([]int, n+1)}
	for _, b := range slices.Backward(post) {
		if parent[b] >= 0 {
			o.depth[b] = o.depth[parent[b]] + 1
		}
	}
	return o
}

// postorder returns the nodes that can be reached from roots, in postorder. rank is the place of
// each node in this order; 0: the node is not reached. The node n, above all roots, comes last.
func postorder(n int, roots []int, next func(int) []int) (post, rank []int) {
	rank = make([]int, n+1)
	type visit struct{ node, child int }
	for _, r := range roots {
		if rank[r] != 0 {
			continue
		}
		rank[r] = -1
		for stack := []visit{{r, 0}}; len(stack) > 0; {
			v := &stack[len(stack)-1]
			if s := next(v.node); v.child < len(s) {
				v.child++
				if c := s[v.child-1]; rank[c] == 0 {
					rank[c] = -1
					stack = append(stack, visit{c, 0})
				}
				continue
			}
			post = append(post, v.node)
			rank[v.node] = len(post)
			stack = stack[:len(stack)-1]
		}
	}
	rank[n] = len(post) + 1
	return post, rank
}

// Cycles returns the outermost loops among the blocks of within (nil: all), each as its blocks in
// ascending order. They are the strongly connected components. Ways back to the block header (-1:
// none) are left out: so the loops inside a loop are found.
func (g *Graph) Cycles(within []int, header int) (cycles [][]int) {
	in := make([]bool, len(g.Blocks))
	if within == nil {
		for n := range in {
			in[n] = true
		}
	}
	for _, n := range within {
		in[n] = true
	}
	index := make([]int, len(g.Blocks)) // Tarjan; 0: not visited
	low := make([]int, len(g.Blocks))
	onPath := make([]bool, len(g.Blocks))
	var path []int
	count := 0
	type visit struct{ node, child int }
	for r := range g.Blocks {
		if !in[r] || index[r] != 0 {
			continue
		}
		stack := []visit{{r, 0}}
		for len(stack) > 0 {
			v := &stack[len(stack)-1]
			n := v.node
			if v.child == 0 {
				count++
				index[n], low[n], onPath[n] = count, count, true
				path = append(path, n)
			}
			if v.child < len(g.Blocks[n].Succs) {
				c := g.Blocks[n].Succs[v.child]
				v.child++
				switch {
				case !in[c] || c == header:
				case index[c] == 0:
					stack = append(stack, visit{c, 0})
				case onPath[c]:
					low[n] = min(low[n], index[c])
				}
				continue
			}
			stack = stack[:len(stack)-1]
			if len(stack) > 0 {
				p := stack[len(stack)-1].node
				low[p] = min(low[p], low[n])
			}
			if low[n] != index[n] {
				continue
			}
			k := slices.Index(path, n)
			c := slices.Clone(path[k:])
			path = path[:k]
			for _, m := range c {
				onPath[m] = false
			}
			if len(c) > 1 || n != header && slices.Contains(g.Blocks[n].Succs, n) {
				slices.Sort(c)
				cycles = append(cycles, c)
			}
		}
	}
	slices.SortFunc(cycles, func(a, b []int) int { return a[0] - b[0] })
	return cycles
}

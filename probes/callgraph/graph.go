package callgraph

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"
	"sync"

	"ompp-attach/probes/disasm"
	"ompp-attach/probes/disasm/points"
	"ompp-attach/probes/disasm/values"
	"ompp-attach/symbols"
)

// How many calls above the functions that call task bodies a function still counts as running
// tasks. By the code alone any function may: even libomp's debugging output can end in an abort
// that cleans up. Where it matters whether a jump leads to user code, the way is short:
// __kmpc_omp_taskwait's template, __kmp_execute_tasks, its template, __kmp_invoke_task.
const (
	AnyDepth  = 1 << 30
	NearDepth = 3
)

// Graph says which functions may reach which others by direct calls and jumps. It is kept
// backwards, from callee to callers, and is made from the code's bytes. Bytes that only look like a
// call make the graph larger, never smaller. Jumps of two bytes look like many other bytes. They
// count if the function that they lie in decodes to them,
// which Reaching finds out where it matters.
type Graph struct {
	Object *symbols.Object
	Code   *disasm.Decoded // the object's code; each function is decoded once
	// Callers, by the function that they call or jump to; without short jumps.
	From   map[uint64][]uint64
	short  map[uint64][]*shortJump // by the function that they may lead to
	bodies map[uint64]*Function
}

// shortJump is what looks like a jump of two bytes to a neighbour of its function.
type shortJump struct {
	in, at uint64 // its function, its address
	known  bool   // is tells whether it is one
	is     bool
}

// Function is one decoded function of a library.
type Function struct {
	Parts [][]disasm.Inst
	Flow  *values.Flow
}

// New makes the call graph of a file.
func New(o *symbols.Object) *Graph {
	g := &Graph{Object: o, Code: CodeOf(o), From: map[uint64][]uint64{}, short: map[uint64][]*shortJump{}, bodies: map[uint64]*Function{}}
	for _, r := range o.TextRanges() {
		b := o.Read(r.Lo, int(r.Hi-r.Lo))
		branchSites(o.Arch(), b, r.Lo, func(at, target uint64) {
			if target = g.Resolve(target); target == 0 {
				return
			}
			if lo, _, ok := o.FuncRange(at); ok && lo != target && !slices.Contains(g.From[target], lo) {
				g.From[target] = append(g.From[target], lo)
			}
		})
		if o.Arch() == "amd64" {
			g.findShortJumps(b, r.Lo)
		}
	}
	return g
}

// findShortJumps finds bytes that look like a jump of two bytes from a function to a neighbour.
// Such a jump is jmp, jcc, loop or jrcxz with a distance of one byte.
func (g *Graph) findShortJumps(b []byte, base uint64) {
	var in symbols.Range // the function around at
	for i := 0; i+2 <= len(b); i++ {
		if b[i] != 0xeb && b[i]&0xf0 != 0x70 && b[i]&0xfc != 0xe0 {
			continue
		}
		at := base + uint64(i)
		target := at + 2 + uint64(int64(int8(b[i+1])))
		if !in.Contains(at) {
			lo, hi, ok := g.Object.FuncRange(at)
			if !ok {
				continue
			}
			in = symbols.Range{Lo: lo, Hi: hi}
		}
		if in.Contains(target) {
			continue
		}
		if callee := g.Resolve(target); callee != 0 && callee != in.Lo && !slices.Contains(g.From[callee], in.Lo) {
			g.short[callee] = append(g.short[callee], &shortJump{in: in.Lo, at: at})
		}
	}
}

// isJump reports whether an instruction begins where what looks like a jump does, as far as its
// function can be decoded.
func (g *Graph) isJump(j *shortJump) bool {
	if j.known {
		return j.is
	}
	body, err := disasm.Func(g.Code, j.in)
	_, j.is = slices.BinarySearchFunc(body, j.at, func(i disasm.Inst, at uint64) int { return cmp.Compare(i.Addr, at) })
	if err != nil && (len(body) == 0 || j.at >= body[len(body)-1].Next()) {
		j.is = true // it may be one
	}
	j.known = true
	return j.is
}

// Resolve returns the start of the function that an address leads to. An address in the procedure
// linkage table is followed; the result is 0 for another library's function.
func (g *Graph) Resolve(target uint64) uint64 {
	if name, ok := g.Object.PLT(target); ok {
		if own := g.Object.Symbol(name); len(own) > 0 {
			return own[0]
		}
		return 0
	}
	lo, _, ok := g.Object.FuncRange(target)
	if !ok {
		return 0
	}
	return lo
}

// branchSites visits all bytes that look like a direct call or jump; on amd64, those with a
// distance of four bytes.
func branchSites(arch string, b []byte, base uint64, visit func(at, target uint64)) {
	if arch == "arm64" {
		for i := 0; i+4 <= len(b); i += 4 {
			w := binary.LittleEndian.Uint32(b[i:])
			switch at := base + uint64(i); {
			case w>>26&31 == 5: // b, bl
				visit(at, at+uint64(int64(int32(w<<6)>>4)))
			case w>>24 == 0x54, w>>25&63 == 0x1a: // b.cond, cbz
				visit(at, at+uint64(int64(int32(w<<8)>>13<<2)))
			case w>>25&63 == 0x1b: // tbz, tbnz
				visit(at, at+uint64(int64(int32(w<<13)>>18<<2)))
			}
		}
		return
	}
	for i := 0; i+5 <= len(b); i++ {
		if b[i]&0xfe == 0xe8 || b[i]&0xf0 == 0x80 && i > 0 && b[i-1] == 0x0f {
			visit(base+uint64(i), base+uint64(i)+5+uint64(int64(int32(binary.LittleEndian.Uint32(b[i+1:])))))
		}
	}
}

// Reaching returns the functions from which at most depth calls in a row may lead to one of the
// targets, and the targets themselves.
func (g *Graph) Reaching(targets []uint64, depth int) map[uint64]bool {
	left := map[uint64]int{} // how many calls more may lead to each function
	expand := func(level []uint64, depth int) {
		for ; depth >= 0 && len(level) > 0; depth-- {
			var next []uint64
			for _, f := range level {
				if known, ok := left[f]; !ok || known < depth {
					left[f] = depth
					next = append(next, g.From[f]...)
				}
			}
			level = next
		}
	}
	expand(targets, depth)
	for again := true; again; { // short jumps last: each of them may have to be decoded
		again = false
		for callee, jumps := range g.short {
			for _, j := range jumps {
				known, ok := left[j.in]
				if calls := left[callee] - 1; calls < 0 || ok && known >= min(calls, manyCalls) || !g.isJump(j) {
					continue
				}
				expand([]uint64{j.in}, left[callee]-1)
				again = true
			}
		}
	}
	all := map[uint64]bool{}
	for f := range left {
		all[f] = true
	}
	return all
}

// manyCalls is more calls in a row than there are functions.
const manyCalls = AnyDepth / 2

// Read decodes the function at entry and follows its values, once for all callers.
func (g *Graph) Read(entry uint64) (*Function, error) {
	if f := g.bodies[entry]; f != nil {
		return f, nil
	}
	parts, err := disasm.Parts(g.Code, entry)
	if err != nil {
		return nil, err
	}
	flow, err := values.NewFlow(g.Object, parts)
	if err != nil {
		return nil, err
	}
	f := &Function{parts, flow}
	g.bodies[entry] = f
	return f, nil
}

// readAll reads functions ahead of their use, several at a time. Following their values takes most
// of the time that a plan takes.
func (g *Graph) readAll(entries []uint64) {
	var ready sync.WaitGroup
	var mu sync.Mutex
	for _, entry := range entries {
		parts, err := disasm.Parts(g.Code, entry)
		if err != nil {
			continue // read will report the error
		}
		ready.Go(func() {
			if flow, err := values.NewFlow(g.Object, parts); err == nil {
				mu.Lock()
				defer mu.Unlock()
				g.bodies[entry] = &Function{parts, flow}
			}
		})
	}
	ready.Wait()
}

// Exits finds the instructions through which the function at entry returns to its caller. Each call
// hits exactly one of them, after the last of the user's code that runs inside the call. So no call
// of a busy function, which may run user code, comes behind them. If the function ends in a jump to
// one of follow, that function's exits are taken; these are hit for its other callers, too. Any
// other such jump is an exit itself.
func (g *Graph) Exits(entry uint64, busy, follow map[uint64]bool) ([]Point, error) {
	var out []Point
	seen := map[uint64]bool{}
	for todo := []uint64{entry}; len(todo) > 0; todo = todo[1:] {
		at := todo[0]
		if seen[at] {
			continue
		}
		seen[at] = true
		f, err := g.Read(at)
		if err != nil {
			return nil, err
		}
		var ends []uint64
		for _, i := range f.Flow.Reached() {
			switch {
			case i.Control != disasm.Ret && !f.Flow.Leaves(i):
			case i.Control == disasm.Jcc:
				return nil, fmt.Errorf("it ends in a conditional jump, %s", i)
			case i.Control == disasm.Jump && follow[g.Resolve(i.Target)]:
				todo = append(todo, g.Resolve(i.Target))
			default:
				ends = append(ends, i.Addr)
			}
		}
		if len(ends) == 0 {
			continue
		}
		quiet := func(call disasm.Inst) bool { return !busy[g.Resolve(call.Target)] }
		found, err := points.Cut(f.Flow, ends, quiet, func(disasm.Inst) bool { return true })
		if err != nil {
			return nil, err
		}
		for _, a := range found {
			p := pointAt(a.Inst, a.When)
			p.In = g.NameOf(at)
			out = append(out, p)
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("it has no return")
	}
	return out, nil
}

func pointAt(i disasm.Inst, when points.When) Point {
	return Point{VAddr: i.Addr, Cost: points.CostOf(i), When: when, Reg: disasm.NoReg}
}

// Reachable returns the functions to which at most depth direct calls and jumps in a row lead from
// the given ones.
func (g *Graph) Reachable(from []uint64, depth int) []uint64 {
	found := slices.Clone(from)
	for level := from; depth > 0 && len(level) > 0; depth-- {
		var next []uint64
		for _, entry := range level {
			// the instructions before an undecodable byte are enough
			body, _ := disasm.Func(g.Code, entry)
			for _, i := range body {
				if i.Control != disasm.Call && i.Control != disasm.Jump && i.Control != disasm.Jcc {
					continue
				}
				if f := g.Resolve(i.Target); f != 0 && !slices.Contains(found, f) {
					found, next = append(found, f), append(next, f)
				}
			}
		}
		level = next
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// PointerCallers returns, decoded, the given functions that make calls as PointerCalls finds them.
func (g *Graph) PointerCallers(entries []uint64) []uint64 {
	found := slices.DeleteFunc(entries, func(entry uint64) bool { return len(g.PointerCalls(entry)) == 0 })
	g.readAll(found)
	return found
}

// PointerCalls returns a function's calls through a register or computed memory.
func (g *Graph) PointerCalls(entry uint64) (calls []disasm.Inst) {
	body, _ := disasm.Func(g.Code, entry) // the instructions before an undecodable byte are enough
	for _, i := range body {
		if i.CallsPointer() {
			calls = append(calls, i)
		}
	}
	return calls
}

// NameOf returns a function's name for messages.
func (g *Graph) NameOf(entry uint64) string {
	if name, start, ok := g.Object.FuncAt(entry); ok && start == entry {
		return name
	}
	return fmt.Sprintf("function at %#x", entry)
}

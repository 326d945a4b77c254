package points

import (
	"fmt"
	"slices"

	"ompp-attach/probes/disasm"
	"ompp-attach/probes/disasm/values"
)

// Cut finds instructions of a function, by a rule for each. For each execution of one of the
// targets exactly one of them is hit. They are the last points on the ways to a target from which
// control can only go to a target. No call lies between them and the target, except those that over
// allows. Instructions for which fits is false are not taken; of the others, the cheapest ones near
// the target are. If there are none, the targets themselves are returned.
func Cut(f *values.Flow, targets []uint64, over, fits func(disasm.Inst) bool) ([]Approach, error) {
	c := newCutter(f, targets, over, fits)
	found, ok := c.cut()
	if ok {
		return found, nil
	}
	found = nil
	for _, n := range c.ends {
		at := c.nodes[n].insts
		if last := at[len(at)-1]; !last.Refused && fits(last) {
			found = append(found, Approach{last, Always})
		} else {
			return nil, fmt.Errorf("no place for a probe before %s", last)
		}
	}
	return found, nil
}

// cutNode is a run of instructions with one entrance. A call that matters, or a target, can only be
// at its end.
type cutNode struct {
	insts  []disasm.Inst
	succs  []int // the successors; of a conditional jump, the taken way comes first
	preds  []int
	opaque bool // control also comes from elsewhere: the entry, a call's return
	final  bool // control goes elsewhere: a return, a call, an unknown jump
}

type cutter struct {
	nodes  []cutNode
	ends   []int // nodes that end in targets
	inside map[int]bool
	fits   func(disasm.Inst) bool
	tables bool // there are jumps with unknown targets
}

// maxInside bounds the number of nodes between the points and the targets.
const maxInside = 24

func newCutter(f *values.Flow, targets []uint64, over, fits func(disasm.Inst) bool) *cutter {
	c := &cutter{inside: map[int]bool{}, fits: fits}
	starts := map[uint64]int{}
	next := map[int]uint64{} // the address to which a node falls through
	for m, b := range f.Blocks() {
		fresh, opaque := true, m == 0
		for k, i := range b {
			if fresh {
				starts[i.Addr] = len(c.nodes)
				c.nodes = append(c.nodes, cutNode{opaque: opaque})
				fresh, opaque = false, false
			}
			n := len(c.nodes) - 1
			c.nodes[n].insts = b[k-len(c.nodes[n].insts) : k+1 : k+1]
			switch {
			case slices.Contains(targets, i.Addr):
				c.ends, c.nodes[n].final, fresh, opaque = append(c.ends, n), true, true, true
			case i.Control == disasm.CallIndirect, i.Control == disasm.Call && !over(i):
				c.nodes[n].final, fresh, opaque = true, true, true
			case k == len(b)-1 && !i.Ends():
				next[n] = i.Next()
			}
		}
	}
	for n := range c.nodes {
		last := c.nodes[n].insts[len(c.nodes[n].insts)-1]
		if c.nodes[n].final {
			continue
		}
		jumps := last.Control == disasm.Jump || last.Control == disasm.Jcc
		c.tables = c.tables || last.Control == disasm.JumpIndirect && !f.Leaves(last)
		c.nodes[n].final = last.Ends() && !jumps || jumps && f.Leaves(last)
		if to, ok := starts[last.Target]; ok && jumps && !f.Leaves(last) {
			c.nodes[n].succs = append(c.nodes[n].succs, to)
		}
		if at, ok := next[n]; ok {
			if to, ok := starts[at]; ok {
				c.nodes[n].succs = append(c.nodes[n].succs, to)
			} else {
				c.nodes[n].final = true
			}
		}
		for _, to := range c.nodes[n].succs {
			c.nodes[to].preds = append(c.nodes[to].preds, n)
		}
	}
	return c
}

// best returns the cheapest instruction of a node that every way through the node executes; of
// several, the last one.
func (c *cutter) best(n int) (best disasm.Inst, ok bool) {
	for _, i := range c.nodes[n].insts {
		if !i.Refused && (!ok || CostOf(i) <= CostOf(best)) && c.fits(i) {
			best, ok = i, true
		}
	}
	return best, ok
}

// cut enlarges the part inside, from which all ways lead to a target, until an instruction can tell
// each way into it.
func (c *cutter) cut() (found []Approach, ok bool) {
	if c.tables || len(c.ends) == 0 {
		return nil, false
	}
	for _, n := range c.ends {
		if p, ok := c.best(n); !ok || CostOf(p) == SingleStep && !c.nodes[n].opaque {
			c.inside[n] = true
		}
	}
	for again := true; again; {
		again, found = false, nil
		for _, n := range c.ends {
			if !c.inside[n] {
				p, _ := c.best(n)
				found = append(found, Approach{p, Always})
			}
		}
		for n := range c.inside {
			if c.nodes[n].opaque {
				return nil, false
			}
			for _, p := range c.nodes[n].preds {
				if c.inside[p] {
					continue
				}
				a, grow, ok := c.enter(p, n)
				if !ok || len(c.inside) > maxInside {
					return nil, false
				}
				again = again || grow
				found = append(found, a)
			}
			if again {
				break
			}
		}
	}
	return once(found)
}

// enter finds the point for the way from node p to node n, which is inside. grow says that the part
// inside has grown instead.
func (c *cutter) enter(p, n int) (a Approach, grow, ok bool) {
	from := c.nodes[p]
	last := from.insts[len(from.insts)-1]
	if len(from.succs) == 1 && !from.final {
		i, ok := c.best(p)
		if (!ok || CostOf(i) == SingleStep) && !from.opaque {
			return a, true, c.take(p)
		}
		return Approach{i, Always}, false, ok
	}
	if last.Control != disasm.Jcc || len(from.succs) != 2 {
		return a, false, false
	}
	other := from.succs[0]
	if other == n {
		other = from.succs[1]
	}
	if c.inside[other] { // whichever way it goes
		i, ok := c.best(p)
		if ok {
			return Approach{i, Always}, false, true
		}
		return a, true, !from.opaque && c.take(p)
	}
	if (last.Cond == disasm.Equal || last.Cond == disasm.NotEqual) && last.Emulated && !last.Refused && c.fits(last) {
		when := ZeroClear
		if (last.Cond == disasm.Equal) == (from.succs[0] == n) {
			when = ZeroSet
		}
		return Approach{last, when}, false, true
	}
	return a, true, c.take(other)
}

// take adds a node, and all nodes to which it leads, to the part inside.
func (c *cutter) take(n int) bool {
	switch {
	case c.inside[n]:
		return true
	case slices.Contains(c.ends, n):
		c.inside[n] = true
		return true
	case c.nodes[n].final || len(c.nodes[n].succs) == 0 || len(c.inside) > maxInside:
		return false
	}
	c.inside[n] = true
	for _, s := range c.nodes[n].succs {
		if !c.take(s) {
			return false
		}
	}
	return true
}

// once drops the duplicate of an instruction that was found twice. Such an instruction is a
// conditional jump with both ways leading inside.
func once(found []Approach) ([]Approach, bool) {
	slices.SortFunc(found, func(a, b Approach) int { return int(int64(a.Inst.Addr - b.Inst.Addr)) })
	var out []Approach
	for _, a := range found {
		if last := len(out) - 1; last < 0 || out[last].Inst.Addr != a.Inst.Addr {
			out = append(out, a)
		} else if out[last].When != a.When {
			out[last].When = Always
		}
	}
	return out, true
}

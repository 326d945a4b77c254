package attribution

import (
	"encoding/binary"

	"ompp-attach/event"
)

// A region that was under way when measurement began has not told what it is.
// What was seen in it does, if all of that lies in one region's code.

const (
	noteUnderWay = "region instances that were under way when measurement began: what happened in them since then"
	noteWhither  = "which region that was is told by where its constructs and samples lie"
)

// witness collects the regions in whose code things were seen.
type witness struct {
	engine *Engine
	known  map[uint64]bool // addresses
	stacks map[int32]bool
	found  map[regionID]Region
}

// underWay returns the region that stands for those under way when measurement
// began.
func (e *Engine) underWay() Region {
	w := witness{e, map[uint64]bool{}, map[int32]bool{}, map[regionID]Region{}}
	for _, n := range e.root.children {
		if n.key.Construct == event.Unknown {
			for _, c := range n.children {
				if c.key.Site != 0 {
					w.saw(c.key.Site)
				}
			}
			w.sampled(n)
		}
	}
	out := Region{Construct: event.Unknown, Notes: []string{noteUnderWay}}
	if len(w.found) == 1 {
		for _, r := range w.found {
			out.Location = r.Location
			out.Notes = append(out.Notes, noteWhither)
		}
	}
	return out
}

// saw tells whether an address lies in a parallel region's own code.
func (w *witness) saw(addr uint64) (inside bool) {
	inside, known := w.known[addr]
	if !known {
		var r Region
		if r, inside = w.engine.resolve.Around(addr); inside {
			w.found[identify(&r)] = r
		}
		w.known[addr] = inside
	}
	return inside
}

// sampled sees where a node and those below it were sampled. Regions inside the
// outermost one are others: those of a stack that was cut may be, and those in
// which the workers of a team that was started inside are.
func (w *witness) sampled(n *node) {
	for id := range n.samples {
		if id.cut || w.stacks[id.stack] {
			continue
		}
		w.stacks[id.stack] = true
		s := []byte(w.engine.sampling.stacks[id.stack])
		for i := len(s) - 8; i >= 0; i -= 8 {
			addr := binary.LittleEndian.Uint64(s[i:])
			if i > 0 {
				addr--
			}
			if w.saw(addr) {
				break
			}
		}
	}
	for _, c := range n.children {
		if !c.key.Construct.IsParallel() {
			w.sampled(c)
		}
	}
}

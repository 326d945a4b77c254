package attribution

import (
	"encoding/binary"
	"slices"

	"ompp-attach/event"
	"ompp-attach/profile"
)

// A region that was under way when measurement began has not reported which region it is. If all
// constructs and samples seen in it lie in one region's code, it is that region.

const (
	noteUnderWay   = "region instances that were under way when measurement began: what happened in them since then"
	noteUnderAway  = "parallel regions of which it is not known which they are: they were under way when measurement began, or executed tasks that were created while tasks were not observed"
	noteWhither    = "which region that was is told by where its constructs and samples lie"
	noteWhitherFew = "which region that was is told by where constructs and samples of some threads lie: of others, which may have been in another region, nothing was seen in any region's code"
)

// underWay returns the region for all region instances that were under way when measurement began.
func (e *Engine) underWay() profile.Region {
	w := witness{e, map[uint64]*profile.Region{}, map[int32]*profile.Region{}}
	found, silent := map[regionID]*profile.Region{}, false
	for _, n := range e.root.children {
		if n.key.Construct != event.Unknown {
			continue
		}
		told := false
		w.ask(n, func(r *profile.Region) {
			told = true
			found[identify(r)] = r
		})
		silent = silent || !told && n.holdsAnything()
	}
	out := profile.Region{Construct: event.Unknown, Notes: []string{noteUnderWay}}
	if e.watch.tasksBack != 0 {
		out.Notes = []string{noteUnderAway}
	}
	if len(found) == 1 {
		for _, r := range found {
			out.Location = r.Location
		}
		if silent {
			out.Notes = append(out.Notes, noteWhitherFew)
		} else {
			out.Notes = append(out.Notes, noteWhither)
		}
	}
	return out
}

// holdsAnything tells whether time passed, or anything was seen, at a node.
func (n *node) holdsAnything() bool {
	return len(n.children) > 0 || len(n.samples) > 0 ||
		slices.ContainsFunc(n.stats, func(s profile.ThreadStats) bool { return s.Exec != (profile.Span{}) })
}

// witness finds the parallel region in whose own code something was seen. A nil entry stands for an
// address or stack in no region's code.
type witness struct {
	engine *Engine
	places map[uint64]*profile.Region // by address
	stacks map[int32]*profile.Region
}

// ask calls tell for each region in whose code something at a node was seen.
func (w *witness) ask(n *node, tell func(*profile.Region)) {
	for _, c := range n.children {
		if c.key.Site != 0 {
			if r := w.at(c.key.Site); r != nil {
				tell(r)
			}
		}
	}
	w.sampled(n, tell)
}

func (w *witness) at(addr uint64) *profile.Region {
	in, known := w.places[addr]
	if !known {
		if r, ok := w.engine.resolve.Around(addr); ok {
			in = &r
		}
		w.places[addr] = in
	}
	return in
}

// sampled calls tell for each region that samples at a node, or below it, were taken in. Only whole
// stacks are used: of a cut stack the outermost region may be missing. Nodes below an inner
// parallel region are left out: the stacks of its workers lie in that region.
func (w *witness) sampled(n *node, tell func(*profile.Region)) {
	for id := range n.samples {
		if id.cut {
			continue
		}
		in, known := w.stacks[id.stack]
		if !known {
			in = w.outermost([]byte(w.engine.sampling.stacks[id.stack]))
			w.stacks[id.stack] = in
		}
		if in != nil {
			tell(in)
		}
	}
	for _, c := range n.children {
		if !c.key.Construct.IsParallel() {
			w.sampled(c, tell)
		}
	}
}

// outermost returns the first region that a whole stack entered, nil if none.
func (w *witness) outermost(stack []byte) *profile.Region {
	for i := len(stack) - 8; i >= 0; i -= 8 {
		addr := binary.LittleEndian.Uint64(stack[i:])
		if i > 0 { // a return address lies behind the call
			addr--
		}
		if r := w.at(addr); r != nil {
			return r
		}
	}
	return nil
}

package build

import (
	"encoding/binary"

	"ompp-attach/attribution/tree"
	"ompp-attach/event"
	"ompp-attach/profile"
)

// A region that was under way when measurement began has not reported which region it is. If all
// constructs and samples seen in it lie in one region's code, it is that region.

const (
	NoteUnderWay   = "region instances that were under way when measurement began: what happened in them since then"
	NoteUnderAway  = "it is not known which parallel regions these are: they were under way when measurement began, or executed tasks that were created while tasks were not observed"
	NoteWhither    = "the places of constructs and samples tell which region that was"
	NoteWhitherFew = "the places of constructs and samples of some threads tell which region that was: of other threads, which may have been in another region, nothing was seen in any region's code"
)

// underWay returns the region for all region instances that were under way when measurement began.
func (in *Input) underWay() profile.Region {
	w := witness{in, map[uint64]*profile.Region{}, map[int32]*profile.Region{}}
	found, silent := map[RegionID]*profile.Region{}, false
	for _, n := range in.Tree.Root.Children {
		if n.Key.Construct != event.Unknown {
			continue
		}
		told := false
		w.ask(n, func(r *profile.Region) {
			told = true
			found[Identify(r)] = r
		})
		silent = silent || !told && n.HoldsAnything()
	}
	out := profile.Region{Construct: event.Unknown, Notes: []string{NoteUnderWay}}
	if in.TasksGone {
		out.Notes = []string{NoteUnderAway}
	}
	if len(found) == 1 {
		for _, r := range found {
			out.Location = r.Location
		}
		if silent {
			out.Notes = append(out.Notes, NoteWhitherFew)
		} else {
			out.Notes = append(out.Notes, NoteWhither)
		}
	}
	return out
}

// witness finds the parallel region in whose own code something was seen. A nil entry stands for an
// address or stack in no region's code.
type witness struct {
	in     *Input
	places map[uint64]*profile.Region // by address
	stacks map[int32]*profile.Region
}

// ask calls tell for each region in whose code something at a node was seen.
func (w *witness) ask(n *tree.Node, tell func(*profile.Region)) {
	for _, c := range n.Children {
		if c.Key.Site != 0 {
			if r := w.at(c.Key.Site); r != nil {
				tell(r)
			}
		}
	}
	w.sampled(n, tell)
}

func (w *witness) at(addr uint64) *profile.Region {
	in, known := w.places[addr]
	if !known {
		if r, ok := w.in.Tree.Answers.Around(addr); ok {
			in = &r
		}
		w.places[addr] = in
	}
	return in
}

// sampled calls tell for each region that samples at a node, or below it, were taken in. Only whole
// stacks are used: of a cut stack the outermost region may be missing. Nodes below an inner
// parallel region are left out: the stacks of its workers lie in that region.
func (w *witness) sampled(n *tree.Node, tell func(*profile.Region)) {
	for id := range n.Samples {
		if id.Cut {
			continue
		}
		in, known := w.stacks[id.Stack]
		if !known {
			in = w.outermost([]byte(w.in.Stacks[id.Stack]))
			w.stacks[id.Stack] = in
		}
		if in != nil {
			tell(in)
		}
	}
	for _, c := range n.Children {
		if !c.Key.Construct.IsParallel() {
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

package stack

import (
	"maps"
	"slices"

	"ompp-attach/attribution/ledger"
	"ompp-attach/attribution/place"
	"ompp-attach/attribution/tree"
	"ompp-attach/event"
	"ompp-attach/profile"
)

// Threads that existed when measurement began may be inside a region or in none. The regions of
// such a thread first hang below a node of its own. An event, or the end of measurement, decides.
// If the thread was in a region, the node becomes part of the region UNDER WAY. If it was in none,
// the node's children move to the root.

const NoteWhere = "also calls of threads that were there when measurement began, of which nothing told whether they were in a parallel region: they are shown outside"

// Existing gives places to threads that existed when measurement began, and to initial threads.
type Existing struct {
	Charges
	// Nodes of existing threads that are not known to be in a region or outside (existingAt).
	Whereabouts map[uint32]*tree.Node
}

// existingAt returns the node that stands for the unknown place of a thread.
func (ex *Existing) existingAt(t *Thread) *tree.Node {
	n := ex.Whereabouts[t.Tid]
	if n == nil || n.Outside {
		n = &tree.Node{Key: place.Key{RuntimeConstruct: place.RuntimeConstruct{Construct: event.Unknown}}, Parent: ex.Tree.Root, Existing: true}
		ex.Tree.Root.Children = append(ex.Tree.Root.Children, n)
		ex.Whereabouts[t.Tid] = n
	}
	return n
}

// CutOffExisting ends a thread of which no event has told where it is. If there are signs of a
// region under way, the thread's time since measurement began is charged to that region. If there
// is no other sign than an inner region that ended on this thread (open.Mark), the time until that
// end is charged: after it, a worker of the inner region may have been in no region. If there are
// no signs, the thread was in no region.
func (ex *Existing) CutOffExisting(t *Thread, end uint64) {
	open := t.Top()
	signs := slices.ContainsFunc(ex.Tree.Root.Children, func(n *tree.Node) bool { return n.Key.Construct == event.Unknown && !n.Outside && n.HoldsOpenMP() })
	if !signs && open.Mark > open.Start {
		signs, end = true, open.Mark
	}
	if signs {
		open.Parts[profile.Body].T = ledger.Between(open.Start, end)
		ex.ChargeTop(t, end, open.Parts[profile.Body].T)
		ex.Partial++
		t.Stack = t.Stack[:0]
		return
	}
	t.Stack = t.Stack[:0]
	if len(open.Node.Children) == 0 && len(open.Node.Samples) == 0 {
		return
	}
	if ex.Tree.Root.HoldsOpenMP() {
		for _, c := range open.Node.Children {
			c.Note(NoteWhere)
		}
	}
	t.Known = false
	ex.Initial(t)
	open.Node.Outside, open.Node.SeatWas, open.Node.SeatNow = true, open.Seat, t.Seat
}

// PlaceExisting moves the nodes of threads that were in no region to the root. It adds the MPI
// calls of all existing threads to the root.
func (ex *Existing) PlaceExisting() {
	for _, tid := range slices.Sorted(maps.Keys(ex.Whereabouts)) {
		if n := ex.Whereabouts[tid]; tid != ex.Pid && !n.Outside && n.HoldsAnything() {
			r := &ex.Seats.List[ex.Seat(0, profile.UnknownNum)]
			if !slices.Contains(r.TIDs, int(tid)) {
				// All of them, without a bound: analysis.Threads counts them.
				r.TIDs = append(r.TIDs, int(tid))
			}
		}
	}
	kept := ex.Tree.Root.Children[:0]
	var freed []*tree.Node
	for _, n := range ex.Tree.Root.Children {
		if n.Outside {
			n.MoveSeat(n.SeatWas, n.SeatNow)
			ex.Spans.Move(n, n.SeatWas, n.SeatNow)
			ex.Tree.Root.Samples.AddAll(n.Samples)
			freed = append(freed, n.Children...)
		} else {
			kept = append(kept, n)
		}
		if n.Existing {
			for seat := range n.Stats {
				if m := n.Stats[seat].MPI; m != nil {
					ex.Tree.Root.Stat(seat).AddMPI(m)
				}
			}
		}
	}
	ex.Tree.Root.Children = append(kept, freed...)
}

// Enroll gives a new thread its seat. The process's first thread is initial thread 0; other threads
// count as workers until they start a team of their own.
func (ex *Existing) Enroll(t *Thread) {
	switch {
	case ex.Older[t.Tid]:
		t.WaitUnsure = t.WaitUnsure || ex.OffTime.C > 0
		n := ex.existingAt(t)
		num := profile.UnknownNum
		if t.Tid == ex.Pid {
			num, t.Primary = 0, true
		}
		t.OpenUnderWay(n, ex.Seat(0, num), ex.Began)
		t.Seat = ex.Seat(0, num)
	case t.Tid == ex.Pid:
		t.Seat, t.Known, t.Initial = ex.Seat(0, 0), true, true
		t.Home = t.Seat
		ex.Roots = max(ex.Roots, 1)
	}
}

// Initial makes a thread that belongs to no team an initial thread.
func (ex *Existing) Initial(t *Thread) {
	if t.Known || len(t.Stack) > 0 {
		return
	}
	ex.Roots = max(ex.Roots, 1) // 0 is the process's first thread, seen or not
	switch {
	case t.Initial: // it was inside a region that was not known
		t.Seat = t.Home
	case t.Tid == ex.Pid:
		t.Seat = ex.Seat(0, 0)
	default:
		t.Seat = ex.Seat(ex.NewRoot(), 0)
	}
	t.Num, t.Known, t.Initial, t.Home = 0, true, true, t.Seat
}

// OutsideAll moves user regions from below the node for a region under way at attach to the root.
// It does so when the thread turns out to be in no region.
func (ex *Existing) OutsideAll(t *Thread) {
	open, was := slices.Clone(t.Stack[1:]), t.Stack[0]
	t.Stack, t.Known = t.Stack[:0], false
	ex.Initial(t)
	was.Node.Outside, was.Node.SeatWas, was.Node.SeatNow = true, was.Seat, t.Seat
	parent := ex.Tree.Root
	moved := map[*tree.Node]*tree.Node{}
	for _, f := range open {
		if to := moved[f.Node]; to != nil {
			f.Node = to
		} else {
			to = ex.Tree.Child(parent, f.Node.Key)
			moved[f.Node], f.Node = to, to
		}
		f.Seat = t.Seat
		parent = f.Node
		t.Stack = append(t.Stack, f)
	}
}

package attribution

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

const noteWhere = "also calls of threads that were there when measurement began, of which nothing told whether they were in a parallel region: they are shown outside"

// existingAt returns the node that stands for the unknown place of a thread.
func (st *stacks) existingAt(t *thread) *tree.Node {
	n := st.whereabouts[t.tid]
	if n == nil || n.Outside {
		n = &tree.Node{Key: place.Key{Kind: place.Kind{Construct: event.Unknown}}, Parent: st.tree.Root, Existing: true}
		st.tree.Root.Children = append(st.tree.Root.Children, n)
		st.whereabouts[t.tid] = n
	}
	return n
}

// cutOffExisting ends a thread of which no event has told where it is. If there are signs of a
// region under way, the thread's time since measurement began is charged to that region. If there
// are none, the thread was in no region.
func (st *stacks) cutOffExisting(t *thread, end uint64) {
	f := t.top()
	t.stack = t.stack[:0]
	if slices.ContainsFunc(st.tree.Root.Children, func(n *tree.Node) bool { return n.Key.Construct == event.Unknown && !n.Outside && n.HoldsOpenMP() }) {
		f.Parts[profile.Body].T = ledger.Span(f.Start, end)
		st.ledger.Charge(&f.Account, f.node.Stat(f.row), f.Parts[profile.Body].T)
		st.partial++
		return
	}
	if len(f.node.Children) == 0 && len(f.node.Samples) == 0 {
		return
	}
	if st.tree.Root.HoldsOpenMP() {
		for _, c := range f.node.Children {
			c.Note(noteWhere)
		}
	}
	t.known = false
	st.initial(t)
	f.node.Outside, f.node.RowWas, f.node.RowNow = true, f.row, t.row
}

// settleExisting moves the nodes of threads that were in no region to the root. It adds the MPI
// calls of all existing threads to the root.
func (st *stacks) settleExisting() {
	for _, tid := range slices.Sorted(maps.Keys(st.whereabouts)) {
		if n := st.whereabouts[tid]; tid != st.pid && !n.Outside && n.HoldsAnything() {
			r := &st.rows.list[st.row(0, profile.UnknownNum)]
			if !slices.Contains(r.TIDs, int(tid)) {
				// All of them, without a bound: analysis.Threads counts them.
				r.TIDs = append(r.TIDs, int(tid))
			}
		}
	}
	kept := st.tree.Root.Children[:0]
	var freed []*tree.Node
	for _, n := range st.tree.Root.Children {
		if n.Outside {
			n.MoveRow(n.RowWas, n.RowNow)
			st.tree.Root.Samples.AddAll(n.Samples)
			freed = append(freed, n.Children...)
		} else {
			kept = append(kept, n)
		}
		if n.Existing {
			for row := range n.Stats {
				if m := n.Stats[row].MPI; m != nil {
					st.tree.Root.Stat(row).AddMPI(m)
				}
			}
		}
	}
	st.tree.Root.Children = append(kept, freed...)
}

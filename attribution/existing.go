package attribution

import (
	"maps"
	"slices"

	"ompp-attach/attribution/ledger"
	"ompp-attach/event"
	"ompp-attach/profile"
)

// Threads that existed when measurement began may be inside a region or in none. The regions of
// such a thread first hang below a node of its own. An event, or the end of measurement, decides.
// If the thread was in a region, the node becomes part of the region UNDER WAY. If it was in none,
// the node's children move to the root.

// existingAt returns the node that stands for the unknown place of a thread.
func (e *Engine) existingAt(t *thread) *node {
	n := e.whereabouts[t.tid]
	if n == nil || n.outside {
		n = &node{key: Key{Kind: Kind{Construct: event.Unknown}}, parent: e.root, existing: true}
		e.root.children = append(e.root.children, n)
		e.whereabouts[t.tid] = n
	}
	return n
}

// cutOffExisting ends a thread of which no event has told where it is. If there are signs of a
// region under way, the thread's time since measurement began is charged to that region. If there
// are none, the thread was in no region.
func (e *Engine) cutOffExisting(t *thread, end uint64) {
	f := t.top()
	t.stack = t.stack[:0]
	if slices.ContainsFunc(e.root.children, func(n *node) bool { return n.key.Construct == event.Unknown && !n.outside && n.holdsOpenMP() }) {
		f.Parts[profile.Body].T = ledger.Span(f.Start, end)
		e.ledger.Charge(&f.Account, f.node.stat(f.row), f.Parts[profile.Body].T)
		e.partial++
		return
	}
	if len(f.node.children) == 0 && len(f.node.samples) == 0 {
		return
	}
	if e.root.holdsOpenMP() {
		for _, c := range f.node.children {
			c.note(noteWhere)
		}
	}
	t.known = false
	e.initial(t)
	f.node.outside, f.node.rowWas, f.node.rowNow = true, f.row, t.row
}

// holdsOpenMP tells whether an OpenMP construct lies below a node.
func (n *node) holdsOpenMP() bool {
	return slices.ContainsFunc(n.children, func(c *node) bool {
		switch c.key.Construct {
		case event.MPI:
			return false
		case event.UserRegion, event.Unknown:
			return c.holdsOpenMP()
		}
		return true
	})
}

// settleExisting moves the nodes of threads that were in no region to the root. It adds the MPI
// calls of all existing threads to the root.
func (e *Engine) settleExisting() {
	for _, tid := range slices.Sorted(maps.Keys(e.whereabouts)) {
		if n := e.whereabouts[tid]; tid != e.pid && !n.outside && n.holdsAnything() {
			r := &e.rows[e.row(0, profile.UnknownNum)]
			if !slices.Contains(r.TIDs, int(tid)) {
				// All of them, without a bound: analysis.Threads counts them.
				r.TIDs = append(r.TIDs, int(tid))
			}
		}
	}
	kept := e.root.children[:0]
	var freed []*node
	for _, n := range e.root.children {
		if n.outside {
			n.moveRow(n.rowWas, n.rowNow)
			e.root.samples.addAll(n.samples)
			freed = append(freed, n.children...)
		} else {
			kept = append(kept, n)
		}
		if n.existing {
			for row := range n.stats {
				if m := n.stats[row].MPI; m != nil {
					e.root.stat(row).AddMPI(m)
				}
			}
		}
	}
	e.root.children = append(kept, freed...)
}

// moveRow moves the figures of a row, at a node and below, to another row.
func (n *node) moveRow(from, to int) {
	if from < len(n.stats) && from != to {
		was := n.stats[from]
		n.stats[from] = profile.ThreadStats{}
		n.stat(to).Add(&was)
	}
	if from != to && n.samples != nil {
		var moved sums
		for id, s := range n.samples {
			if id.row == from {
				id.row = to
			}
			moved.add(id, s)
		}
		n.samples = moved
	}
	for _, c := range n.children {
		c.moveRow(from, to)
	}
}

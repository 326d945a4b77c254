package attribution

import (
	"maps"
	"slices"

	"ompp-attach/event"
	"ompp-attach/profile"
)

// Threads that were there when measurement began may be inside a region, or in
// none. What such a thread does meanwhile hangs below a node of its own, until
// an event tells, or until the end: then the node becomes part of the region
// UNDER WAY, or what it holds was outside.

// existingAt returns the node that stands for where a thread is.
func (e *Engine) existingAt(t *thread) *node {
	n := e.whereabouts[t.tid]
	if n == nil || n.outside {
		n = &node{key: Key{Kind: Kind{Construct: event.Unknown}}, parent: e.root, existing: true}
		e.root.children = append(e.root.children, n)
		e.whereabouts[t.tid] = n
	}
	return n
}

// cutOffExisting charges the time since measurement began of a thread of which
// nothing has told where it is, if there are signs of a region under way; if
// there are none, it was outside.
func (e *Engine) cutOffExisting(t *thread, end uint64) {
	f := t.top()
	t.stack = t.stack[:0]
	if slices.ContainsFunc(e.root.children, func(n *node) bool { return n.key.Construct == event.Unknown && !n.outside && n.holdsOpenMP() }) {
		f.body = span(f.start, end)
		f.charge(f.node.stat(f.row), f.body)
		countExecution(f.node.stat(f.row), f.tally, true, e.counting.width)
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

// holdsOpenMP tells whether a construct of OpenMP lies below a node.
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

// settleExisting gives what threads did outside regions to the program, and the
// program the calls of the others.
func (e *Engine) settleExisting() {
	for _, tid := range slices.Sorted(maps.Keys(e.whereabouts)) {
		if n := e.whereabouts[tid]; tid != e.pid && !n.outside && n.holdsAnything() {
			r := &e.rows[e.row(0, profile.UnknownNum)]
			if !slices.Contains(r.TIDs, int(tid)) {
				r.TIDs = append(r.TIDs, int(tid)) // all of them: they are counted (analysis.Threads)
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

// moveRow makes a thread's figures below a node those of another row.
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

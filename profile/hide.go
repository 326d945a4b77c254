package profile

import (
	"slices"

	"ompp-attach/event"
)

// Hide takes regions out of a profile. Everything inside them moves to the region around them, and
// their own time becomes that region's own.
func Hide(p *Profile, hidden func(*Region) bool) {
	gone := make([]bool, len(p.Regions))
	number := make([]int, len(p.Regions)) // old to new
	var regions []Region
	for i := range p.Regions {
		gone[i] = hidden(&p.Regions[i])
		number[i] = len(regions)
		if !gone[i] {
			regions = append(regions, p.Regions[i])
		}
	}
	if len(regions) == len(p.Regions) {
		return
	}
	type place struct{ parent, region int }
	known := map[place]int{}
	// For each node: its new index, or that of the node around it.
	moved := make([]int, len(p.Nodes))
	nodes := []Node{p.Nodes[0]}
	nodes[0].Stats = slices.Clone(nodes[0].Stats)
	for i := 1; i < len(p.Nodes); i++ {
		n := p.Nodes[i]
		parent := moved[n.Parent]
		if gone[n.Region] {
			moved[i] = parent
			for _, s := range n.Stats {
				nodes[parent].uncover(s, p.Regions[n.Region].Construct)
			}
			continue
		}
		at := place{parent, number[n.Region]}
		j, ok := known[at]
		if !ok {
			j = len(nodes)
			known[at] = j
			nodes = append(nodes, Node{Parent: parent, Region: number[n.Region]})
		}
		moved[i] = j
		for _, s := range n.Stats {
			nodes[j].Add(s)
		}
	}
	for i := range p.Lost {
		switch r := p.Lost[i].Region; {
		case r >= 0 && gone[r]:
			p.Lost[i].Region = -1
		case r >= 0:
			p.Lost[i].Region = number[r]
		}
	}
	p.Samples = slices.Clone(p.Samples)
	for i := range p.Samples {
		s := &p.Samples[i]
		if n := &p.Nodes[s.Node]; n.Region >= 0 && gone[n.Region] {
			s.Phase = PhaseBody // of the region around the hidden one
			if moved[s.Node] == 0 {
				s.Phase = ""
			}
		}
		s.Node = moved[s.Node]
	}
	p.Regions, p.Nodes = regions, nodes
}

// HideCalls takes the regions of single MPI calls out of a profile of one process: ompP has none.
func HideCalls(p *Profile) { Hide(p, func(r *Region) bool { return r.Construct == event.MPI }) }

// uncover gives the time of a hidden child back to its parent, and the MPI calls of the child with
// it. The root has no time.
func (n *Node) uncover(s ThreadStats, c event.Construct) {
	calls := s.Calls
	if c == event.MPI {
		calls = s.MPI
	}
	for i := range n.Stats {
		if at := &n.Stats[i]; at.Thread == s.Thread {
			if n.Parent >= 0 {
				at.Child += s.Child - s.Exec.T
				at.UncoverCost(&s)
				at.UncoverCounters(&s)
			}
			at.Calls = at.Calls.Plus(calls)
			at.Waits = at.Waits.Plus(s.Waits.caused())
			at.Sched = at.Sched.Plus(s.Sched.caused())
			return
		}
	}
	if calls != nil { // the child is a task that another thread created
		n.Stats = append(n.Stats, ThreadStats{Thread: s.Thread, Calls: calls})
	}
}

// Add adds a thread's figures to the node's figures of the same thread.
func (n *Node) Add(s ThreadStats) {
	for i := range n.Stats {
		if n.Stats[i].Thread == s.Thread {
			n.Stats[i].Add(&s)
			return
		}
	}
	n.Stats = append(n.Stats, s)
}

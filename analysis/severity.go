package analysis

import (
	"cmp"
	"slices"

	"ompp-attach/profile"
)

// IdleThreadsProperty is EXPERT's property of threads that are in no region while their initial
// thread is (see IdleThreads). It holds at call paths outside of regions too, so Properties, which
// ompP has by region, leave it out.
const IdleThreadsProperty = "IdleThreads"

// Severity says how much a property costs at one call path.
type Severity struct {
	Name    string
	Node    int          // index in Profile.Nodes; 0: the program outside of all regions
	Time    int64        // of all threads, ns
	Threads []ThreadCost // of each thread with such time, by rising index
}

// ThreadCost is the time of a thread, in ns.
type ThreadCost struct {
	Thread int // index in Profile.Threads
	Time   int64
}

// Severities returns the properties that hold, by call path and thread, the most severe first, and
// the idle threads. The times of a property over all call paths of a region add up to the severity
// of the region (see Properties). Times of MPI, and times without a core, stand at the call path in
// which they were spent, not at the parallel region around it.
func (r Rules) Severities(p *profile.Profile) (out []Severity) {
	holds := map[int][]Property{} // by region
	for _, x := range r.Properties(p) {
		holds[x.Region] = append(holds[x.Region], x)
	}
	t := newTree(p)
	at := func(name string, node int, time func(i int) int64) {
		s := Severity{Name: name, Node: node}
		for i := range p.Nodes[node].Stats {
			if ns := time(i); ns > 0 {
				s.Threads = append(s.Threads, ThreadCost{p.Nodes[node].Stats[i].Thread, ns})
				s.Time += ns
			}
		}
		if s.Time > 0 {
			out = append(out, s)
		}
	}
	for node := 1; node < len(p.Nodes); node++ {
		n, classes := &p.Nodes[node], r.Classify(p, node)
		for _, x := range holds[n.Region] {
			if x.Name != MPITimeInParallelRegion && x.Name != WaitForCore {
				at(x.Name, node, func(i int) int64 { return r.cost(p, t, x.Name, node, i, classes[i]) })
			}
		}
		if team := t.team[node]; team >= 0 {
			for _, x := range holds[p.Nodes[team].Region] {
				switch x.Name {
				case MPITimeInParallelRegion:
					at(x.Name, node, func(i int) int64 { return classes[i].MPI })
				case WaitForCore:
					at(x.Name, node, func(i int) int64 { return classes[i].NoCore })
				}
			}
		}
	}
	for node, idle := range IdleThreads(p) {
		s := Severity{Name: IdleThreadsProperty, Node: node}
		for _, w := range idle {
			s.Threads = append(s.Threads, ThreadCost{w.Thread, w.Time})
			s.Time += w.Time
		}
		if s.Time > 0 {
			out = append(out, s)
		}
	}
	slices.SortStableFunc(out, func(a, b Severity) int { return cmp.Compare(b.Time, a.Time) })
	return out
}

// cost returns the time that a property of the node's own region costs the i-th thread of the node.
func (r Rules) cost(p *profile.Profile, t *tree, name string, node, i int, c Classes) int64 {
	s := &p.Nodes[node].Stats[i]
	if r == Disjoint {
		bare := withCore(p.Regions[p.Nodes[node].Region].Construct, s)
		s = &bare
	}
	switch name {
	case UnparallelizedInMasterRegion:
		if t.within(node, s.Thread) {
			return 0
		}
		return s.Exec.T
	case InsufficientWorkInParallelLoop:
		return s.Enter.T + s.Exit.T
	}
	return c.lost()
}

// WithinConstruct returns a function that tells whether a thread's time at a node lies within the
// time of the same construct further up the path. A sum over both would count that time twice.
func WithinConstruct(p *profile.Profile) func(node, thread int) bool {
	t := newTree(p)
	t.join(func(region int) int { return int(p.Regions[region].Construct) })
	return t.within
}

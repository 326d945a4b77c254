package analysis

import (
	"maps"
	"slices"

	"ompp-attach/profile"
)

// Roots returns the number of initial threads in the profile, at least 1. Threads whose number is
// not known count as members of the others' teams.
func Roots(p *profile.Profile) (n int) {
	for _, l := range livesOf(p) {
		n += l.threads
	}
	return max(1, n)
}

// Threads returns the number of threads that the rows stand for, at least 1. In the row of threads
// whose number is not known, only threads without another row count.
func Threads(p *profile.Profile) int {
	n, numbered, lives := 0, map[int]bool{}, livesOf(p)
	for _, t := range p.Threads {
		if t.Num != profile.UnknownNum {
			n += lives[t.Root].threads
			for _, id := range t.TIDs {
				numbered[id] = true
			}
		}
	}
	for _, t := range p.Threads {
		if t.Num == profile.UnknownNum {
			for _, id := range t.TIDs {
				if !numbered[id] {
					n++
				}
			}
		}
	}
	return max(1, n)
}

// ThreadTime returns the time of all threads together: the duration times their number. Initial
// threads that began later or ended sooner, and their teams, count with the time that they lived.
// Percentages and severities of the whole program refer to this time.
func ThreadTime(p *profile.Profile) int64 {
	all, lives := p.Meta.Duration*int64(Threads(p)), livesOf(p)
	for _, t := range p.Threads {
		if t.Num != profile.UnknownNum {
			l := lives[t.Root]
			all += l.lived - p.Meta.Duration*int64(l.threads)
		}
	}
	return all
}

// Children returns the children of each node, in recorded order.
func Children(p *profile.Profile) [][]int {
	kids := make([][]int, len(p.Nodes))
	for i := 1; i < len(p.Nodes); i++ {
		parent := p.Nodes[i].Parent
		kids[parent] = append(kids[parent], i)
	}
	return kids
}

// Sum adds up a node's figures over its threads; its Thread is -1.
func Sum(n *profile.Node) profile.ThreadStats {
	sum := profile.ThreadStats{Thread: -1}
	for i := range n.Stats {
		sum.Add(&n.Stats[i])
	}
	return sum
}

// tree holds data that several walks over a profile need.
type tree struct {
	p    *profile.Profile
	team []int // innermost node, itself included, that starts a team; -1: none
	same []int // nearest proper ancestor of the same region (see join); -1: none
}

func newTree(p *profile.Profile) *tree {
	t := &tree{p: p, team: make([]int, len(p.Nodes)), same: make([]int, len(p.Nodes))}
	t.team[0] = -1
	for i := 1; i < len(p.Nodes); i++ {
		n := &p.Nodes[i]
		t.team[i] = t.team[n.Parent]
		if p.Regions[n.Region].Construct.IsParallel() {
			t.team[i] = i
		}
	}
	t.join(func(region int) int { return region })
	return t
}

// join finds the nearest ancestor of each node whose region has the same key as the node's.
func (t *tree) join(key func(region int) int) {
	p := t.p
	t.same[0] = -1
	for i := 1; i < len(p.Nodes); i++ {
		n := &p.Nodes[i]
		a, inTask := n.Parent, false
		for a > 0 {
			c := p.Regions[p.Nodes[a].Region].Construct
			// A task's time does not lie where the task was created: only a parallel
			// region lasts until its tasks are done.
			if key(p.Nodes[a].Region) == key(n.Region) && (!inTask || c.IsParallel()) {
				break
			}
			inTask = inTask || c.ExecutesTask()
			a = p.Nodes[a].Parent
		}
		if a == 0 {
			a = -1 // the root is no region
		}
		t.same[i] = a
	}
}

// within reports whether a thread's time at node i lies within the time of the same region further
// up the path. A sum over both would count that time twice. For a worker (number above 0), this is
// so only if its team was started at that ancestor or above it. Workers of a team that was started
// further down spend time of their own. With two teams between, thread numbers do not tell whether
// the primary thread of the inner team came from the ancestor. It is then assumed to have done so,
// which may count too little, but never twice.
func (t *tree) within(i, thread int) bool {
	above := t.same[i]
	if above < 0 {
		return false
	}
	// Indices grow along a path, so comparing them compares depth.
	return t.p.Threads[thread].Num == 0 || t.team[i] <= above
}

// Serial is the time that an initial thread spent outside of all regions.
type Serial struct {
	Root int   // of profile.Thread
	Time int64 // ns, not negative
}

// SerialTimes returns one entry per initial thread, by rising Root: its lifetime less its time in
// outermost regions. The lifetime of an initial thread is the duration, unless the profile says how
// long the thread lived.
func SerialTimes(p *profile.Profile) []Serial {
	in := map[int]int64{}
	for _, t := range p.Threads {
		in[t.Root] += 0
	}
	if len(in) == 0 {
		in[0] = 0
	}
	for i := 1; i < len(p.Nodes); i++ {
		if p.Nodes[i].Parent != 0 {
			continue
		}
		for _, s := range p.Nodes[i].Stats {
			// The workers of a team were in no serial code before.
			if t := p.Threads[s.Thread]; t.Num == 0 {
				in[t.Root] += s.Exec.T
			}
		}
	}
	var out []Serial
	lives := livesOf(p)
	for _, root := range slices.Sorted(maps.Keys(in)) {
		lived := p.Meta.Duration
		if l, ok := lives[root]; ok {
			lived = l.lived
		}
		out = append(out, Serial{root, max(0, lived-in[root])})
	}
	return out
}

// HasNestedTeams reports whether a parallel region was started within another.
func HasNestedTeams(p *profile.Profile) bool {
	t := newTree(p)
	for i := 1; i < len(p.Nodes); i++ {
		if t.team[i] == i && t.team[p.Nodes[i].Parent] >= 0 {
			return true
		}
	}
	return false
}

package analysis

import (
	"cmp"
	"slices"

	"ompp-attach/profile"
)

// ThreadFigures are one thread's figures in a block of a report.
type ThreadFigures struct {
	profile.ThreadStats
	// Mgmt is the part of SECTIONS that is neither body nor barrier: Exec - Body - Barrier
	// (mgmtT), in ns. It is kept apart because the difference means nothing once recursion has
	// removed time from Exec and Body.
	Mgmt int64
}

// Block holds the figures of a region, or of a region on one path, by thread.
type Block struct {
	Region int
	// Rows are in the order of Profile.Threads. They hold the threads that executed the region,
	// and the rest of their team with zeros, so that a reader sees who did not take part. Threads
	// whose number is not known have a row only if they took part.
	Rows []ThreadFigures
	Sum  ThreadFigures // Thread is -1
}

// NodeBlocks returns the recorded figures of each node, unchanged. The root has none.
func NodeBlocks(p *profile.Profile) []Block {
	t := newTree(p)
	out := make([]Block, len(p.Nodes))
	out[0].Region = -1
	for i := 1; i < len(p.Nodes); i++ {
		out[i] = t.block(p.Nodes[i].Region, []int{i}, false)
	}
	return out
}

// Flat returns the flat profile: for each region the sum over its nodes, in the order of
// Profile.Regions. A region can be its own ancestor (recursion). Then the inner execution lies
// within the inclusive time of the outer one, and only the outer execution's Exec.T, Body.T, MPI
// and Counters are counted. Counts, and the times of entering, leaving and waiting, are those of
// all executions. Child is left 0, because a flat profile is inclusive.
func Flat(p *profile.Profile) []Block {
	t := newTree(p)
	nodes := make([][]int, len(p.Regions))
	for i := 1; i < len(p.Nodes); i++ {
		r := p.Nodes[i].Region
		nodes[r] = append(nodes[r], i)
	}
	out := make([]Block, len(p.Regions))
	for r := range out {
		out[r] = t.block(r, nodes[r], true)
	}
	return out
}

func (t *tree) block(region int, nodes []int, flat bool) Block {
	rows := map[int]*ThreadFigures{}
	row := func(thread int) *ThreadFigures {
		r := rows[thread]
		if r == nil {
			r = &ThreadFigures{ThreadStats: profile.ThreadStats{Thread: thread}}
			rows[thread] = r
		}
		return r
	}
	for _, i := range nodes {
		for _, s := range t.p.Nodes[i].Stats {
			r := row(s.Thread)
			r.Mgmt += s.Exec.T - s.Body.T - s.Barrier.T
			if flat {
				s.Child, s.ChildCounters = 0, nil
				s.Cost = nil // a region that lies within itself would count its cost twice
				within := t.within(i, s.Thread)
				if within {
					s.Exec.T, s.Body.T, s.MPI, s.Counters = 0, 0, nil, nil
				}
				s.NoCore = flatNoCore(s.NoCore, within)
			}
			r.Add(&s)
		}
		// The rest of the team, on the initial threads that took part. Zeros of threads whose
		// number is not known would tell of nobody.
		if team := t.team[i]; team >= 0 && len(t.p.Nodes[i].Stats) > 0 {
			here := t.roots(i)
			for _, s := range t.p.Nodes[team].Stats {
				if of := &t.p.Threads[s.Thread]; here[of.Root] && of.Num != profile.UnknownNum {
					row(s.Thread)
				}
			}
		}
	}
	b := Block{Region: region, Sum: ThreadFigures{ThreadStats: profile.ThreadStats{Thread: -1}}}
	for _, r := range rows {
		b.Rows = append(b.Rows, *r)
	}
	slices.SortFunc(b.Rows, func(a, c ThreadFigures) int { return cmp.Compare(a.Thread, c.Thread) })
	for i := range b.Rows {
		b.Sum.Add(&b.Rows[i].ThreadStats)
		b.Sum.Mgmt += b.Rows[i].Mgmt
	}
	return b
}

func (t *tree) roots(node int) map[int]bool {
	m := map[int]bool{}
	for _, s := range t.p.Nodes[node].Stats {
		m[t.p.Threads[s.Thread].Root] = true
	}
	return m
}

// Cost is the time that a region costs by itself, in ns, summed over threads.
type Cost struct {
	Region    int
	Inclusive int64   // as in the flat profile
	Exclusive int64   // without the regions entered from it
	Overhead  Classes // its own overhead, without the regions inside it
}

// Costs returns all regions, the highest own overhead first. Regions with equal overhead are
// ordered by exclusive time.
func Costs(p *profile.Profile) []Cost {
	out := make([]Cost, len(p.Regions))
	for r, b := range Flat(p) {
		out[r] = Cost{Region: r, Inclusive: b.Sum.Exec.T}
	}
	for i := 1; i < len(p.Nodes); i++ {
		c := &out[p.Nodes[i].Region]
		s := Sum(&p.Nodes[i])
		c.Exclusive += s.Exec.T - s.Child
		for _, o := range Classify(p, i) {
			c.Overhead.Add(o)
		}
	}
	slices.SortStableFunc(out, func(a, b Cost) int {
		return cmp.Or(cmp.Compare(b.Overhead.Sum(), a.Overhead.Sum()), cmp.Compare(b.Exclusive, a.Exclusive))
	})
	return out
}

package job

import (
	"errors"
	"fmt"
	"slices"

	"ompp-attach/analysis"
	"ompp-attach/profile"
)

// mostStats bounds the figures of threads at nodes that Together holds. So it bounds the memory to
// about half a gigabyte.
const mostStats = 1_500_000

// ErrTooLarge says that the job has too many ranks, threads and call paths for Together.
var ErrTooLarge = errors.New("the job is too large to be put together")

// All is one profile of all ranks. Regions are joined, and have the numbers of the job's report.
// Each rank has its own nodes, because the meaning of a node's time depends on the node's team.
type All struct {
	*profile.Profile
	// Hidden says why nothing can be told of the times; nil: they can be told.
	Hidden *analysis.Hidden

	ranks []int            // the rank of each root, from root 1
	roots []profile.Thread // the thread of each root as in the rank's profile, from root 1
}

// Rank returns the rank of a thread.
func (a *All) Rank(t profile.Thread) int { return a.ranks[t.Root-1] }

// InRank returns a thread as it is in its rank's profile.
func (a *All) InRank(t profile.Thread) profile.Thread {
	t.Root = a.roots[t.Root-1].Root
	return t
}

// Together reads the profiles of all ranks into one. It leaves out counters, samples and places of
// code. Of the options, only Raw and Classic count. MPI calls are taken out of each rank by itself,
// because the meaning of a node's time depends on the rank's teams. Job.Troubles of Read tells
// which ranks cannot be read. Errors are those of Read, and ErrTooLarge.
func Together(sources []Source, o Options) (*All, error) {
	sources = slices.Clone(sources)
	slices.SortFunc(sources, bySource)
	g := gatherer{all: &All{Profile: &profile.Profile{Version: profile.SchemaVersion, Nodes: []profile.Node{{Parent: -1, Region: -1}}}},
		number: map[key]int{}, seen: map[int]bool{}}
	var first error
	var l launches
	for d := range firstFilesFirst(inOrder(sources, func(s Source) (*profile.Profile, error) { return s.decode(o) })) {
		if d.err != nil {
			if first == nil {
				first = fmt.Errorf("%s: %w", d.source.Name, d.err)
			}
			continue
		}
		if m := d.got.Meta.MPI; m != nil && l.another(m.Job, d.source.Copy > 0 && len(g.seen) > 0) {
			continue
		}
		if err := g.add(d.got, d.source.Rank); err != nil {
			return nil, err
		}
	}
	if len(g.seen) == 0 {
		if first != nil {
			return nil, fmt.Errorf("none of %d profiles could be read; the first: %w", len(sources), first)
		}
		return nil, errors.New("there is no rank's profile")
	}
	g.sort()
	return g.all, nil
}

func (s Source) decode(o Options) (*profile.Profile, error) {
	p, err := s.read()
	if err != nil {
		return nil, err
	}
	if !o.Raw {
		p = analysis.Adjust(p)
	}
	if o.Classic {
		profile.HideCalls(p)
	}
	return p, nil
}

// gatherer puts profiles together, one after the other.
type gatherer struct {
	all    *All
	keys   []key
	number map[key]int // of regions
	seen   map[int]bool
	stats  int
}

func (g *gatherer) add(p *profile.Profile, rank int) error {
	if m := p.Meta.MPI; m != nil && m.Rank >= 0 && m.Rank < maxRank {
		rank = m.Rank
	}
	if g.seen[rank] {
		return nil
	}
	for i := range p.Nodes {
		g.stats += len(p.Nodes[i].Stats)
	}
	if g.stats > mostStats {
		return ErrTooLarge
	}
	to := &g.all.Meta
	if len(g.seen) == 0 {
		to.Program, to.Path, to.Tool, to.MPI = p.Meta.Program, p.Meta.Path, p.Meta.Tool, p.Meta.MPI
		to.Start, to.Ended = p.Meta.Start, p.Meta.Ended
	}
	g.seen[rank] = true
	g.all.Hidden = g.all.Hidden.Or(analysis.HiddenByProbes(p))
	to.Duration, to.Adjusted = max(to.Duration, p.Meta.Duration), to.Adjusted || p.Meta.Adjusted
	thread := len(g.all.Threads)
	g.threads(p, rank)
	region := make([]int, len(p.Regions))
	for i := range p.Regions {
		k := keyOf(&p.Regions[i])
		at, ok := g.number[k]
		if !ok {
			at = len(g.all.Regions)
			g.number[k], g.keys = at, append(g.keys, k)
			g.all.Regions = append(g.all.Regions, p.Regions[i])
		}
		region[i] = at
	}
	node := make([]int, len(p.Nodes))
	for i := range p.Nodes {
		n := &p.Nodes[i]
		for k := range n.Stats {
			n.Stats[k].Thread += thread
			n.Stats[k].Counters, n.Stats[k].ChildCounters = nil, nil
		}
		if i == 0 {
			g.all.Nodes[0].Stats = append(g.all.Nodes[0].Stats, n.Stats...)
			continue
		}
		node[i] = len(g.all.Nodes)
		g.all.Nodes = append(g.all.Nodes, profile.Node{Parent: node[n.Parent], Region: region[n.Region], Stats: n.Stats})
	}
	return nil
}

// threads adds a rank's threads. Each initial thread gets a root of its own. It lived as long as in
// the rank.
func (g *gatherer) threads(p *profile.Profile, rank int) {
	root := map[int]int{}
	for _, t := range p.Threads {
		if _, ok := root[t.Root]; !ok {
			g.all.ranks, g.all.roots = append(g.all.ranks, rank), append(g.all.roots, t)
			root[t.Root] = len(g.all.ranks)
		}
		if t.Num == 0 && (t.Root == 0 || t.Lived == 0) {
			t.Lived = p.Meta.Duration
		}
		t.Root = root[t.Root]
		g.all.Threads = append(g.all.Threads, t)
	}
}

// sort numbers the regions as the job's report does.
func (g *gatherer) sort() {
	order := make([]int, len(g.keys))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return g.keys[a].compare(&g.keys[b]) })
	regions, now := make([]profile.Region, len(order)), make([]int, len(order))
	for i, at := range order {
		regions[i], now[at] = g.all.Regions[at], i
	}
	g.all.Regions = regions
	for i := range g.all.Nodes[1:] {
		n := &g.all.Nodes[i+1]
		n.Region = now[n.Region]
	}
}

package job

import (
	"cmp"
	"slices"

	"ompp-attach/analysis"
	"ompp-attach/event"
	"ompp-attach/mpi"
	"ompp-attach/profile"
)

// maxSamples bounds the samples of a job's paths. So it bounds the memory for writing and reading a
// profile for pprof.
const maxSamples = 200_000

// Level says whose values a sample of Paths holds.
type Level int

// The levels. Paths begin with ByRank. If there are more samples than the bound, they are summed
// over hosts, and then over the whole job.
const (
	ByRank Level = iota
	ByHost
	Whole
)

// Indices of the values of a sample. Times are in ns, summed over threads.
const (
	SelfT = iota // time outside of inner regions
	SelfC        // number of executions
	SelfSynch
	SelfImbal
	SelfLimpar
	SelfMgmt
	SelfMPI
	SelfNoCore
	SelfIn    // bytes received by calls made here, one value for each accounting; then bytes sent
	SelfOut   = SelfIn + int(mpi.NumAccountings)
	numValues = SelfOut + int(mpi.NumAccountings)
)

// Values are the values of one sample.
type Values [numValues]int64

// Sample holds the values of a rank, a host or the job on one path.
type Sample struct {
	Rank   int    // -1 unless ByRank
	Host   string // empty if Whole
	Node   int    // index in Paths.Nodes
	Values Values
}

// PathNode is a region on one call path.
type PathNode struct {
	Parent int // index in Paths.Nodes; -1 for the root, the program
	Region int // index in Job.Regions; -1 for the root
}

// Paths are the call paths of all ranks. A parent precedes its children.
type Paths struct {
	Nodes   []PathNode
	Samples []Sample
	Level   Level

	bound  int
	at     map[pathStep]int
	keys   []key // by node
	hosts  []string
	hostOf map[string]int
	owner  map[int]int // rank to host
	sums   map[sampleKey]*Values
}

type pathStep struct {
	parent int
	region key
}

type sampleKey struct{ group, node int }

func newPaths(bound int) *Paths {
	return &Paths{Nodes: []PathNode{{-1, -1}}, keys: make([]key, 1), bound: bound, at: map[pathStep]int{},
		hostOf: map[string]int{}, owner: map[int]int{}, sums: map[sampleKey]*Values{}}
}

// pathPart holds the values of one rank on a path.
type pathPart struct {
	parent, part int // indices of an earlier pathPart and of a part; -1 for the root
	values       Values
}

// pathsOf returns a profile's paths. number maps the profile's regions to parts.
func pathsOf(p *profile.Profile, number []int, classes [][]analysis.Classes) []pathPart {
	out := make([]pathPart, len(p.Nodes))
	out[0] = pathPart{parent: -1, part: -1}
	for _, s := range analysis.SerialTimes(p) {
		out[0].values[SelfT] += s.Time
	}
	for i := range p.Nodes {
		n := &p.Nodes[i]
		construct := event.NoConstruct // the program itself, which can make calls, too
		if i > 0 {
			construct = p.Regions[n.Region].Construct
			out[i] = pathPart{parent: n.Parent, part: number[n.Region]}
		}
		for j := range n.Stats {
			s, c := &n.Stats[j], classes[i][j]
			v := Values{max(0, s.Exec.T-s.Child), count(s.Exec.C), c.Synch, c.Imbal, c.Limpar, c.Mgmt, c.MPI, c.NoCore}
			calls := analysis.OwnCalls(construct, s)
			for by := range mpi.NumAccountings {
				v[SelfIn+int(by)], v[SelfOut+int(by)] = count(calls.In[by]), count(calls.Out[by])
			}
			out[i].values.add(&v)
		}
	}
	return out
}

func (v *Values) add(o *Values) {
	for i := range v {
		v[i] += o[i]
	}
}

// merge adds a rank's paths.
func (p *Paths) merge(r *reduced) {
	host, ok := p.hostOf[r.rank.Host]
	if !ok {
		host = len(p.hosts)
		p.hosts = append(p.hosts, r.rank.Host)
		p.hostOf[r.rank.Host] = host
	}
	p.owner[r.rank.Rank] = host
	node := make([]int, len(r.paths))
	for i := range r.paths {
		if i > 0 {
			node[i] = p.step(node[r.paths[i].parent], r.parts[r.paths[i].part].key)
		}
		if r.paths[i].values != (Values{}) {
			p.add(sampleKey{p.group(r.rank.Rank), node[i]}, &r.paths[i].values)
		}
	}
}

func (p *Paths) step(parent int, region key) int {
	s := pathStep{parent, region}
	n, ok := p.at[s]
	if !ok {
		n = len(p.Nodes)
		p.at[s] = n
		p.Nodes = append(p.Nodes, PathNode{Parent: parent})
		p.keys = append(p.keys, region)
	}
	return n
}

// group returns the number of the group (rank, host or job) to which a rank's samples are added.
func (p *Paths) group(rank int) int {
	switch p.Level {
	case ByRank:
		return rank
	case ByHost:
		return p.owner[rank]
	}
	return 0
}

func (p *Paths) add(k sampleKey, v *Values) {
	sum := p.sums[k]
	if sum == nil {
		sum = &Values{}
		p.sums[k] = sum
	}
	sum.add(v)
	for len(p.sums) > p.bound && p.Level < Whole {
		p.coarsen()
	}
}

// coarsen goes to the next level. The number of samples only grows. So the order of ranks does not
// decide whether a level is reached.
func (p *Paths) coarsen() {
	old := p.sums
	p.sums = map[sampleKey]*Values{}
	p.Level++
	for k, v := range old {
		group := 0
		if p.Level == ByHost {
			group = p.owner[k.group]
		}
		k = sampleKey{group, k.node}
		if sum := p.sums[k]; sum != nil {
			sum.add(v)
		} else {
			p.sums[k] = v
		}
	}
}

// finish numbers the paths depth first, with regions in the order of their numbers, and lists the
// samples by path.
func (p *Paths) finish(number map[key]int) {
	for i := 1; i < len(p.Nodes); i++ {
		p.Nodes[i].Region = number[p.keys[i]]
	}
	moved := make([]int, len(p.Nodes))
	nodes := make([]PathNode, 0, len(p.Nodes))
	for _, i := range profile.Preorder(len(p.Nodes), func(i int) int { return p.Nodes[i].Parent },
		func(a, b int) int { return cmp.Compare(p.Nodes[a].Region, p.Nodes[b].Region) }) {
		n := p.Nodes[i]
		if n.Parent >= 0 {
			n.Parent = moved[n.Parent]
		}
		moved[i] = len(nodes)
		nodes = append(nodes, n)
	}
	p.Nodes = nodes
	for k, v := range p.sums {
		s := Sample{Rank: -1, Node: moved[k.node], Values: *v}
		switch p.Level {
		case ByRank:
			s.Rank, s.Host = k.group, p.hosts[p.owner[k.group]]
		case ByHost:
			s.Host = p.hosts[k.group]
		}
		p.Samples = append(p.Samples, s)
	}
	slices.SortFunc(p.Samples, func(a, b Sample) int {
		return cmp.Or(cmp.Compare(a.Node, b.Node), cmp.Compare(a.Rank, b.Rank), cmp.Compare(a.Host, b.Host))
	})
	p.sums, p.at, p.keys = nil, nil, nil
}

package profile

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"ompp-attach/event"
)

// ErrOtherMeasurement says that two profiles are not of one measurement, or not in this order.
var ErrOtherMeasurement = errors.New("the two profiles are not an earlier and a later one of the same measurement")

// Window returns what was measured between two profiles of one measurement of a process: a snapshot
// and a later one, or the final profile. Its numbers of regions are those of the later profile.
// Neither of the two changes.
func Window(later, earlier *Profile) (*Profile, error) {
	l, e := &later.Meta, &earlier.Meta
	switch {
	case l.PID != e.PID || !l.Start.Equal(e.Start) || l.Host != e.Host || l.Path != e.Path:
		return nil, fmt.Errorf("%w: one is of process %d, from %s on, the other of process %d, from %s on", ErrOtherMeasurement,
			e.PID, e.Start.Format(time.TimeOnly), l.PID, l.Start.Format(time.TimeOnly))
	case e.SnapshotAt.IsZero() || l.Duration < e.Duration:
		return nil, fmt.Errorf("%w: the first one is not the earlier one", ErrOtherMeasurement)
	}
	w := *later
	w.Strip = nil // its bins are of the whole measurement
	w.Meta.since(e)
	w.Regions = slices.Clone(later.Regions)
	w.Nodes = slices.Clone(later.Nodes)
	for i := range w.Nodes {
		w.Nodes[i].Stats = slices.Clone(later.Nodes[i].Stats)
	}
	s := newSubtraction(&w, earlier)
	s.nodes()
	s.samples()
	s.losses()
	w.drop()
	return &w, nil
}

// since makes the description of a measurement that of its part after an earlier state.
func (m *Meta) since(e *Meta) {
	m.Life.since(&e.Life)
	m.Trust.since(&e.Trust)
	m.Off.subtract(e.Off)
	m.Stopped.Times, m.Stopped.Total = less(m.Stopped.Times, e.Stopped.Times), m.Stopped.Total-e.Stopped.Total
	if m.Sampling != nil && e.Sampling != nil {
		s := *m.Sampling
		s.Taken, s.Lost, s.Throttled = less(s.Taken, e.Sampling.Taken), less(s.Lost, e.Sampling.Lost), less(s.Throttled, e.Sampling.Throttled)
		m.Sampling = &s
	}
	m.Expense.since(&e.Expense)
}

func (l *Life) since(e *Life) {
	l.Start = e.SnapshotAt
	l.Duration = max(0, l.Duration-e.Duration)
	l.UserTime, l.SysTime = max(0, l.UserTime-e.UserTime), max(0, l.SysTime-e.SysTime)
}

func (t *Trust) since(e *Trust) {
	t.Edges = Edges{All: less(t.Edges.All, e.Edges.All), Derived: less(t.Edges.Derived, e.Edges.Derived)}
	t.Hits, t.LostHits, t.Unmatched, t.Partial = less(t.Hits, e.Hits), less(t.LostHits, e.LostHits), less(t.Unmatched, e.Unmatched), less(t.Partial, e.Partial)
}

func (x *Expense) since(e *Expense) {
	x.ToolTime = max(0, x.ToolTime-e.ToolTime)
	x.Observations = slices.Clone(x.Observations)
	for i := range x.Observations {
		to := &x.Observations[i]
		for _, o := range e.Observations {
			if to.Of == o.Of {
				to.Unobserved, to.Sampled, to.Gaps = to.Unobserved-o.Unobserved, to.Sampled-o.Sampled, to.Gaps-o.Gaps
			}
		}
		to.First, to.Before, to.Counted = 0, 0, 0 // of the whole
	}
	if x.Overhead == nil || e.Overhead == nil {
		return
	}
	kind := func(h ProbeHits) ProbeHits { h.Hits, h.Before, h.After = 0, 0, 0; return h }
	o := *x.Overhead
	o.Probes = slices.Clone(o.Probes)
	for i := range o.Probes {
		for _, h := range e.Overhead.Probes {
			if kind(h) == kind(o.Probes[i]) {
				o.Probes[i].Hits = less(o.Probes[i].Hits, h.Hits)
			}
		}
	}
	x.Overhead = &o
}

// RegionID names a region in all profiles of one measurement of a process. What may become known
// meanwhile, such as its last line, is not in it.
type RegionID struct {
	Construct          event.Construct
	Name, Object, File string
	Offset             uint64
	Begin              int
}

// ID returns what names the region.
func (r *Region) ID() RegionID {
	if r.Construct == event.Unknown { // there is one, and what it is may become known
		return RegionID{Construct: r.Construct}
	}
	l := &r.Location
	if l.File != "" && l.Begin > 0 {
		return RegionID{Construct: r.Construct, Name: r.Name, File: l.File, Begin: l.Begin}
	}
	return RegionID{Construct: r.Construct, Name: r.Name, Object: l.Object, Offset: l.Offset}
}

// subtraction takes an earlier profile away from a later one.
type subtraction struct {
	w, earlier *Profile
	node       []int // of the earlier profile's nodes: the later one's; -1: none
	thread     []int // likewise
	region     []int // likewise
	gone       bool  // something of the earlier profile is not in the later one
}

func newSubtraction(w, earlier *Profile) *subtraction {
	s := &subtraction{w: w, earlier: earlier, node: make([]int, len(earlier.Nodes)), thread: make([]int, len(earlier.Threads)), region: make([]int, len(earlier.Regions))}
	regions := map[RegionID]int{}
	for i := len(w.Regions) - 1; i >= 0; i-- {
		regions[w.Regions[i].ID()] = i
	}
	for i := range earlier.Regions {
		s.region[i] = find(regions, earlier.Regions[i].ID())
	}
	type row struct{ root, num, tid int }
	threads := map[row]int{}
	for i, t := range w.Threads {
		threads[row{t.Root, t.Num, 0}] = i
		for _, id := range t.TIDs { // initial threads that have lived briefly get another root
			threads[row{-1, t.Num, id}] = i
		}
	}
	for i, t := range earlier.Threads {
		s.thread[i] = find(threads, row{t.Root, t.Num, 0})
		if len(t.TIDs) > 0 {
			if n := find(threads, row{-1, t.Num, t.TIDs[0]}); n >= 0 && (s.thread[i] < 0 || !slices.Contains(w.Threads[s.thread[i]].TIDs, t.TIDs[0])) {
				s.thread[i] = n
			}
		}
	}
	type step struct{ parent, region int }
	nodes := map[step]int{}
	for i := len(w.Nodes) - 1; i > 0; i-- {
		nodes[step{w.Nodes[i].Parent, s.canonical(regions, w.Nodes[i].Region)}] = i
	}
	for i, n := range earlier.Nodes {
		if s.node[i] = 0; i == 0 {
			continue
		}
		s.node[i] = -1
		if up := s.node[n.Parent]; up >= 0 && s.region[n.Region] >= 0 {
			s.node[i] = find(nodes, step{up, s.region[n.Region]})
		}
	}
	return s
}

// canonical is the lowest of the regions that are at one place.
func (s *subtraction) canonical(regions map[RegionID]int, region int) int {
	return regions[s.w.Regions[region].ID()]
}

func find[K comparable](in map[K]int, k K) int {
	if i, ok := in[k]; ok {
		return i
	}
	return -1
}

func (s *subtraction) nodes() {
	for i := range s.earlier.Nodes {
		for j := range s.earlier.Nodes[i].Stats {
			o := &s.earlier.Nodes[i].Stats[j]
			thread := s.thread[o.Thread]
			if s.node[i] < 0 || thread < 0 {
				s.gone = true
				continue
			}
			n := &s.w.Nodes[s.node[i]]
			k := slices.IndexFunc(n.Stats, func(x ThreadStats) bool { return x.Thread == thread })
			if k < 0 {
				n.Stats = append(n.Stats, ThreadStats{Thread: thread})
				k = len(n.Stats) - 1
			}
			n.Stats[k].Subtract(o)
		}
	}
	s.w.Threads = slices.Clone(s.w.Threads)
	for i, t := range s.earlier.Threads {
		if k := s.thread[i]; k >= 0 {
			s.w.Threads[k].Lived = max(0, s.w.Threads[k].Lived-t.Lived)
		}
	}
	if s.gone {
		s.w.Warnings = append(slices.Clone(s.w.Warnings), "Some figures of the earlier profile are not in the later one, and were not taken away.")
	}
}

// samples subtracts samples, whose stacks are compared frame by frame.
func (s *subtraction) samples() {
	key := func(p *Profile, x *Sample, node, thread int) string {
		var b strings.Builder
		fmt.Fprint(&b, node, thread, x.Phase, x.Kernel, x.Cut)
		for _, f := range x.Stack {
			fmt.Fprintf(&b, " %+v", p.Frames[f])
		}
		return b.String()
	}
	before := map[string]Sample{}
	for i := range s.earlier.Samples {
		x := s.earlier.Samples[i]
		thread := -1
		if x.Thread >= 0 {
			thread = s.thread[x.Thread]
		}
		k := key(s.earlier, &x, s.node[x.Node], thread)
		x.Count, x.Weight = x.Count+before[k].Count, x.Weight+before[k].Weight
		before[k] = x
	}
	var left []Sample
	for _, x := range s.w.Samples {
		k := key(s.w, &x, x.Node, x.Thread)
		b := before[k]
		count, weight := min(x.Count, b.Count), min(x.Weight, b.Weight)
		x.Count, x.Weight = x.Count-count, x.Weight-weight
		b.Count, b.Weight = b.Count-count, b.Weight-weight
		if before[k] = b; x.Count > 0 {
			left = append(left, x)
		}
	}
	s.w.Samples = left
}

// losses subtracts what was lost.
func (s *subtraction) losses() {
	for i := range s.earlier.Regions {
		if k := s.region[i]; k >= 0 {
			s.w.Regions[k].Lossy = less(s.w.Regions[k].Lossy, s.earlier.Regions[i].Lossy)
		}
	}
	type where struct{ region, thread int }
	lost := map[where]uint64{}
	for _, l := range s.w.Lost {
		lost[where{l.Region, l.Thread}] += l.Events
	}
	for _, l := range s.earlier.Lost {
		at := where{-1, -1}
		if l.Region >= 0 {
			at.region = s.region[l.Region]
		}
		if l.Thread >= 0 {
			at.thread = s.thread[l.Thread]
		}
		lost[at] = less(lost[at], l.Events)
	}
	s.w.Lost = nil
	for _, at := range slices.SortedFunc(maps.Keys(lost), func(a, b where) int { return (a.region-b.region)*len(s.w.Threads)*2 + a.thread - b.thread }) {
		if n := lost[at]; n > 0 {
			s.w.Lost = append(s.w.Lost, Loss{at.region, at.thread, n})
		}
	}
}

// drop removes threads' figures of which nothing is left, and call paths without figures.
func (p *Profile) drop() {
	held := make([]bool, len(p.Nodes))
	for i := range p.Nodes {
		p.Nodes[i].Stats = slices.DeleteFunc(p.Nodes[i].Stats, func(s ThreadStats) bool { return s.empty() })
		held[i] = i == 0 || len(p.Nodes[i].Stats) > 0
	}
	for i := range p.Samples {
		held[p.Samples[i].Node] = true
	}
	for i := len(p.Nodes) - 1; i > 0; i-- {
		if held[i] {
			held[p.Nodes[i].Parent] = true
		}
	}
	moved := make([]int, len(p.Nodes))
	var nodes []Node
	for i, n := range p.Nodes {
		if !held[i] {
			continue
		}
		if moved[i] = len(nodes); i > 0 {
			n.Parent = moved[n.Parent]
		}
		nodes = append(nodes, n)
	}
	p.Nodes = nodes
	for i := range p.Samples {
		p.Samples[i].Node = moved[p.Samples[i].Node]
	}
}

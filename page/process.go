package page

import (
	"slices"

	"ompp-attach/analysis"
	"ompp-attach/efficiency"
	"ompp-attach/event"
	"ompp-attach/profile"
	"ompp-attach/report"
	"ompp-attach/report/words"
	"ompp-attach/severity"
)

// mostRows bounds the rows by thread of all regions together. If there are more, the regions with
// least exclusive time have no rows.
const mostRows = 100_000

// mostLines bounds the hot lines of a region.
const mostLines = 20

// process derives a page's figures from a profile. It always uses disjoint classes of overhead,
// since parts of one bar may not overlap.
func process(p *profile.Profile, o report.Options) *Process {
	o.Rules, o.Classic = analysis.Disjoint, false
	p = o.View(p)
	b := &builder{p: p, o: o, out: &Process{Version: Version, Kind: "process", Head: headOf(p, o), Facts: report.Facts(p, o),
		Threads: []Thread{}, Findings: []Finding{}, Regions: []Region{}, Notes: []report.Note{}}}
	b.out.Efficiency, b.out.Untold = efficiencyOf(efficiency.OfProfile(p))
	b.classify()
	b.regions()
	b.nodes()
	b.whole()
	c := severity.Of(p, o.Severities())
	b.out.Findings, b.out.Small = findingsOf(c)
	b.out.Rough = report.Rough(p)
	b.hot()
	b.sources()
	b.out.Trees = treesOf(c)
	b.out.Strip, b.out.When = stripOf(p), o.When
	b.out.Notes = append(b.out.Notes, report.Notes(p, o)...)
	return b.out
}

// builder makes the figures of a process.
type builder struct {
	p   *profile.Profile
	o   report.Options
	out *Process

	flat    []analysis.Block
	classes [][]analysis.Classes // by node, in the order of its Stats
	own     []map[int]*Parts     // by region and thread: the parts of the exclusive time
	sampled []analysis.Hot
}

func headOf(p *profile.Profile, o report.Options) Head {
	m := &p.Meta
	h := Head{Program: clean(m.Program), Host: clean(m.Host), PID: m.PID, Start: m.Start, Ended: m.Ended, Exit: m.Exit,
		Snapshot: !m.SnapshotAt.IsZero(), Attached: m.Attached, Tool: m.Tool, Runtimes: []string{}, Threads: analysis.Threads(p),
		Wall: m.Duration, ThreadTime: analysis.ThreadTime(p),
		Accounting: o.Volumes.String(), Adjusted: m.Adjusted, Lost: m.LostHits, Hits: m.Hits, Partial: m.Partial}
	if analysis.SawOpenMP(p) {
		share := analysis.ParallelCoverage(p).Share()
		h.Coverage = &share
	}
	for _, a := range m.Args {
		h.Args = append(h.Args, clean(a))
	}
	for _, r := range m.Runtimes {
		h.Runtimes = append(h.Runtimes, clean(r.Name+" "+r.Version))
	}
	if m.MPI != nil {
		h.Runtimes = append(h.Runtimes, clean(m.MPI.Library))
		if h.Size = m.MPI.Size; m.MPI.Rank >= 0 {
			h.Rank = &m.MPI.Rank
		}
	}
	if m.Overhead != nil && m.Overhead.Failed == "" {
		cost := analysis.ProbeCost(p)
		h.Probes, h.ProbeShare, h.Lowered = &cost, analysis.CostShare(p).Share(), analysis.CostLowered(p)
	}
	return h
}

// classify finds the parts of each region's exclusive time, by thread.
func (b *builder) classify() {
	p := b.p
	b.flat = analysis.Flat(p)
	b.classes = make([][]analysis.Classes, len(p.Nodes))
	b.own = make([]map[int]*Parts, len(p.Regions))
	for i := range b.own {
		b.own[i] = map[int]*Parts{}
	}
	for i := range p.Nodes {
		b.classes[i] = b.o.Rules.Classify(p, i)
		if i == 0 {
			continue
		}
		own := b.own[p.Nodes[i].Region]
		for k := range p.Nodes[i].Stats {
			s := &p.Nodes[i].Stats[k]
			if own[s.Thread] == nil {
				own[s.Thread] = &Parts{}
			}
			own[s.Thread].add(s.Exec.T-s.Child, b.classes[i][k])
		}
	}
}

func (b *builder) regions() {
	for i := range b.flat {
		b.out.Regions = append(b.out.Regions, b.region(i))
	}
	order := make([]int, len(b.out.Regions))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(x, y int) int {
		return int(min(1, max(-1, b.out.Regions[y].Exclusive-b.out.Regions[x].Exclusive)))
	})
	for rows, k := 0, 0; k < len(order); k++ {
		r := &b.out.Regions[order[k]]
		if rows += len(r.Rows); rows > mostRows {
			r.Rows = nil
		}
	}
	for i := range b.p.Meta.Counters {
		c := &b.p.Meta.Counters[i]
		b.out.Counters = append(b.out.Counters, CounterTitle{clean(c.Name), c.Unit, c.Running, c.Failed})
	}
}

func (b *builder) region(i int) Region {
	r, f := &b.p.Regions[i], &b.flat[i]
	l := &r.Location
	out := Region{Number: i + 1, Construct: r.Construct, Place: words.Region(r), Name: clean(r.Name), File: clean(l.File), Begin: l.Begin, End: l.End,
		Function: clean(l.Function), Inclusive: f.Sum.Exec.T, Execs: f.Sum.Exec.C, Lossy: r.Lossy, CountersLack: f.Sum.Uncounted}
	for _, n := range r.Notes {
		out.Notes = append(out.Notes, clean(n))
	}
	if e := f.Sum.Estimate; e != nil {
		if out.Mark = "~"; e.AtLeast {
			out.Mark = "+"
		}
	}
	for k := range f.Rows {
		s := &f.Rows[k]
		row := Row{Thread: s.Thread, Exec: s.Exec.T, Count: s.Exec.C, Enter: s.Enter.T, Body: s.Body.T, Barrier: s.Barrier.T, Exit: s.Exit.T}
		if s.MPI != nil {
			row.MPI = s.MPI.T
		}
		if own := b.own[i][s.Thread]; own != nil {
			row.Own = *own
			sumParts(&out.Own, own)
		}
		out.Rows = append(out.Rows, row)
	}
	out.Exclusive = out.Own.Sum()
	for k := range f.Sum.Counters {
		if b.p.Meta.Counters[k].Failed != "" {
			continue
		}
		if out.Counters == nil {
			out.Counters = map[string]int64{}
		}
		out.Counters[clean(b.p.Meta.Counters[k].Name)] = f.Sum.Counters[k]
	}
	if m := f.Sum.MPI; m != nil {
		by := b.o.Volumes
		out.MPI = &Calls{Time: m.T, Calls: m.Calls, Sends: m.Sends, Recvs: m.Recvs, Colls: m.Colls, Out: m.Out[by], In: m.In[by], Unknown: m.Unknown}
		if r.Construct == event.MPI {
			out.MPI.Sized, out.MPI.Min, out.MPI.Max = m.Sized, m.Min[by], m.Max[by]
			if x := f.Sum.Traffic; x != nil && !x.None() {
				out.MPI.Sizes = &x.BySize
			}
		}
	}
	return out
}

func sumParts(to, p *Parts) {
	to.Work += p.Work
	to.Synch += p.Synch
	to.Imbal += p.Imbal
	to.Limpar += p.Limpar
	to.Mgmt += p.Mgmt
	to.MPI += p.MPI
	to.NoCore += p.NoCore
	to.Serial += p.Serial
	to.Idle += p.Idle
}

// nodes makes the tree of call paths. Serial time is the own time of the first node, the program.
func (b *builder) nodes() {
	p := b.p
	out := make([]Node, len(p.Nodes))
	for i := len(p.Nodes) - 1; i >= 0; i-- {
		n := &out[i]
		n.Parent, n.Region = p.Nodes[i].Parent, p.Nodes[i].Region+1
		if i == 0 {
			n.Own.Serial = analysis.SerialTime(p)
		}
		for k := range p.Nodes[i].Stats {
			if s := &p.Nodes[i].Stats[k]; i > 0 {
				n.Own.add(s.Exec.T-s.Child, b.classes[i][k])
				n.Execs += s.Exec.C
			}
		}
		n.Width += n.Own.Sum()
		if i > 0 {
			out[n.Parent].Width += n.Width
		}
	}
	b.out.Nodes = out
}

// whole finds the parts of all threads' time, and of each thread's time.
func (b *builder) whole() {
	p, w := b.p, &b.out.Whole
	for i := range b.out.Nodes {
		sumParts(w, &b.out.Nodes[i].Own)
	}
	w.Idle = analysis.Idle(p)
	rows := make([]Thread, len(p.Threads))
	for i := range rows {
		rows[i].Label = words.Thread(p.Threads[i])
	}
	for _, own := range b.own {
		for thread, parts := range own {
			sumParts(&rows[thread].Whole, parts)
		}
	}
	for _, s := range analysis.SerialTimes(p) {
		if at := slices.IndexFunc(p.Threads, func(t profile.Thread) bool { return t.Root == s.Root && t.Num == 0 }); at >= 0 {
			rows[at].Whole.Serial += s.Time
		}
	}
	for i, idle := range analysis.IdleTimes(p) {
		rows[i].Whole.Idle = idle
	}
	b.out.Threads = append(b.out.Threads, rows...)
}

func clean(s string) string { return profile.Pasteable(s) }

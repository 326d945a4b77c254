package severity

import (
	"ompp-attach/analysis"
	"ompp-attach/event"
	"ompp-attach/mpi"
	"ompp-attach/profile"
)

// Options are choices of the reader.
type Options struct {
	Volumes    mpi.Accounting // how bytes of collective operations are counted
	Conditions []Condition    // properties of the user's own
}

// Of returns the severities of a process. The profile is a view: adjusted, or as measured. Times
// without a core, and times that probes took, are parts of other times. They come from other clocks
// than these. So parts may exceed the whole, by some microseconds. The rest of the whole is 0 then.
func Of(p *profile.Profile, o Options) *Cube {
	w := &walker{builder: newBuilder(Catalogue()), p: p, o: o, life: analysis.LifeTimes(p), spent: make([]int64, len(p.Threads)),
		noCore: make([]int64, len(p.Threads)), cost: make([]int64, len(p.Threads)), paths: analysis.NewPaths(p), sections: map[int]string{}}
	w.Hidden, w.Silent = analysis.HiddenByProbes(p), analysis.Silent(p)
	w.Program, w.Regions, w.ThreadTime, w.Adjusted = p.Meta.Program, p.Regions, analysis.ThreadTime(p), p.Meta.Adjusted
	process := Process{Rank: -1, Host: p.Meta.Host, PID: p.Meta.PID, Program: p.Meta.Program, Wall: p.Meta.Duration, Crew: analysis.CrewOf(p)}
	if m := p.Meta.MPI; m != nil {
		process.Rank = m.Rank
	}
	w.Processes = []Process{process}
	for _, t := range p.Threads {
		w.Threads = append(w.Threads, Thread{Thread: t})
	}
	if len(p.Threads) == 0 { // the program used no OpenMP: there is its initial thread only
		w.Threads = []Thread{{}}
		w.life, w.spent, w.noCore, w.cost = []int64{w.ThreadTime}, []int64{0}, []int64{0}, []int64{0}
	}
	w.counters()
	for i := range o.Conditions {
		w.define(o.Conditions[i].property())
	}
	w.sectionsOf()
	for i := range p.Nodes {
		w.node(i)
	}
	w.outside()
	w.idle()
	w.notKnown()
	w.criticalPath()
	findings := analysis.Disjoint.Findings(p)
	for _, x := range findings.Probe {
		w.doubt(x.Name, x.Region, ByProbes)
	}
	for _, x := range findings.Task {
		w.doubt(x.Name, x.Region, ByTasks)
	}
	for region, waits := range analysis.WhyUneven(p) {
		w.Uneven[region] = waits
	}
	for region, ends := range analysis.WhyEnds(p) {
		w.Ends[region] = ends
	}
	return w.finish()
}

// walker walks the nodes of a profile.
type walker struct {
	*builder
	p        *profile.Profile
	o        Options
	paths    analysis.Paths
	life     []int64        // by thread: the length of its life, ns
	spent    []int64        // by thread: the part of life that properties have got so far, ns
	noCore   []int64        // by thread: time without a core in regions, ns
	cost     []int64        // by thread: time that probes took and that no region has got, ns
	counter  []int          // by counter: index of its property; -1: not counted
	sections map[int]string // by region: the ID of the wait at its end
	primary  []bool         // by node: executed by the thread in MASTER or MASKED alone
}

// node adds the figures of a node.
func (w *walker) node(i int) {
	n := &w.p.Nodes[i]
	path := Path{n.Parent, n.Region}
	construct := event.NoConstruct
	primary := false
	if i > 0 {
		construct = w.p.Regions[n.Region].Construct
		switch {
		case len(w.p.Threads) == 1: // there are no others
		case construct == event.Master, construct == event.Masked:
			primary = true
		case construct.ExecutesTask(), construct.IsParallel(): // other threads execute these, too
		default:
			primary = w.primary[n.Parent]
		}
	}
	w.Paths, w.primary = append(w.Paths, path), append(w.primary, primary)
	for j, c := range analysis.Classify(w.p, i) {
		s := &n.Stats[j]
		add := func(property string, v int64) { w.add(property, i, s.Thread, v, markOf(s)) }
		if i > 0 {
			w.own(i, construct, s, &c)
			if primary {
				add(PrimaryOnly, max(0, s.Exec.T-s.Child-c.Sum()))
			}
			add(Visits, int64(s.Exec.C))
			add(ExecutedTasks, int64(s.Tasks))
			causes(add, s.Waits)
			madeOf(add, s.Sched)
			w.countersAt(i, s)
			w.conditionsAt(i, s)
		} else { // calls without regions of their own (profile.HideCalls)
			add("mpi", c.MPI)
			onJobPath(add, s.Ranks)
			w.spent[s.Thread] += c.MPI
		}
		if k := s.Cost; k != nil && i > 0 {
			own := k.Exec - k.Child - k.Wait
			add(Probes, own)
			w.cost[s.Thread] -= own
		} else if k != nil { // of the thread's whole life
			w.cost[s.Thread] += k.Exec - k.Wait
		}
		w.calls(add, construct, s)
	}
}

// own divides a thread's own time at a node among properties. The rest is Computation.
func (w *walker) own(i int, construct event.Construct, s *profile.ThreadStats, c *analysis.Classes) {
	own := s.Exec.T - s.Child
	w.spent[s.Thread] += own
	w.noCore[s.Thread] += c.NoCore
	add := func(property string, v int64) {
		v = max(0, v) // times of different clocks: see Of
		w.add(property, i, s.Thread, v, markOf(s))
		own -= v
	}
	add(NoCore, c.NoCore)
	property := w.mpiAt(i)
	kept := w.between(add, property, s, c.MPI)
	w.rankCauses(func(id string, v int64) { w.add(id, i, s.Thread, v, markOf(s)) }, i, property, s.Ranks, kept)
	w.wait(i, add, synchronisation(construct), s, c.Synch)
	w.wait(i, add, w.barrier(i, construct), s, c.Imbal+c.Limpar)
	w.management(add, construct, s, c.Mgmt)
	w.add(Computation, i, s.Thread, max(0, own), markOf(s))
}

// mpiAt returns the property of the time in MPI at a node.
func (w *walker) mpiAt(i int) string {
	r := &w.p.Regions[w.p.Nodes[i].Region]
	if r.Construct != event.MPI {
		return "mpi" // the calls' own regions have been taken out
	}
	return operationProperty(r.Name)
}

// calls adds the numbers of MPI calls made at a node, and their bytes.
func (w *walker) calls(add func(string, int64), construct event.Construct, s *profile.ThreadStats) {
	m := analysis.OwnCalls(construct, s)
	for _, x := range []struct {
		id string
		n  uint64
	}{
		{"mpi_calls", m.Calls}, {"mpi_sends", m.Sends}, {"mpi_recvs", m.Recvs}, {"mpi_collectives", m.Colls},
		{"mpi_bytes_sent", m.Out[w.o.Volumes]}, {"mpi_bytes_received", m.In[w.o.Volumes]},
		{"mpi_bytes_read", m.Read}, {"mpi_bytes_written", m.Written},
	} {
		add(x.id, int64(x.n))
	}
}

// outside adds the time of initial threads outside of all regions.
func (w *walker) outside() {
	initial := map[int]int{} // by Root
	for i := range w.Threads {
		if t := w.Threads[i]; t.Num == 0 {
			initial[t.Root] = i
		}
	}
	calls, away := make([]int64, len(w.Threads)), make([]int64, len(w.Threads))
	for j, c := range analysis.Classify(w.p, 0) {
		s := &w.p.Nodes[0].Stats[j]
		calls[s.Thread] = c.MPI
		if s.NoCore != nil {
			away[s.Thread] = max(0, s.NoCore.Exec-w.noCore[s.Thread])
		}
	}
	for _, s := range analysis.SerialTimes(w.p) {
		i, ok := initial[s.Root]
		if !ok {
			continue
		}
		left := max(0, s.Time-calls[i])
		noCore := min(left, away[i])
		w.add(NoCore, 0, i, noCore, 0)
		w.add(Computation, 0, i, left-noCore, 0)
		w.spent[i] += left
	}
}

// idle adds the time of workers in no region.
func (w *walker) idle() {
	for node, list := range analysis.IdleThreads(w.p) {
		property := IdleThreads
		switch r := w.p.Nodes[node].Region; {
		case w.paths.Team(node) >= 0:
			property = LimitedParallel
		case r >= 0 && analysis.StartsEnds(&w.p.Regions[r]):
			property = IdleStartEnd
		}
		for _, x := range list {
			w.add(property, node, x.Thread, x.Time, 0)
			w.spent[x.Thread] += x.Time
		}
	}
}

// notKnown adds the time of which no event told where the thread was, and the time that probes took
// outside of all regions.
func (w *walker) notKnown() {
	lack := make([]int64, len(w.Threads))
	for i := range lack {
		lack[i] = w.life[i] - w.spent[i]
	}
	w.rest(NotKnown, lack)
	w.rest(Probes, w.cost)
}

// rest adds what the threads' figures lack, outside of all regions. Where teams nest, threads of
// inner teams share rows with others. Then a row may lack what another row has too much.
func (w *walker) rest(property string, lack []int64) {
	// By Root: in all, and of rows that lack something.
	lacks, missing := map[int]int64{}, map[int]int64{}
	for i, v := range lack {
		lacks[w.Threads[i].Root] += v
		missing[w.Threads[i].Root] += max(0, v)
	}
	for i, v := range lack {
		if root := w.Threads[i].Root; lacks[root] > 0 && v > 0 {
			w.add(property, 0, i, int64(float64(v)*analysis.Ratio(lacks[root], missing[root])), 0)
		}
	}
}

func markOf(s *profile.ThreadStats) Mark {
	if s.Estimate != nil {
		return Estimated
	}
	return 0
}

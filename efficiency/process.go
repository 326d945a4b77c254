package efficiency

import (
	"strings"
	"time"

	"ompp-attach/analysis"
	"ompp-attach/event"
	"ompp-attach/mpi"
	"ompp-attach/profile"
)

// Process holds the figures of one process. The start and end of MPI (MPI_Init, MPI_Finalize) are
// in none of its times but StartEnd, because the launcher determines how long they take.
type Process struct {
	Rank     int // in MPI_COMM_WORLD; 0: not of a job
	Program  string
	Args     string // the arguments
	Host     string
	PID      int
	Ended    time.Time
	Threads  int   // n_t
	Lived    int64 // the life time of all threads; 0 if MPI was started or ended meanwhile
	Callers  int   // m_t: threads that called MPI
	Wall     int64 // wall time without the start and end of MPI
	StartEnd int64 // wall time of the start and end of MPI
	Parts    Parts // of Wall times Threads; Ended is 0
	// Parallel is the wall time that the primary thread spent in parallel regions (POP's
	// inOpenMP(p,1)). OutMPI is its time outside of MPI, in regions or not (POP's OutMPI(p,1)).
	// Outside is its time in MPI outside of regions.
	Parallel, OutMPI, Outside int64
	// InTeams and InSerial are the times of all initial threads, each times the number of its
	// threads. InTeams is the time in parallel regions. InSerial is the time outside of regions and
	// of MPI. UnknownIn is the part of Unknown in parallel regions.
	InTeams, InSerial, UnknownIn int64
	// MaxUseful is the largest useful time of a thread. If a thread lived for a part of Wall only,
	// its useful time is scaled to all of Wall.
	MaxUseful int64
	// Communication is the time of all threads in calls that communicate or wait for communication
	// (see mpi.Operation.Communicates). Calls is the number of MPI calls of any kind.
	Communication int64
	Calls         uint64
	UsesMPI       bool
	// SingleMPI is the part of MPI in parallel regions in which one thread was in SINGLE.
	// PrimaryMPI is the part in which the primary thread was in MASTER or MASKED: others may wait.
	SingleMPI, PrimaryMPI int64
	// Nested: parallel regions were started inside of others. The figures of the process have, of
	// an inner team, the primary thread and the threads whose rows are not in the outer team. Other
	// threads of the inner team share rows with threads of the outer team. They count for the inner
	// region only.
	Nested bool
	// Estimated: figures were extrapolated, because constructs were not observed all of the time.
	Estimated bool
	// ProbeTime is the time of probes that is still in the figures; 0: none, or it is not known.
	ProbeTime int64
	// Hidden says why nothing can be told of the times, nil: they can be told.
	Hidden *analysis.Hidden
	TALP   TALP
	// Counters are the counts of performance counters in outermost parallel regions, of all threads
	// and by name. Counts that are not known of all executions are left out.
	Counters map[string]int64
}

// Figures are those of a region of any construct.
type Figures struct {
	// Own are the losses of the region itself, without the regions inside it.
	Own Parts
	// CorelessIn is the part of Own[NoCore] in parallel regions.
	CorelessIn int64
	// Team is set for parallel regions. It has, by part, the time of all threads of the team. All
	// constructs inside the region are in it, except those of nested parallel regions.
	Team    Parts
	Wall    int64 // of the threads that started the teams
	Threads int   // of the largest team
	Starts  uint64
}

// Add adds the figures of the same region in another process.
func (r *Figures) Add(o *Figures) {
	r.Own.Add(&o.Own)
	r.CorelessIn += o.CorelessIn
	r.Team.Add(&o.Team)
	r.Wall += o.Wall
	r.Threads = max(r.Threads, o.Threads)
	r.Starts += o.Starts
}

// Of returns the figures of a process and of its regions, by their index in p.Regions. It needs the
// regions of single MPI calls: call it before profile.Hide removes them. Time without a core is a
// loss, except in the process's TALP figures.
func Of(p *profile.Profile) (Process, []Figures) {
	w := walk(p)
	m := &p.Meta
	if len(m.Args) > 0 {
		w.Args = strings.Join(m.Args[1:], " ")
	}
	w.count()
	w.Program, w.Host, w.PID, w.Estimated = m.Program, m.Host, m.PID, len(m.Observations) > 0
	w.Ended = m.Start.Add(time.Duration(m.Duration + m.TakenOut + m.Off.T + m.Stopped.Total))
	if !m.Adjusted {
		w.ProbeTime = analysis.ProbeCost(p)
	}
	if w.StartEnd == 0 {
		w.Lived = analysis.ThreadTime(p)
	}
	if m.MPI != nil {
		w.UsesMPI, w.Rank = true, max(0, m.MPI.Rank)
	}
	w.TALP, w.Hidden = talpOf(walk(blind(p))), analysis.HiddenByProbes(p)
	return w.Process, w.regions
}

// walker walks the nodes of a profile.
type walker struct {
	p *profile.Profile
	Process
	regions []Figures
	classes [][]analysis.Classes // by node
	paths   analysis.Paths
	ends    analysis.StartEnd
	roots   map[int]*initial
	useful  []int64 // by thread
	inner   map[teamThread]*innerTime
	// barriers and tasks are for TALP alone: waits at barriers and for tasks, which are a part of
	// Synch, and the number of created tasks.
	barriers int64
	tasks    uint64
	// The part of NoCore outside of parallel regions.
	serialNoCore int64
}

// initial holds the figures of an initial thread and its workers. Initial threads that share a row
// have one initial together: its times are sums over these threads.
type initial struct {
	threads  int   // rows, and threads without a number
	lived    int64 // without the start and end of MPI
	parallel int64 // of the initial thread
	workers  int64 // of the others, in parallel regions
	outside  int64 // the initial thread in MPI outside of regions, with a core or without
	teamIdle int64 // of the others, in parallel regions
	idle     int64 // of the others, outside of them
}

func walk(p *profile.Profile) *walker {
	w := &walker{p: p, regions: make([]Figures, len(p.Regions)), paths: analysis.NewPaths(p), ends: analysis.MPIStartEnd(p),
		roots: map[int]*initial{}, useful: make([]int64, len(p.Threads)), inner: map[teamThread]*innerTime{}}
	w.Threads = analysis.Threads(p)
	w.lives()
	for i := range p.Nodes {
		w.classes = append(w.classes, analysis.Classify(p, i))
	}
	for i := 1; i < len(p.Nodes); i++ {
		w.node(i)
	}
	w.root()
	w.teams()
	w.idle()
	w.primary()
	w.alone()
	return w
}

// lives notes the initial threads. An initial thread's known life time is its time outside of
// regions (analysis.SerialTimes); node adds the time in regions.
func (w *walker) lives() {
	for _, s := range analysis.SerialTimes(w.p) {
		w.roots[s.Root] = &initial{lived: s.Time}
	}
	numbered := map[int]bool{}
	for _, t := range w.p.Threads {
		if t.Num != profile.UnknownNum {
			for _, id := range t.TIDs {
				numbered[id] = true
			}
		}
	}
	for i, t := range w.p.Threads {
		r := w.roots[t.Root]
		if t.Num != profile.UnknownNum {
			r.threads++
		} else {
			for _, id := range t.TIDs {
				if !numbered[id] {
					r.threads++
				}
			}
		}
		if t.Num == 0 {
			r.lived -= w.ends.All[i]
		}
	}
}

// team returns the outermost parallel region around a node, itself included; -1: none.
func (w *walker) team(node int) (outermost int) {
	outermost = w.paths.Team(node)
	for outermost >= 0 {
		above := w.paths.Team(w.p.Nodes[outermost].Parent)
		if above < 0 {
			break
		}
		w.Nested = true
		outermost = above
	}
	return outermost
}

// node charges the losses of a node to its region, to its team's region and to the process.
func (w *walker) node(i int) {
	n := &w.p.Nodes[i]
	region := &w.p.Regions[n.Region]
	figures, team, outermost := &w.regions[n.Region], w.paths.Team(i), w.team(i)
	if n.Parent == 0 {
		for j := range n.Stats {
			if t := w.p.Threads[n.Stats[j].Thread]; t.Num == 0 {
				w.roots[t.Root].lived += n.Stats[j].Exec.T
			}
		}
	}
	if region.Construct == event.MPI && !analysis.StartsEnds(region) {
		if op, ok := mpi.ParseOp(region.Name); ok && op.Info().Communicates {
			for j := range n.Stats {
				w.Communication += n.Stats[j].Exec.T
			}
		}
	}
	if team < 0 && analysis.StartsEnds(region) {
		return
	}
	for j, c := range w.classes[i] {
		thread := n.Stats[j].Thread
		t := w.p.Threads[thread]
		switch {
		case team < 0 && t.Num != 0: // it is not known where the thread was
			continue
		case team < 0:
			figures.Own.chargeSerial(&c)
			w.Parts.chargeSerial(&c)
			w.serialNoCore += c.NoCore
			w.useful[thread] -= c.Sum()
			w.roots[t.Root].outside += c.MPI
			if region.Construct == event.MPI {
				w.roots[t.Root].outside += c.NoCore
			}
			continue
		case team == outermost || t.Num == 0:
			// An inner team's primary thread is one of the outer team.
			w.charge(thread, &c, waitsForTeam(region.Construct, &c))
		case w.apart(team, thread):
			in := w.innerOf(outermost, thread)
			in.classes.Add(c)
			in.barriers += waitsForTeam(region.Construct, &c)
		}
		figures.Own.charge(&c)
		figures.CorelessIn += c.NoCore
		w.regions[w.p.Nodes[team].Region].Team.charge(&c)
	}
	if region.Construct == event.Task || region.Construct == event.UntiedTask {
		w.tasks += analysis.Sum(n).Exec.C
	}
}

// root charges the times that the root node itself holds. These are MPI calls without regions of
// their own, because such regions were taken out, and the time without a core outside of all
// regions.
func (w *walker) root() {
	n := &w.p.Nodes[0]
	noCore := make([]int64, len(w.p.Threads)) // in regions
	for i := 1; i < len(w.p.Nodes); i++ {
		for j, c := range w.classes[i] {
			noCore[w.p.Nodes[i].Stats[j].Thread] += c.NoCore
		}
	}
	for j, c := range w.classes[0] {
		s := &n.Stats[j]
		t := w.p.Threads[s.Thread]
		if s.MPI != nil && s.MPI.Calls > 0 {
			w.Callers++
			w.Calls += s.MPI.Calls
		}
		if t.Num != 0 {
			continue
		}
		c.NoCore = 0
		if s.NoCore != nil {
			c.NoCore = max(0, s.NoCore.Exec-noCore[s.Thread])
		}
		w.Parts.chargeSerial(&c)
		w.serialNoCore += c.NoCore
		w.useful[s.Thread] -= c.Sum()
		w.roots[t.Root].outside += c.MPI
	}
}

// teams adds the time of teams. The part of this time that is in no class of overhead is work.
func (w *walker) teams() {
	var all int64
	for i := 1; i < len(w.p.Nodes); i++ {
		n := &w.p.Nodes[i]
		if w.paths.Team(i) != i {
			continue
		}
		outermost := w.team(i)
		r := &w.regions[n.Region]
		size := map[int]int{} // by Root
		for j := range n.Stats {
			s := &n.Stats[j]
			t := w.p.Threads[s.Thread]
			if s.Exec.C > 0 || t.Num >= 0 { // row ? may be empty
				size[t.Root]++
			}
			r.Threads = max(r.Threads, size[t.Root])
			if !w.paths.Within(i, s.Thread) {
				r.Team[Work] += s.Exec.T
			}
			if t.Num == 0 {
				r.Wall += s.Exec.T
				r.Starts += s.Exec.C
			}
			switch {
			case outermost != i && t.Num != 0 && w.apart(i, s.Thread):
				w.innerOf(outermost, s.Thread).time += s.Exec.T
			case outermost != i:
			case t.Num == 0:
				w.roots[t.Root].parallel += s.Exec.T
				fallthrough
			default:
				all += w.spend(s.Thread, s.Exec.T)
			}
		}
	}
	all += w.innerTeams()
	for i := range w.regions {
		t := &w.regions[i].Team
		work := t[Work]
		t[Work] = 0
		t[Work] = max(0, work-t.Sum())
	}
	w.Parts[Work] = all + w.serialNoCore
	for _, of := range []Part{Synch, Imbal, Limpar, Mgmt, MPI, NoCore} {
		w.Parts[Work] -= w.Parts[of]
	}
}

// spend adds a thread's time in parallel regions, and returns it.
func (w *walker) spend(thread int, t int64) int64 {
	w.useful[thread] += t
	if th := w.p.Threads[thread]; th.Num != 0 {
		w.roots[th.Root].workers += t
	}
	return t
}

// count adds the counters of outermost parallel regions.
func (w *walker) count() {
	w.Counters = map[string]int64{}
	for i := 1; i < len(w.p.Nodes); i++ {
		if w.paths.Team(i) != i || w.team(i) != i {
			continue
		}
		sum := analysis.Sum(&w.p.Nodes[i])
		if sum.Uncounted > 0 || len(sum.Counters) != len(w.p.Meta.Counters) {
			w.Counters = nil
			return
		}
		for j, c := range w.p.Meta.Counters {
			if c.Failed == "" {
				w.Counters[c.Name] += sum.Counters[j]
			}
		}
	}
}

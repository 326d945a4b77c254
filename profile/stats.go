package profile

// Sum is a sum of times, and the number of executions or phases that it sums.
type Sum struct {
	T int64  `json:"t,omitempty"` // ns
	C uint64 `json:"c,omitempty"`
}

// Add adds another sum.
func (s *Sum) Add(o Sum) { s.T += o.T; s.C += o.C }

// ThreadStats are one thread's figures at one node, by ompP's pseudo regions
// (Fürlinger and Gerndt, ompP, Fig. 2).
//
//	Exec     main/seq: whole construct         execT, execC
//	Enter    waiting to get in                 enterT; startupT of PARALLEL
//	Body     inner part                        bodyT, sectT/sectC, singleT/singleC
//	Barrier  implicit barrier                  exitBarT
//	Exit     leaving                           exitT; shutdwnT of PARALLEL
//
// For every construct Exec.T = Enter.T + Body.T + Barrier.T + Exit.T, with two exceptions. In
// SECTIONS the rest is mgmtT. In SINGLE, threads that do not execute the body have none. For
// TASKEXEC and UTASKEXEC, Enter is the queueing delay from creation to execution, which is no part
// of Exec. Body.C counts the parts in which a suspended task was executed. Exec.T leaves out what
// the thread did while the task was suspended for others.
type ThreadStats struct {
	Thread  int `json:"thread"` // index in Profile.Threads
	Exec    Sum `json:"exec"`
	Enter   Sum `json:"enter,omitzero"`
	Body    Sum `json:"body,omitzero"`
	Barrier Sum `json:"barrier,omitzero"`
	Exit    Sum `json:"exit,omitzero"`
	// Child is the time that this thread spent in child regions entered from this one (ns):
	// exclusive = inclusive - Child.
	Child int64 `json:"child,omitempty"`
	// Task is the time spent executing tasks while waiting here (ns), and Tasks is their
	// number. The wait is the barrier, or a TASKWAIT, TASKGROUP, TASKLOOP or TASKYIELD, whose
	// other times leave Task out. Outside of tasks, it is all the time until the wait goes on.
	// Inside a task, it is the own time of the executed tasks, without the tasks that these
	// executed in turn. So the times add up.
	Task  int64  `json:"task,omitempty"`
	Tasks uint64 `json:"tasks,omitempty"`
	// MPI holds the thread's MPI calls while it was in this region, inner regions included
	// (Fürlinger and Moore, Figs. 2 and 3); nil if there were none. For a region of construct
	// MPI, it holds the calls of that region. For the root, it holds all MPI calls of the
	// thread.
	MPI *MPIStats `json:"mpi,omitempty"`
	// Traffic holds the partners and the sizes of messages, for regions of construct MPI only; nil
	// if there were none.
	Traffic *Traffic `json:"traffic,omitempty"`
	// Ranks holds the waits between ranks, for regions of construct MPI only; nil if they are not
	// known.
	Ranks *RankWaits `json:"-"`
	// Calls is the part of MPI that was called directly from this region, and whose own regions
	// have been taken out (see Hide); nil if there are none.
	Calls *MPIStats `json:"calls,omitempty"`
	// Counters are the counts of the performance counters for this thread in Exec, inclusive,
	// in the order of Meta.Counters; nil if none were read. The counts of a counter that failed
	// mean nothing. ChildCounters is the part of them in child regions: exclusive = Counters -
	// ChildCounters.
	Counters      []int64 `json:"counters,omitempty"`
	ChildCounters []int64 `json:"child_counters,omitempty"`
	// Uncounted is the number of executions whose counts are not known, or known only in part.
	// Counters include the known parts.
	Uncounted uint64 `json:"uncounted,omitempty"`
	// Cost is the part of these times that the measurement's own probes took; nil if there is
	// none, or if it is not known.
	Cost *Cost `json:"cost,omitempty"`
	// NoCore is the part of these times in which the thread was ready to run and had no core;
	// nil if there is none, or if it is not known. The root's Exec is all such time that the
	// thread reported, in regions or not.
	NoCore *Cost `json:"no_core,omitempty"`
	// Waits says how long the thread waited for others here, and others for it; nil: not at all,
	// or an older version recorded the profile.
	Waits *Waits `json:"waits,omitempty"`
	// Sched says what these waits were made of; nil: not known, which takes --sched.
	Sched *Sched `json:"sched,omitempty"`
	// Estimate is the part of the above that was extrapolated, because the construct was not
	// observed for some of the time; nil: nothing.
	Estimate *Estimate `json:"estimate,omitempty"`
	// Ends says which of the above hold derived ends, and how exact these are; nil: none.
	Ends *Ends `json:"ends,omitempty"`
	// TakenOut is the time that analysis.Adjust took out of Exec.T, ns. Never recorded.
	TakenOut int64 `json:"-"`
}

// Add adds another thread's, or another place's, figures. Nothing that o points to changes.
func (s *ThreadStats) Add(o *ThreadStats) {
	for p, part := range s.Parts() {
		part.Add(*o.Parts()[p])
	}
	s.Child += o.Child
	s.Task += o.Task
	s.Tasks += o.Tasks
	s.MPI = s.MPI.Plus(o.MPI)
	s.Calls = s.Calls.Plus(o.Calls)
	s.Traffic = s.Traffic.Plus(o.Traffic)
	s.Ranks = s.Ranks.Plus(o.Ranks)
	s.Estimate = s.Estimate.Plus(o.Estimate)
	s.Ends = s.Ends.Plus(o.Ends)
	s.Cost = s.Cost.Plus(o.Cost)
	s.NoCore = s.NoCore.Plus(o.NoCore)
	s.Waits = s.Waits.Plus(o.Waits)
	s.Sched = s.Sched.Plus(o.Sched)
	s.addCounters(o)
	s.TakenOut += o.TakenOut
}

// AddCost adds to the time that probes took.
func (s *ThreadStats) AddCost(c Cost) { addTo(&s.Cost, &c) }

// AddNoCore adds to the time without a core.
func (s *ThreadStats) AddNoCore(c Cost) { addTo(&s.NoCore, &c) }

// UncoverCost turns the costs of a child region into the region's own.
func (s *ThreadStats) UncoverCost(child *ThreadStats) {
	s.Cost = s.Cost.uncover(child.Cost)
	s.NoCore = s.NoCore.uncover(child.NoCore)
}

// TakeBodyCost takes the body's cost from a construct in the region: the compiler had split one
// directive into the two.
func (s *ThreadStats) TakeBodyCost(child *ThreadStats) {
	s.Cost = s.Cost.takeBody(child.Cost)
	s.NoCore = s.NoCore.takeBody(child.NoCore)
}

// UndivideCost moves all of the costs to the body.
func (s *ThreadStats) UndivideCost() {
	s.Cost, s.NoCore = s.Cost.undivide(), s.NoCore.undivide()
}

// addCounters adds the counters of another thread, or of another place.
func (s *ThreadStats) addCounters(o *ThreadStats) {
	s.Counters = SumCounters(s.Counters, o.Counters)
	s.ChildCounters = SumCounters(s.ChildCounters, o.ChildCounters)
	s.Uncounted += o.Uncounted
}

// UncoverCounters turns the counts of a child region into the region's own.
func (s *ThreadStats) UncoverCounters(child *ThreadStats) {
	s.ChildCounters = SumCounters(s.ChildCounters, child.ChildCounters)
	less := make([]int64, len(child.Counters))
	for i, v := range child.Counters {
		less[i] = -v
	}
	s.ChildCounters = SumCounters(s.ChildCounters, less)
}

// AddMPI adds to a thread's MPI figures at a node.
func (s *ThreadStats) AddMPI(o *MPIStats) {
	if s.MPI == nil {
		s.MPI = &MPIStats{}
	}
	s.MPI.Add(o)
}

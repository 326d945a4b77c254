package severity

import (
	"slices"

	"ompp-attach/profile"
)

// The trees of properties on waits of threads, beside Time. Their figures come from profile.Waits.
const (
	Latecomer = "omp_latecomer"
	LateFrom  = "omp_late_from"
	Delay     = "omp_delay"
	TimesLast = "omp_times_last"
	Arrivals  = "omp_arrivals"
	LateCore  = "omp_late_no_core"
	DelayFar  = "omp_delay_far"
	Indirect  = "omp_wait_indirect"
	Passed    = "omp_wait_passed"
	Held      = "omp_held"
	NoHolder  = "omp_no_holder"
	NoTask    = "omp_no_task"
	LateTask  = "omp_late_task"
	ForTask   = "omp_for_task"
	OfTask    = "omp_of_task"
	Taskwait  = "omp_taskwait"
	dropped   = "omp_arrivals_dropped"
)

// The parts of a barrier's time, and of a lock's: the ends of their IDs.
const (
	Waiting    = ".wait"
	completing = ".completion"
	Contended  = ".contention" // others held the lock
	handed     = ".handover"
	NotHeld    = ".no_holder" // the holder is not known
)

// withParts adds the two parts of each kind of barrier, and the three of criticals and locks.
func withParts(properties []Property) (out []Property) {
	for _, p := range properties {
		out = append(out, p)
		part := Property{Parent: p.ID, Unit: Seconds, Source: scalasca}
		if p.ID == "omp_critical" || p.ID == "omp_lock" {
			part.ID, part.Name = p.ID+Contended, "Contention"
			part.Description, part.Formula = "Other threads held the lock.", "time before the lock in which others held it"
			out = append(out, part)
			part.ID, part.Name = p.ID+handed, "Handing over"
			part.Description, part.Formula = "Nobody held the lock: it was handed over.", "time before the lock in which nobody held it"
			out = append(out, part)
			part.ID, part.Name, part.Source = p.ID+NotHeld, "Holder not known", own
			part.Description, part.Formula = "The record does not tell who held the lock, for example where the kernel side added up executions of a lock routine.",
				"time before the lock of which the holder is not known"
			out = append(out, part)
		}
		if p.Gain != Balance {
			continue
		}
		part.ID, part.Name = p.ID+Waiting, "Waiting"
		part.Description, part.Formula = "Waiting for the last thread of the team.", "last arrival - own arrival, without tasks"
		out = append(out, part)
		part.ID, part.Name = p.ID+completing, "Completion"
		part.Description, part.Formula = "Leaving after the last thread of the team has come.", "own leaving - last arrival, without tasks"
		out = append(out, part)
	}
	return out
}

var causeTrees = []Property{
	{ID: Latecomer, Name: "Waits for a latecomer", Unit: Seconds, Source: own,
		Description: "How long others waited for the thread at the barrier. It is a part of their time, not of its own.",
		Formula:     "sum of the others' waits in instances in which the thread came last"},
	{ID: LateFrom, Name: "Waits by where the latecomer came from", Unit: Seconds, Source: own,
		Description: "The same waits, at the call path from which the late thread came.",
		Formula:     "sum of the others' waits in instances in which the thread came last"},
	{ID: Delay, Name: "Delay", Unit: Seconds, Source: scalasca,
		Description: "The part of others' waits that is due to the time that the late thread spent at the call path beyond the waiting thread's.",
		Formula:     "max(0, time of the late thread - time of the waiting one) since they were last together, scaled to the wait"},
	{ID: LateCore, Name: "Late for want of a core", Unit: Seconds, Source: own,
		Description: "The part of others' waits at barriers that is due to the time in which the late thread was ready to run, but had no core.",
		Formula: "max(0, time without a core of the late thread - of the waiting one) since they were last together, at most the delay, " +
			"scaled to the wait"},
	{ID: DelayFar, Name: "Long-term delay", Unit: Seconds, Source: scalasca,
		Description: "The part of others' waits at barriers that is due to this thread: the late thread waited for a lock that it held, or for its task.",
		Formula:     "waits passed on x share of the holder or task in the late thread's waiting"},
	{ID: Indirect, Name: "Indirect waiting", Unit: Seconds, Source: scalasca,
		Description: "The part of a thread's wait at a barrier that is due to the late thread's own waiting. The rest is direct.",
		Formula:     "wait x waiting of the late thread / (delay + waiting of the late thread), at most that waiting"},
	{ID: Passed, Name: "Propagating waiting", Unit: Seconds, Source: scalasca,
		Description: "The part of others' waits at barriers that is due to the late thread's own waits here.",
		Formula:     "sum of the others' indirect waiting, by where the late thread waited"},
	{ID: CriticalPath, Name: "Critical path", Unit: Seconds, Source: scalasca,
		Description: "The time that decides when a process ends. Outside of teams, it is the initial thread's. In a team, it is the time of the thread for " +
			"which the others waited at each barrier. Waits of that thread for a lock count for the lock's holder, and waits for a task for the task. " +
			"While tasks are left after the last arrival, it is the time in tasks of the thread that executes one last. Several initial threads are added up.",
		Formula: "time since the barrier before, of the last thread to arrive"},
	{ID: CriticalRest, Parent: CriticalPath, Name: "Barriers, joins, or not known", Unit: Seconds, Source: own,
		Description: "The rest of a parallel region's wall time. It goes to completing barriers, waiting there for tasks, and ending the team. " +
			"Barriers without a known last thread are in it, and regions beyond 255 between two barriers.",
		Formula: "wall time of the region - critical path in it"},
	{ID: TimesLast, Name: "Times a thread came last", Unit: Count, Source: own,
		Description: "Instances of the barrier in which the thread came last.", Formula: "number of instances"},
	{ID: Arrivals, Name: "Arrivals at barriers", Unit: Count, Source: own,
		Description: "Arrivals of which it is known how long the thread waited.", Formula: "number of arrivals"},
	{ID: Held, Name: "Waits for a lock's holder", Unit: Seconds, Source: own,
		Description: "How long others waited for a critical section or lock while the thread held it, at the path where it held it.",
		Formula:     "contention of the others"},
	{ID: NoTask, Name: "Waits for tasks that come late", Unit: Seconds, Source: own, Gain: Removal, Reported: true,
		Description: "Threads in a barrier or a wait for tasks have nothing to do until a task is created, which they then execute. " +
			"The time is a part of the barrier's or wait's, with what probes took and time without a core.",
		Formula:   "max(0, creation of the task - max(own arrival, end of own task before))",
		Diagnosis: "See the construct and the thread that created these tasks, and what that thread did in between.",
		Helps:     "Create tasks earlier, on several threads, or by a taskloop; let tasks create tasks."},
	{ID: LateTask, Name: "Tasks created late", Unit: Seconds, Source: own,
		Description: "The same waits, at the construct and the thread that created the tasks. They are no part of that thread's time.",
		Formula:     "sum of the waits of the threads that executed the tasks in a barrier or wait"},
	{ID: ForTask, Name: "Waits for another thread's task", Unit: Seconds, Source: own,
		Description: "Threads in a wait for tasks have none to execute until another thread has executed the last task that they wait for. Threads in a " +
			"barrier have none until another thread has executed the team's last task. The time is a part of the wait's or barrier's, with what probes " +
			"took and time without a core.",
		Formula: "max(0, end of the last task - max(its begin, own arrival, end of own task before)); in barriers after the last arrival"},
	{ID: OfTask, Name: "Waits for a thread's tasks", Unit: Seconds, Source: own,
		Description: "The same waits, at the task and at the thread that executed it. They are no part of that thread's time.",
		Formula:     "sum of the waits of other threads for the task"},
	{ID: NoHolder, Name: "Lock executions without a known holder", Unit: Count, Source: own,
		Description: "Executions of critical sections and locks that waited, as far as is known, for a holder that is not known. Where they were added up, all of them count.",
		Formula:     "number of executions"},
	{ID: dropped, Name: "Arrivals not matched", Unit: Count, Source: own,
		Description: "Arrivals of which it is not known who came last.", Formula: "number of arrivals"},
}

// wait adds the time t of a wait (ns), and divides that of a barrier or lock into its parts. Time
// without a core is no part of t, so all parts are reduced alike.
func (w *walker) wait(node int, add func(string, int64), property string, s *profile.ThreadStats, t int64) {
	x := s.Waits
	if x == nil || t <= 0 {
		add(property, t)
		return
	}
	part := func(first, second string, a, b int64, mark Mark) {
		if _, divided := w.byID[property+first]; !divided {
			return
		}
		a, b = max(0, a), max(0, b)
		if both := a + b; both > t {
			if both > t+t/10 {
				mark |= Shortened
			}
			a = int64(float64(t) * (float64(a) / float64(both)))
			b = t - a
		}
		add(property+first, a)
		add(property+second, b)
		w.mark(property+first, node, s.Thread, mark)
		t -= a + b
	}
	derived := Mark(0)
	if x.Shared > 0 {
		derived = Derived
	}
	part(Waiting, completing, x.Wait.T, x.Done.T, 0)
	part(Contended, handed, x.Contended.T, x.Handed, derived)
	if _, divided := w.byID[property+NotHeld]; divided {
		unknown := min(t, max(0, x.NoHolder.T))
		add(property+NotHeld, unknown)
		t -= unknown
	}
	add(property, t)
}

// causes adds the figures of the trees about waits of threads.
func causes(add func(string, int64), x *profile.Waits) {
	if x == nil {
		return
	}
	add(Latecomer, max(0, x.Last.T))
	add(LateFrom, max(0, x.Late.T))
	add(Delay, max(0, x.Delay))
	add(LateCore, max(0, x.NoCore))
	add(DelayFar, max(0, x.Far))
	add(Indirect, max(0, x.Indirect))
	add(Passed, max(0, x.Passed))
	add(CriticalPath, max(0, x.OnPath))
	add(TimesLast, int64(x.Last.C))
	add(Arrivals, int64(x.Wait.C))
	add(dropped, int64(x.Dropped))
	add(Held, max(0, x.Held.T))
	add(NoHolder, int64(x.NoHolder.C))
	add(NoTask, max(0, x.NoTask.T))
	add(LateTask, max(0, x.LateTask.T))
	add(ForTask, max(0, x.ForTask.T))
	add(OfTask, max(0, x.OfTask.T))
}

// Cause is a thread for which others waited, and the path at which it made them wait.
type Cause struct {
	Thread int   // index in Cube.Threads
	Path   int   // index in Cube.Paths: the barrier, or the path from which the thread came
	Time   int64 // of the others' waits, ns
	Times  int64 // how often the thread came last; 0: not filled in
}

// LastAt returns the threads for which others waited at a path, the most severe first.
func (c *Cube) LastAt(path int) (out []Cause) {
	times := map[int]int64{}
	for _, v := range c.Of(c.Property(TimesLast)) {
		if v.Path == path {
			times[v.Thread] = v.V
		}
	}
	for _, v := range c.Of(c.Property(Latecomer)) {
		if v.Path == path {
			out = append(out, Cause{v.Thread, path, v.V, times[v.Thread]})
		}
	}
	return worst(out)
}

// CameFrom returns the call paths from which a thread came last to the barriers of the team around
// a path, the most severe first. The profile has these paths by team, not by barrier.
func (c *Cube) CameFrom(path, thread int) (out []Cause) {
	return slices.DeleteFunc(c.inTeam(path, LateFrom), func(x Cause) bool { return x.Thread != thread })
}

// Creators returns the threads and constructs that created tasks late, the most severe first.
// Threads of the team around a path waited for them in a barrier.
func (c *Cube) Creators(path int) (out []Cause) { return c.inTeam(path, LateTask) }

// Executors returns the threads and tasks for which threads of the team around a path waited, the
// most severe first. They waited in a wait for tasks or in a barrier.
func (c *Cube) Executors(path int) (out []Cause) { return c.inTeam(path, OfTask) }

// ForTasks returns how long threads waited for tasks of other threads at a path (ns).
func (c *Cube) ForTasks(path int) (ns int64) {
	for _, v := range c.Of(c.Property(ForTask)) {
		if v.Path == path {
			ns += v.V
		}
	}
	return ns
}

// inTeam returns the values of a property in the team around a path, the most severe first.
func (c *Cube) inTeam(path int, property string) (out []Cause) {
	team := c.team(path)
	for _, v := range c.Of(c.Property(property)) {
		if c.team(v.Path) == team {
			out = append(out, Cause{v.Thread, v.Path, v.V, 0})
		}
	}
	return worst(out)
}

// team returns the innermost path that starts a team, from the given one outwards; -1: none.
func (c *Cube) team(path int) int {
	for ; path > 0; path = c.Paths[path].Parent {
		if c.Regions[c.Paths[path].Region].Construct.IsParallel() {
			return path
		}
	}
	return -1
}

// Holders returns the threads for which others waited, the most severe first. The threads held the
// critical section or lock at a path, or at paths below it.
func (c *Cube) Holders(path int) (out []Cause) {
	for _, v := range c.Of(c.Property(Held)) {
		for at := v.Path; at >= path; at = c.Paths[at].Parent {
			if at == path {
				out = append(out, Cause{v.Thread, v.Path, v.V, 0})
			}
		}
	}
	return worst(out)
}

// WithoutHolder returns the number of executions of the critical section or lock at a path that
// waited for a holder who is not known.
func (c *Cube) WithoutHolder(path int) (n int64) {
	for _, v := range c.Of(c.Property(NoHolder)) {
		if v.Path == path {
			n += v.V
		}
	}
	return n
}

// Held returns the paths at which threads held locks while others waited for these, the most severe
// first.
func (c *Cube) Held() (out []Cause) { return c.causes(Held) }

// Delays returns the paths at which late threads spent more time than the threads that waited for
// them, the most severe first.
func (c *Cube) Delays() (out []Cause) { return c.causes(Delay) }

// FarDelays returns the paths at which threads held locks, or executed tasks, for which other
// threads waited, and then came late to a barrier. The most severe is first.
func (c *Cube) FarDelays() (out []Cause) { return c.causes(DelayFar) }

// LateCores returns the paths from which threads came late because they had no core, the most
// severe first.
func (c *Cube) LateCores() (out []Cause) { return c.causes(LateCore) }

func (c *Cube) causes(property string) (out []Cause) {
	for _, v := range c.Of(c.Property(property)) {
		out = append(out, Cause{v.Thread, v.Path, v.V, 0})
	}
	return worst(out)
}

func worst(out []Cause) []Cause {
	slices.SortStableFunc(out, func(a, b Cause) int { return int(min(1, max(-1, b.Time-a.Time))) })
	return out
}

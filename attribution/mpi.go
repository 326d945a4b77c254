package attribution

import (
	"fmt"

	"ompp-attach/attribution/ledger"
	"ompp-attach/attribution/place"
	"ompp-attach/attribution/tree"
	"ompp-attach/event"
	"ompp-attach/mpi"
	"ompp-attach/profile"
)

// MPI. A call is reported once, when it returns. Its thread has the same regions open as when the
// call began. ompP reads a thread's MPI counters when the thread enters a region and when it leaves
// it (Fürlinger and Moore, Figs. 2 and 3). Adding each call to every region whose clock runs gives
// the same figures. It is right also for regions whose end is never seen.

const (
	noteCallCutOff = "a call was under way when its thread or the measurement ended, or was switched off: it is counted, with its time until then and its whole volume"
	noteStarted    = "bytes, sends, receives and collectives are those of the persistent operations that are started here"
)

// calls applies MPI calls.
type calls struct {
	*stacks
	resumed       uint64 // when measurement was last switched on again
	callers       int    // number of threads that called MPI before they started a team
	sharedCallers int    // root number of the row that all further such threads share; 0: none
}

// mpi charges a call to the regions around it, and to a leaf region of its own: the operation at
// the place of the call.
func (ca *calls) mpi(t *thread, ev *event.Event) {
	c := ev.MPI
	if c == nil {
		return
	}
	ca.mend(t, event.MPI, ev)
	ca.caller(t)
	s := statsOf(c)
	if c.Flags&mpi.Started != 0 { // the MPI_Start that started it returns next
		t.started.at(ev.Site, &s)
		s.Sized = 0
		ca.chargeMPI(t, &s)
		return
	}
	// The task's own clock: no task begins or ends in a call.
	if end := ev.Time + t.suspended; true {
		from := c.Start
		if ca.resumed <= end { // measurement may have been off meanwhile
			from = max(from, ca.resumed)
		}
		s.T = ledger.Span(from, end)
		s.Cost = min(ca.ledger.InsideCall(ev), s.T) // the cost is a mean, and a call may be shorter
		s.NoCore, t.waitedInCall = min(t.waitedInCall, s.T), 0
	}

	parent, row := ca.tree.Root, t.row
	f := t.top()
	if f != nil {
		parent, row = f.node, f.row
	}
	leaf := ca.tree.Child(parent, place.Key{Kind: place.Kind{Construct: event.MPI}, Fn: uint64(c.Op), Site: ev.Site})
	own := leaf.Stat(row)
	own.Exec.Add(profile.Span{T: s.T, C: s.Calls})
	own.Body.Add(profile.Span{T: s.T, C: s.Calls})
	own.AddCost(profile.Cost{Exec: s.Cost, Body: s.Cost})
	own.AddNoCore(profile.Cost{Exec: s.NoCore, Body: s.NoCore})
	own.AddMPI(&s)
	ca.ledger.CountUnknown(own)
	if started := t.started.take(ev); started != nil {
		own.AddMPI(started)
		leaf.Note(noteStarted)
	}
	if ev.Edge == event.Enter {
		leaf.Note(noteCallCutOff)
		ca.partial++
	}

	s.Sized = 0 // smallest and largest volumes are kept at the leaf only
	ca.chargeMPI(t, &s)
	if f != nil {
		f.holdsCall(&s)
	}
}

// started holds the persistent operations that a thread's MPI_Start or MPI_Startall has started.
// They are reported before the call itself, with the same call site.
type started struct {
	site  uint64
	stats *profile.MPIStats
}

func (q *started) at(site uint64, s *profile.MPIStats) {
	if q.stats == nil || q.site != site {
		q.site, q.stats = site, &profile.MPIStats{}
	}
	q.stats.Add(s)
}

// take returns what a call has started, nil if the call starts no operations.
func (q *started) take(ev *event.Event) *profile.MPIStats {
	if ev.MPI.Op.Info().Kind != mpi.Start {
		return nil
	}
	s := q.stats
	q.stats = nil
	if q.site != ev.Site {
		return nil
	}
	return s
}

// manyCallers bounds the rows of threads that call MPI and start no team: some programs start
// threads without end.
const manyCallers = 128

// caller gives a thread that calls MPI its row.
func (ca *calls) caller(t *thread) {
	if t.callsMPI {
		ca.initial(t)
		return
	}
	t.callsMPI = true
	if !t.known && len(t.stack) == 0 && t.tid != ca.pid && !t.initial {
		if ca.callers++; ca.callers > manyCallers {
			ca.roots = max(ca.roots, 1)
			if ca.sharedCallers == 0 {
				ca.sharedCallers = ca.roots
				ca.roots++
			}
			t.row, t.known = ca.row(ca.sharedCallers, 0), true
		}
	}
	ca.initial(t)
	ca.bear(t)
}

// sharedRow returns the warning that names the shared row, if there is one.
func (ca *calls) sharedRow() []string {
	if ca.sharedCallers == 0 {
		return nil
	}
	return []string{fmt.Sprintf("More than %d threads that start no teams called MPI: all but the first of them share one row of the tables, %d:0.", manyCallers, ca.sharedCallers)}
}

// statsOf returns the figures of a call, except its time.
func statsOf(c *event.MPICall) (s profile.MPIStats) {
	op, started := c.Op.Info(), c.Flags&mpi.Started != 0
	if !started {
		s.Calls = 1
	}
	s.Sends, s.Recvs, s.Colls = c.Op.Counted(&c.Args)
	switch {
	case op.Kind == mpi.Time || op.Kind == mpi.Start:
	case op.Persistent && !started: // preparing a persistent operation moves no data
	case c.Flags&mpi.UnknownVolume != 0:
		s.Unknown = 1
	default:
		s.Sized = 1
		for by := range mpi.NumAccountings {
			v := c.Op.Volume(&c.Args, by)
			s.Out[by], s.In[by], s.Read, s.Written = v.Out, v.In, v.Read, v.Written
			s.Min[by] = v.Out + v.In + v.Read + v.Written
			s.Max[by] = s.Min[by]
		}
	}
	return s
}

// chargeMPI adds a call to every open region of a thread whose clock runs (see resume). A task
// executed while another task waits adds nothing to that other task, nor to the regions open in it.
// Constructs outside of tasks include the tasks executed in them.
func (ca *calls) chargeMPI(t *thread, s *profile.MPIStats) {
	still := len(t.stack) // the clocks of frames from this index up stand still
	for i := len(t.stack) - 1; i >= 0; i-- {
		f := &t.stack[i]
		if f.internal { // its time counts for the frames that it interrupted
			continue
		}
		if i < still { // a node that occurs twice on the stack also has its time twice
			f.node.Stat(f.row).AddMPI(s)
		}
		if !tree.IsExecution(f.node.Key.Construct) {
			continue
		}
		still = t.suspendedBy(i)
	}
	switch {
	case len(t.stack) == 0:
		ca.tree.Root.Stat(t.row).AddMPI(s)
	case !t.stack[0].node.Existing: // otherwise settleExisting does this
		ca.tree.Root.Stat(t.stack[0].row).AddMPI(s)
	}
}

// suspendedBy returns the lowest index from which on the frames of a thread stand still while it
// executes the task at i. That is the task which it has suspended. Outside of tasks, it is only the
// tasking construct in which it executes the task (see resume).
func (t *thread) suspendedBy(i int) int {
	next := -1
	for j := i - 1; j >= 0; j-- {
		f := &t.stack[j]
		if f.internal {
			continue
		}
		if next < 0 {
			next = j
		}
		switch c := f.node.Key.Construct; {
		case tree.IsExecution(c):
			return j
		case c.IsParallel():
			j = 0
		}
	}
	if next >= 0 && t.stack[next].node.Key.Construct.IsTasking() {
		return next
	}
	return i
}

// holdsCall notes the time of a call made directly in a region.
func (f *frame) holdsCall(c *profile.MPIStats) {
	s := f.node.Stat(f.row)
	if f.phase == inBarrier { // only an unobserved task can call MPI in a barrier
		s.MPI.Wait += c.T
		s.MPI.WaitNoCore += c.NoCore
		if f.team != nil { // the figures of the body have been taken already
			s.Child += c.T
			s.AddCost(profile.Cost{Child: c.Cost})
			s.AddNoCore(profile.Cost{Child: c.NoCore})
			return
		}
	}
	f.Child += c.T
	f.Contain(ledger.ByProbes, f.part(), c.Cost)
	f.Contain(ledger.ByWait, f.part(), c.NoCore)
}

// inFinalBarrier tells whether a worker makes an MPI call in its region's final barrier. It must be
// executing a task there: its own part in the region is over.
func (t *thread) inFinalBarrier(ev *event.Event) bool {
	f := t.top()
	m := f.team
	return ev.Construct == event.MPI && !t.lossy && !m.charged && m.forked <= f.Mark && (m.joined == 0 || ev.Time <= m.joined)
}

// Package calls applies the MPI calls of a process. It charges a call to the regions around the
// call, and to a leaf region of its own. A call is reported once, when it returns. Its thread has
// the same regions open as when the call began. ompP reads a thread's MPI counters when the thread
// enters a region and when it leaves the region (Fürlinger and Moore, Figs. 2 and 3). Adding each
// call to every region whose clock runs gives the same figures. It is right also for regions whose
// end is never seen.
//
//   - calls.go: what a call is charged to
//   - log.go: calls recorded one by one, for the waits between ranks
package calls

import (
	"fmt"

	"ompp-attach/attribution/ledger"
	"ompp-attach/attribution/mpicall"
	"ompp-attach/attribution/place"
	"ompp-attach/attribution/stack"
	"ompp-attach/attribution/tree"
	"ompp-attach/attribution/waits"
	"ompp-attach/event"
	"ompp-attach/mpi"
	"ompp-attach/profile"
)

const (
	// NoteCutOff is the note on calls of which the end was not seen.
	NoteCutOff = "a call was under way when its thread or the measurement ended, or was switched off: it is counted, with its time until then and its whole volume"
	// NoteStarted is the note on MPI_Start and MPI_Startall.
	NoteStarted = "bytes, sends, receives and collectives are those of the persistent operations that are started here"
)

// MPI are the MPI calls of a process.
type MPI struct {
	*stack.Stacks
	Comms   mpicall.Comms
	Sources mpicall.Sources
	Log     *Log   // nil: calls are not recorded one by one
	Resumed uint64 // when measurement was last switched on again

	callers       int // number of threads that called MPI before they started a team
	sharedCallers int // root number of the seat that all further such threads share; 0: none
}

// Apply charges a call to the regions around it, and to a leaf region of its own: the operation at
// the place of the call.
func (ca *MPI) Apply(t *stack.Thread, ev *event.Event) {
	c := ev.MPI
	if c == nil {
		return
	}
	ca.Mend(t, event.MPI, ev)
	ca.caller(t)
	s := mpicall.Figures(c)
	if c.Flags&mpi.Started != 0 { // the MPI_Start that started it returns next
		ca.Comms.Exchanged(t.Started.At(ev.Site, &s), c)
		ca.Sources.Starts(&ca.Comms, t.Tid, c)
		ca.logStarted(t, ev)
		s.Sized = 0
		ca.chargeMPI(t, &s)
		return
	}
	end := ev.Time + t.Suspended // by the task's own clock: no task begins or ends in a call
	from := c.Start
	if ca.Resumed <= end { // measurement may have been off meanwhile
		from = max(from, ca.Resumed)
	}
	s.T = ledger.Between(from, end)
	s.Cost = min(ca.Ledger.InsideCall(ev), s.T) // the cost is a mean, and a call may be shorter
	s.NoCore, t.WaitedInCall = min(t.WaitedInCall, s.T), 0

	parent, seat := ca.Tree.Root, t.Seat
	open := t.Top()
	if open != nil {
		parent, seat = open.Node, open.Seat
	}
	leaf := ca.Tree.Child(parent, place.Key{RuntimeConstruct: place.RuntimeConstruct{Construct: event.MPI}, Fn: uint64(c.Op), Site: ev.Site})
	own := leaf.Stat(seat)
	addCall(own, &s)
	ca.Ledger.CountUnknown(own)
	if started := t.Started.Pop(ev); started != nil {
		own.AddMPI(started.MPI)
		own.Traffic = own.Traffic.Plus(started.Traffic)
		leaf.Note(NoteStarted)
	}
	if t.OffCore != nil {
		t.OffCore.Ask(waits.Wait{Node: leaf, Seat: seat, Reason: waits.InMPI, From: end - uint64(s.T), To: end, T: s.T})
	}
	ca.Comms.Exchanged(&own.Traffic, c)
	ca.Sources.Called(&ca.Comms, t.Tid, leaf, seat, c, end)
	if c.New != nil {
		ca.Comms.Begun(c)
	}
	ca.Comms.Grouped(c)
	t.ShowCall(end, s.T)
	if ca.Spans != nil {
		ca.Spans.Called(t.Tid, leaf, seat, &s, ev, end)
	}
	if ca.Log != nil {
		ca.record(t, leaf, seat, ev, end)
	}
	if ev.Edge == event.Enter {
		leaf.Note(NoteCutOff)
		ca.Partial++
	}
	s.Sized = 0 // smallest and largest volumes are kept at the leaf only
	ca.chargeMPI(t, &s)
	if open != nil {
		open.HoldsCall(&s)
	}
}

// addCall charges a leaf with a call.
func addCall(own *profile.ThreadStats, s *profile.MPIStats) {
	own.Exec.Add(profile.Sum{T: s.T, C: s.Calls})
	own.Body.Add(profile.Sum{T: s.T, C: s.Calls})
	own.AddCost(profile.Cost{Exec: s.Cost, Body: s.Cost})
	own.AddNoCore(profile.Cost{Exec: s.NoCore, Body: s.NoCore})
	own.AddMPI(s)
}

// ManyCallers bounds the seats of threads that call MPI and start no team: some programs start
// threads without end.
const ManyCallers = 128

// caller gives a thread that calls MPI its seat.
func (ca *MPI) caller(t *stack.Thread) {
	if t.CallsMPI {
		ca.Initial(t)
		return
	}
	t.CallsMPI = true
	if !t.Known && len(t.Stack) == 0 && t.Tid != ca.Pid && !t.Initial {
		if ca.callers++; ca.callers > ManyCallers {
			ca.Roots = max(ca.Roots, 1)
			if ca.sharedCallers == 0 {
				ca.sharedCallers = ca.Roots
				ca.Roots++
			}
			t.Seat, t.Known = ca.Seat(ca.sharedCallers, 0), true
		}
	}
	ca.Initial(t)
	ca.NoteTID(t.Seat, t.Tid)
}

// SharedSeat returns the warning that names the shared seat, if there is one.
func (ca *MPI) SharedSeat() []string {
	if ca.sharedCallers == 0 {
		return nil
	}
	return []string{fmt.Sprintf("More than %d threads that start no teams called MPI: all but the first of them share one row of the tables, %d:0.", ManyCallers, ca.sharedCallers)}
}

// chargeMPI adds a call to every open region of a thread whose clock runs (see resume). A task
// executed while another task waits adds nothing to that other task, nor to the regions open in it.
// Constructs outside of tasks include the tasks executed in them.
func (ca *MPI) chargeMPI(t *stack.Thread, s *profile.MPIStats) {
	still := len(t.Stack) // the clocks of regions from this index up stand still
	for i := len(t.Stack) - 1; i >= 0; i-- {
		open := &t.Stack[i]
		if open.Internal { // its time counts for the regions that it interrupted
			continue
		}
		if i < still { // a node that occurs twice on the stack also has its time twice
			open.Node.Stat(open.Seat).AddMPI(s)
		}
		if !tree.IsExecution(open.Node.Key.Construct) {
			continue
		}
		still = t.SuspendedBy(i)
	}
	switch {
	case len(t.Stack) == 0:
		ca.Tree.Root.Stat(t.Seat).AddMPI(s)
	case !t.Stack[0].Node.Existing: // otherwise PlaceExisting does this
		ca.Tree.Root.Stat(t.Stack[0].Seat).AddMPI(s)
	}
}

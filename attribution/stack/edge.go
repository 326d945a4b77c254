package stack

import (
	"ompp-attach/attribution/ends"
	"ompp-attach/attribution/tree"
	"ompp-attach/event"
)

// Edge is the end of a call that its thread is in. That is the begin of the primary thread's body,
// the end of a barrier, or the join. The kernel side does not report every such end (event.Sparse).
type Edge struct {
	Enter event.Event // the call's beginning; its edge is NoEdge if no end is pending
	Edge  event.Edge  // of the end: Begin, Waited or Join
	Team  *Team       // nil: not known
	Node  *tree.Node  // of the region that the thread is in
	Seat  int         // of the thread in that region
	Depth int         // number of open regions in the call
	Turn  int         // of a barrier, see Teams.Reach
	// Next is the time of the thread's next event that is no sample, if it has been read and waits;
	// else 0.
	Next uint64
	At   uint64 // the derived time of the end; 0: not derived yet
	// GivenUp: the thread does not wait any longer.
	GivenUp bool
	listed  bool // the team knows that the thread waits
	// All that waits in the thread's queue are samples: its next event of another kind is not read.
	holding bool
}

// Pending tells whether the end is still to come.
func (x *Edge) Pending() bool { return x.Enter.Edge != event.NoEdge }

// Reported tells whether the end is reported.
func (x *Edge) Reported() bool { return x.Enter.Flags&event.Unarmed == 0 }

// Decided tells whether all events that decide the time of the end have been applied.
func (x *Edge) Decided() bool {
	m := x.Team
	switch {
	case x.Edge == event.Begin || m == nil:
		return true
	case x.Edge == event.Join:
		return m.Size > 0 && m.Ended >= int(m.Size)
	}
	return x.Turn < 0 || m.Torn || m.turns.full(x.Turn, m.Size)
}

// Alone tells whether nothing but the thread's own events tells when a barrier ended: the others'
// arrivals are not known. The team was under way at attach, or events of its threads are missing.
func (x *Edge) Alone() bool {
	m := x.Team
	if x.Edge != event.Waited || m != nil && m.Size == 1 {
		return false
	}
	return m == nil || x.Turn < 0 || m.Torn || !m.turns.full(x.Turn, m.Size)
}

// From returns the time from which on the thread can go on: the last arrival of its team. The
// thread's next event is at until. If the team's arrivals are not known, or do not fit, it is the
// thread's own arrival.
func (x *Edge) From(until uint64) uint64 {
	own, last := x.Enter.Time, uint64(0)
	m := x.Team
	switch {
	case m == nil || x.Edge == event.Begin:
	case x.Edge == event.Join:
		for i := range m.Members {
			last = max(last, m.Members[i].End)
		}
	case !x.Alone() && x.Turn >= 0:
		last = m.turns.at(x.Turn).last
	}
	if last > until {
		return own
	}
	return max(own, last)
}

// Kind returns the kind of the end, by which such ends are estimated.
func (x *Edge) Kind() ends.Kind { return ends.Kind{Node: x.Node, Edge: x.Edge, Alone: x.Alone()} }

// Lesson returns what a reported end at a time teaches. idle says that the thread waited for a
// core in the call.
func (x *Edge) Lesson(at uint64, idle bool) ends.Lesson {
	l := ends.Lesson{Node: x.Node, Edge: x.Edge, Weight: ends.WeightOf(x.Enter.Flags), Begun: x.Enter.Time, At: at, Idle: idle}
	if !x.Alone() {
		l.From = x.From(at)
	}
	return l
}

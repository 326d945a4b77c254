// Package spans tells a sink of single executions, when these are charged (package timeline).
package spans

import (
	"ompp-attach/attribution/ledger"
	"ompp-attach/attribution/seats"
	"ompp-attach/attribution/tree"
	"ompp-attach/event"
	"ompp-attach/mpi"
	"ompp-attach/profile"
	"ompp-attach/timeline"
)

// Spans tells a sink of each execution, when the execution is charged. A nil *Spans stands for no
// sink. It takes Gap, Closing, Derived, NextTeam and Move; before the other calls, callers ask
// whether there is a sink.
type Spans struct {
	to    timeline.Sink
	seats *seats.Seats
	told  int    // seats that the sink knows
	nodes int32  // nodes that have a number
	teams uint64 // executions of parallel regions so far
	tasks uint64 // tasks that were created so far
	// The executions that are charged now were under way when measurement ended.
	closing bool
	derived bool           // the executions that are charged now end at a derived time
	span    timeline.Span  // scratch memory: without it, each span would be allocated
	counts  profile.Counts // scratch memory, too
	moved   []timeline.Moved
}

// New returns a Spans that tells the given sink. of are the seats of the engine's threads.
func New(to timeline.Sink, of *seats.Seats) *Spans { return &Spans{to: to, seats: of} }

// With returns a copy of sp for a copy of the engine, with another sink and the copy's seats.
func (sp *Spans) With(to timeline.Sink, of *seats.Seats) *Spans {
	c := *sp
	c.to, c.seats, c.moved, c.counts = to, of, nil, profile.Counts{}
	return &c
}

// Counts returns memory for the counters of one span.
func (sp *Spans) Counts() *profile.Counts { return &sp.counts }

// Gap tells that nothing, or not all, was observed between two moments.
func (sp *Spans) Gap(from, to uint64, why timeline.Why, what event.Constructs) {
	if sp == nil || from >= to {
		return
	}
	names, _ := what.MarshalText() // never fails
	sp.to.Gap(timeline.Gap{From: from, To: to, Why: why, What: string(names)})
}

// Closing says whether the executions that are charged now were under way when measurement ended.
func (sp *Spans) Closing(now bool) {
	if sp != nil {
		sp.closing = now
	}
}

// Derived says whether the executions that are charged now end at a derived time.
func (sp *Spans) Derived(now bool) {
	if sp != nil {
		sp.derived = now
	}
}

// NextTeam returns the number of the next execution of a parallel region.
func (sp *Spans) NextTeam() uint64 {
	if sp == nil {
		return 0
	}
	sp.teams++
	return sp.teams
}

// number returns a node's number. The sink is told of a node when it gets one.
func (sp *Spans) number(n *tree.Node) int32 {
	if n.Number != 0 || n.Parent == nil {
		return n.Number
	}
	parent := sp.number(n.Parent)
	sp.nodes++
	n.Number = sp.nodes
	d := timeline.Definition{ID: n.Number, Parent: parent, Construct: n.Key.Construct, Runtime: n.Key.Runtime, Address: n.Key.Site}
	switch {
	case n.Key.Construct == event.MPI:
		d.Name = mpi.Op(n.Key.Fn).String()
	case n.Key.Construct.IsParallel() || tree.IsExecution(n.Key.Construct) || d.Address == 0:
		d.Address = n.Key.Fn
	}
	sp.to.Define(d)
	return n.Number
}

// Begin returns an empty span of a thread at a node.
func (sp *Spans) Begin(tid uint32, n *tree.Node, seat int) *timeline.Span {
	for ; sp.told < len(sp.seats.List); sp.told++ {
		r := &sp.seats.List[sp.told]
		sp.to.Seat(timeline.Seat{Seat: int32(sp.told), Root: r.Root, Num: r.Num})
	}
	s := &sp.span
	*s = timeline.Span{TID: tid, Thread: int32(seat), Node: sp.number(n)}
	if sp.closing {
		s.Flags = timeline.Open
	}
	if sp.derived {
		s.Flags |= timeline.Approximate
	}
	return s
}

// Tell gives the sink a span. A time that an event with an older time stamp made negative is 0.
func (sp *Spans) Tell(s *timeline.Span) {
	s.To = max(s.From, s.To)
	sp.to.Span(s)
}

// Unseen tells of an execution whose end was not seen.
func (sp *Spans) Unseen(tid uint32, n *tree.Node, seat int, from uint64, team uint64) {
	s := sp.Begin(tid, n, seat)
	s.From, s.To, s.Team = from, from, team
	s.Exec.C = 1
	s.Flags |= timeline.Unseen
	sp.Tell(s)
}

// Folded tells of executions that the kernel side has added up. The first one began at a time.
func (sp *Spans) Folded(tid uint32, n *tree.Node, seat int, at uint64, f *event.Fold, l *ledger.Ledger) {
	s := sp.Begin(tid, n, seat)
	s.Counts = l.CountsOfFold(f, &sp.counts)
	s.Kind, s.From, s.To = timeline.Fold, at, f.Last
	s.Exec = profile.Sum{T: int64(f.Enter + f.Body + f.Exit), C: f.Executions}
	s.Parts = [timeline.NumParts]profile.Sum{
		timeline.Enter: {T: int64(f.Enter), C: f.Bodies},
		timeline.Body:  {T: int64(f.Body), C: f.Bodies},
		timeline.Exit:  {T: int64(f.Exit)},
	}
	sp.Tell(s)
}

// Called tells of an MPI call, which ended at a time.
func (sp *Spans) Called(tid uint32, leaf *tree.Node, seat int, c *profile.MPIStats, ev *event.Event, end uint64) {
	s := sp.Begin(tid, leaf, seat)
	args := &ev.MPI.Args
	s.Kind, s.From, s.To = timeline.Call, end-uint64(c.T), end
	s.Exec = profile.Sum{T: c.T, C: c.Calls}
	s.Parts[timeline.Body] = s.Exec
	if ev.Edge == event.Enter {
		s.Flags |= timeline.Approximate
	}
	s.Call = timeline.MPI{Comm: args.Comm, Made: ev.MPI.Made, Rank: args.Rank, Size: args.Size,
		Peer: args.Peer, Peer2: args.Peer2, Tag: args.Tag, Flags: args.Flags, Out: c.Out[mpi.Minimal], In: c.In[mpi.Minimal]}
	sp.Tell(s)
}

// Counted tells of an execution without a time of its own.
func (sp *Spans) Counted(tid uint32, n *tree.Node, seat int, at uint64) {
	s := sp.Begin(tid, n, seat)
	s.From, s.To = at, at
	s.Exec.C = 1
	sp.Tell(s)
}

// Created tells that a thread has created a task at a time. It returns the task's number.
func (sp *Spans) Created(tid uint32, execution *tree.Node, seat int, at uint64) uint64 {
	sp.tasks++
	s := sp.Begin(tid, execution, seat)
	s.Kind, s.From, s.To, s.Task = timeline.Created, at, at, sp.tasks
	sp.Tell(s)
	return sp.tasks
}

// Move notes that the figures of a seat, at a node and below, belong to another seat.
func (sp *Spans) Move(n *tree.Node, from, to int) {
	if sp == nil || from == to {
		return
	}
	if n.Number != 0 {
		sp.moved = append(sp.moved, timeline.Moved{Node: n.Number, From: int32(from), To: int32(to)})
	}
	for _, c := range n.Children {
		sp.Move(c, from, to)
	}
}

// End tells the sink what its numbers mean. Stops are those of the engine's clock.
func (sp *Spans) End(d *timeline.Dictionary) {
	d.Moved = sp.moved
	sp.to.End(d)
}

package stack

import (
	"ompp-attach/attribution/ledger"
	"ompp-attach/attribution/tree"
	"ompp-attach/event"
	"ompp-attach/mpi"
	"ompp-attach/profile"
	"ompp-attach/timeline"
)

// Spans tells a sink of each execution, when the execution is charged. A nil *Spans stands for no
// sink, so that callers need not ask.
type Spans struct {
	to    timeline.Sink
	seats *Seats
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

// NewSpans returns a Spans that tells the given sink. seats are those of the engine's threads.
func NewSpans(to timeline.Sink, seats *Seats) *Spans { return &Spans{to: to, seats: seats} }

// With returns a copy of sp for a copy of the engine, with another sink and the copy's seats.
func (sp *Spans) With(to timeline.Sink, seats *Seats) *Spans {
	c := *sp
	c.to, c.seats, c.moved, c.counts = to, seats, nil, profile.Counts{}
	return &c
}

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

// nextTeam returns the number of the next execution of a parallel region.
func (sp *Spans) nextTeam() uint64 {
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

// begin returns an empty span of a thread at a node.
func (sp *Spans) begin(tid uint32, n *tree.Node, seat int) *timeline.Span {
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

// tell gives the sink a span. A time that an event with an older time stamp made negative is 0.
func (sp *Spans) tell(s *timeline.Span) {
	s.To = max(s.From, s.To)
	sp.to.Span(s)
}

// ended tells of the i-th region of a thread, which was charged with a time (ns) when it ended.
func (sp *Spans) ended(t *Thread, i int, at uint64, exec int64, l *ledger.Ledger) {
	f := &t.Stack[i]
	s := sp.begin(t.Tid, f.Node, f.Seat)
	s.Counts = l.Counts(&f.Account, &sp.counts)
	s.From, s.To = f.began(), at
	if !IsContext(f.Node.Key.Construct) {
		s.To += t.suspendedAt(i)
	}
	s.Exec = profile.Sum{T: exec, C: 1}
	copy(s.Parts[:], f.Parts[profile.Enter:])
	s.Lock, s.Task = f.Resource, f.task
	if f.Resumed {
		s.Exec.C--
		s.Parts[timeline.Enter].C--
	}
	if f.Team != nil {
		s.From, s.Team = f.Team.Forked, f.Team.number
		if f.Team.Derived.of(t.Num) {
			s.Flags |= timeline.Approximate
		}
	}
	sp.tell(s)
}

// began returns when a region was opened, by the clock of the thread and not of its task.
func (f *Frame) began() uint64 { return f.Start - f.leftOut + f.lag }

// Opened notes a region that was opened by the clock of a task, which has stood still for a time
// (ns).
func (f *Frame) Opened(suspended uint64) { f.lag = suspended }

// Executes notes the number of the task that is executed in a region.
func (f *Frame) Executes(task uint64) { f.task = task }

// unseen tells of an execution whose end was not seen.
func (sp *Spans) unseen(tid uint32, n *tree.Node, seat int, from uint64, team uint64) {
	s := sp.begin(tid, n, seat)
	s.From, s.To, s.Team = from, from, team
	s.Exec.C = 1
	s.Flags |= timeline.Unseen
	sp.tell(s)
}

// member tells of a thread's part in a team. was holds the thread's figures before the part was
// charged, counts its counters; nil: counters are not read.
func (sp *Spans) member(m *Team, mem *Member, was *[profile.NumParts]profile.Sum, counts *profile.Counts, joined uint64) {
	s := sp.begin(mem.tid, m.Node, mem.Seat)
	s.Counts = counts
	s.From, s.To, s.Team = m.Forked, joined, m.number
	if m.Derived.of(mem.num) {
		s.Flags |= timeline.Approximate
	}
	now := m.Node.Stat(mem.Seat).Parts()
	for i := range now {
		d := profile.Sum{T: now[i].T - was[i].T, C: now[i].C - was[i].C}
		if i == int(profile.Exec) {
			s.Exec = d
		} else {
			s.Parts[i-int(profile.Enter)] = d
		}
	}
	sp.tell(s)
}

// figures returns a copy of the times and counts of a seat.
func figures(s *profile.ThreadStats) (out [profile.NumParts]profile.Sum) {
	for i, p := range s.Parts() {
		out[i] = *p
	}
	return out
}

// Folded tells of executions that the kernel side has added up.
func (sp *Spans) Folded(t *Thread, n *tree.Node, ev *event.Event, l *ledger.Ledger) {
	f := ev.Fold
	s := sp.begin(t.Tid, n, t.Seat)
	s.Counts = l.CountsOfFold(f, &sp.counts)
	s.Kind, s.From, s.To = timeline.Fold, ev.Time+t.Suspended, f.Last
	s.Exec = profile.Sum{T: int64(f.Enter + f.Body + f.Exit), C: f.Executions}
	s.Parts = [timeline.NumParts]profile.Sum{
		timeline.Enter: {T: int64(f.Enter), C: f.Bodies},
		timeline.Body:  {T: int64(f.Body), C: f.Bodies},
		timeline.Exit:  {T: int64(f.Exit)},
	}
	sp.tell(s)
}

// Called tells of an MPI call, which ended at a time.
func (sp *Spans) Called(t *Thread, leaf *tree.Node, seat int, c *profile.MPIStats, ev *event.Event, end uint64) {
	s := sp.begin(t.Tid, leaf, seat)
	args := &ev.MPI.Args
	s.Kind, s.From, s.To = timeline.Call, end-uint64(c.T), end
	s.Exec = profile.Sum{T: c.T, C: c.Calls}
	s.Parts[timeline.Body] = s.Exec
	if ev.Edge == event.Enter {
		s.Flags |= timeline.Approximate
	}
	s.Call = timeline.MPI{Comm: args.Comm, Made: ev.MPI.Made, Rank: args.Rank, Size: args.Size,
		Peer: args.Peer, Peer2: args.Peer2, Tag: args.Tag, Flags: args.Flags, Out: c.Out[mpi.Minimal], In: c.In[mpi.Minimal]}
	sp.tell(s)
}

// Counted tells of an execution without a time of its own.
func (sp *Spans) Counted(t *Thread, n *tree.Node, at uint64) {
	s := sp.begin(t.Tid, n, t.Seat)
	s.From, s.To = at+t.Suspended, at+t.Suspended
	s.Exec.C = 1
	sp.tell(s)
}

// Created tells that a thread has created a task at a time. It returns the task's number.
func (sp *Spans) Created(t *Thread, execution *tree.Node, at uint64) uint64 {
	sp.tasks++
	s := sp.begin(t.Tid, execution, t.Seat)
	s.Kind, s.From, s.To, s.Task = timeline.Created, at, at, sp.tasks
	sp.tell(s)
	return sp.tasks
}

// move notes that the figures of a seat, at a node and below, belong to another seat.
func (sp *Spans) move(n *tree.Node, from, to int) {
	if sp == nil || from == to {
		return
	}
	if n.Number != 0 {
		sp.moved = append(sp.moved, timeline.Moved{Node: n.Number, From: int32(from), To: int32(to)})
	}
	for _, c := range n.Children {
		sp.move(c, from, to)
	}
}

// End tells the sink what its numbers mean. Stops are those of the engine's clock.
func (sp *Spans) End(d *timeline.Dictionary) {
	d.Moved = sp.moved
	sp.to.End(d)
}

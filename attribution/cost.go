package attribution

import "ompp-attach/event"

// What the measurement costs. A probe hit takes time of its thread: some of it
// before the time stamp that it reports, the rest after. So of the time between
// two events of a thread, what the earlier hit took after its stamp and the
// later one before its own is the probes', and belongs to the phase of the
// region that was innermost in between, and to the regions around it.

// part is a part of a region's time that a cost can lie in.
type part uint8

const (
	partEnter part = iota
	partBody
	partBarrier
	partExit
	partOther // in the whole only: between sections; in a single that others execute
	numParts
)

// toll is what of an open region's time its thread's probes took, ns.
type toll struct {
	parts [numParts]int64 // regions entered from it included
	child int64           // of these, in regions entered from it that have ended
	paid  int64           // what the region around it has got already (see remove)
	away  int64           // in tasks that were executed while this one stood still
	tasks int64           // in tasks that were executed while waiting here
}

func (y *toll) own() int64 {
	p := &y.parts
	return p[partEnter] + p[partBody] + p[partBarrier] + p[partExit] + p[partOther]
}

// whole is what the probes took while the region was open, whosever time it was.
func (y *toll) whole() int64 { return y.own() + y.away }

func (y *toll) cost() Cost {
	return Cost{Exec: y.own(), Enter: y.parts[partEnter], Body: y.parts[partBody], Barrier: y.parts[partBarrier],
		Exit: y.parts[partExit], Child: y.child, Task: y.tasks}
}

// chargeToll adds what the probes took of a region that ends.
func (f *frame) chargeToll(s *ThreadStats) {
	y := &f.toll
	if f.enter == 0 && y.parts[partEnter] != 0 || f.body == 0 && y.parts[partBody] != 0 ||
		f.barrier == 0 && y.parts[partBarrier] != 0 || f.exit == 0 && y.parts[partExit] != 0 {
		f.gatherToll()
	}
	c, own := s.Cost, y.own()
	if c == nil {
		if own|y.child|y.tasks == 0 {
			return
		}
		c = &Cost{}
		s.Cost = c
	}
	c.Exec += own
	c.Enter += y.parts[partEnter]
	c.Body += y.parts[partBody]
	c.Barrier += y.parts[partBarrier]
	c.Exit += y.parts[partExit]
	c.Child += y.child
	c.Task += y.tasks
}

// gatherToll moves what lies in parts in which a construct has no time: some
// have all of it in one part, others only in the whole.
func (f *frame) gatherToll() {
	y, times := &f.toll, [partOther]int64{partEnter: f.enter, partBody: f.body, partBarrier: f.barrier, partExit: f.exit}
	to, timed := partOther, 0
	for p, t := range times {
		if t != 0 {
			to, timed = part(p), timed+1
		}
	}
	if timed != 1 {
		to = partOther
	}
	for p, t := range times {
		if d := y.parts[p]; t == 0 && d != 0 {
			y.parts[p] = 0
			y.parts[to] += d
		}
	}
}

// Costs tells what probe hits take; before that, nothing is known to be the
// probes' own time.
func (e *Engine) Costs(c event.HitCosts) { e.costs = c }

// part is where a cost belongs that falls into a frame now.
func (f *frame) part() part {
	switch f.phase {
	case starting, entering:
		return partEnter
	case inBarrier:
		return partBarrier
	case leaving:
		return partExit
	case done:
		if f.bars > 0 { // between a reduction and its barrier
			return partBarrier
		}
	}
	switch c := f.node.key.Construct; {
	case c == event.Single && f.phase == done,
		(c == event.Sections && f.node.key.Runtime == event.Gomp || c == event.ParallelSections) && f.id == 0:
		return partOther
	}
	return partBody
}

// tax charges what probes took of a thread's time since its last event to its
// innermost region.
func (e *Engine) tax(t *thread, ev *event.Event) {
	if ev.Probe == event.NoProbe && t.due == 0 {
		return
	}
	if ev.Fold != nil {
		e.taxFolds(t, ev)
		return
	}
	e.hits[ev.Probe%event.NumProbes]++
	c := e.costs.Kinds[ev.Probe%event.NumProbes]
	d := t.due + c.Before
	t.due = c.After
	all := c.Sum()
	if ev.MPI != nil {
		d, all = e.taxCall(t, ev, d)
	}
	if n := len(t.stack); n > 0 {
		f := &t.stack[n-1]
		f.toll.parts[f.part()] += d
		if ev.Edge == event.Begin && f.team != nil && f.phase == inBarrier { // of a task
			if mem := f.team.member(t.num); mem != nil {
				mem.wayToll += d
			}
		}
	}
	if all != 0 {
		s := e.root.stat(t.row)
		if s.Cost == nil {
			s.Cost = &Cost{}
		}
		s.Cost.Exec += all
	}
}

// A call of MPI is one event of two hits. The first one's record is written at
// the second, and its time stamp is taken when its arguments have been read.

// taxCall returns what the probes took before a call, of which d is known, and
// in all.
func (e *Engine) taxCall(t *thread, ev *event.Event, d int64) (before, all int64) {
	k := &e.costs.Kinds
	if ev.Probe == event.NoProbe { // what MPI_Start has started is no call
		return d, 0
	}
	reading := k[ev.Probe].After - k[ev.Probe.Class()].After
	inside := e.insideCall(ev)
	before, t.due = d+reading, 0
	if ev.Edge != event.Enter {
		e.hits[event.ProbeReturn]++
		t.due = k[event.ProbeReturn].After
	}
	return before, k[ev.Probe].Before + reading + inside + t.due
}

// insideCall is what the probes took between the two time stamps of a call.
func (e *Engine) insideCall(ev *event.Event) int64 {
	if ev.Probe == event.NoProbe || ev.Edge == event.Enter {
		return 0
	}
	k := &e.costs.Kinds
	return max(0, k[ev.Probe.Class()].After-e.costs.Record) + k[event.ProbeReturn].Before
}

// handUpToll adds what the probes took in the i-th region, which ends, to the
// one around it.
func (t *thread) handUpToll(i int) {
	if i == 0 {
		return
	}
	y, up := &t.stack[i].toll, &t.stack[i-1]
	if d := y.whole() - y.paid; d != 0 {
		up.toll.child += d
		up.toll.parts[up.part()] += d
	}
}

// payOpenToll gives a region that ends what the probes took so far in the one
// that is open inside it, at i.
func (e *Engine) payOpenToll(t *thread, i int) {
	sofar := int64(0)
	for j := len(t.stack) - 1; j >= i; j-- {
		y := &t.stack[j].toll
		sofar += y.whole()
		if j > i {
			sofar -= y.paid
		}
	}
	below, y := &t.stack[i-1], &t.stack[i].toll
	below.toll.child += sofar - y.paid
	below.toll.parts[partBody] += sofar - y.paid
	y.paid = sofar
}

// disownToll makes the i-th region's toll that of the one around it: the region
// is none, or its end was not seen.
func (t *thread) disownToll(i int) {
	if i == 0 {
		return
	}
	y, up := &t.stack[i].toll, &t.stack[i-1]
	up.toll.parts[up.part()] += y.whole() - y.paid
}

// joinToll ends the primary thread's part in a region: what the probes took from
// the end of its body to the join, but for tasks that it executed, lies in the
// team's exit.
func (t *thread) joinToll(f *frame) {
	f.team.joinToll = f.toll.parts[partBarrier]
	if mem := f.team.member(t.num); mem != nil {
		f.team.joinToll -= mem.wayToll
		f.toll.away += mem.taskToll // for what is around the region
	}
}

// takeOutToll gives the toll of a user region that was entered again to the
// outer execution of it (see enteredFromOther).
func (t *thread) takeOutToll(i, outer int) {
	y, o := &t.stack[i].toll, &t.stack[outer]
	o.toll.parts[o.part()] += y.whole() - y.paid
	*y = toll{child: y.child}
}

// taskToll is what the probes took in a task's execution.
type taskToll struct {
	wall   int64 // while what is around it stood still for it
	active int64 // in its own time
}

func (y *toll) task() taskToll { return taskToll{y.whole(), y.own()} }

// resumeToll gives the innermost frame, or the task that it is in, what the
// probes took while it stood still (see resume).
func (t *thread) resumeToll(y taskToll) {
	if len(t.stack) == 0 || y == (taskToll{}) {
		return
	}
	f := t.top()
	if x := t.executing(); x != nil {
		x.toll.away += y.wall
		if f.waits() || f.internal {
			f.toll.tasks += y.active
		}
		return
	}
	if f.team != nil && f.phase == inBarrier {
		if mem := f.team.member(t.num); mem != nil && !f.team.charged && f.team.forked <= f.mark {
			mem.taskToll += y.wall
			f.node.present(mem.row).paid += y.wall
		}
		return
	}
	if f.node.key.Construct.IsTasking() {
		f.toll.away += y.wall
	} else {
		f.toll.child += y.wall
		f.toll.parts[f.part()] += y.wall
	}
	if f.waits() {
		f.toll.tasks += y.wall
	}
}

// costOf is what of a member's time in a team the probes took. All threads go
// on when the last one has come to the barrier, whose hit at the end of its body
// is of the same kind as the primary thread's; so that hit, and the one at the
// join, lie in everyone's exit. Who waits in the barrier waits for others: his
// own hits there are those of tasks that he executes.
func (m *team) costOf(mem *member) Cost {
	y := mem.toll
	if mem.num != 0 {
		y.parts[partEnter] += m.forkToll
	}
	y.parts[partBarrier], y.parts[partExit] = mem.taskToll+mem.wayToll, m.joinToll
	y.child += mem.taskToll
	y.tasks = mem.taskToll
	return y.cost()
}

// addCost adds to what the probes took.
func (s *ThreadStats) addCost(c Cost) {
	if c == (Cost{}) {
		return
	}
	if s.Cost == nil {
		s.Cost = &Cost{}
	}
	s.Cost.Add(&c)
}

// Add adds another thread's, or another place's, cost.
func (c *Cost) Add(o *Cost) {
	c.Exec += o.Exec
	c.Enter += o.Enter
	c.Body += o.Body
	c.Barrier += o.Barrier
	c.Exit += o.Exit
	c.Child += o.Child
	c.Task += o.Task
}

// Plus returns the sum of two threads' costs, of which nil are none. Neither
// changes: profiles that were derived from one another share them.
func (c *Cost) Plus(o *Cost) *Cost {
	if c == nil || o == nil {
		if c == nil {
			return o
		}
		return c
	}
	sum := *c
	sum.Add(o)
	return &sum
}

// uncoverCost makes the cost of a child region the region's own.
func (s *ThreadStats) uncoverCost(child *ThreadStats) {
	if c := child.Cost; c != nil {
		s.Cost = s.Cost.Plus(&Cost{Child: c.Child - c.Exec})
	}
}

// takeBodyCost makes a body's cost that of a construct in the region, which was
// split.
func (s *ThreadStats) takeBodyCost(child *ThreadStats) {
	if s.Cost == nil && child.Cost == nil {
		return
	}
	body := int64(0)
	if child.Cost != nil {
		body = child.Cost.Body
	}
	c := *s.Cost.Plus(&Cost{})
	c.Body = body
	s.Cost = &c
}

// undivideCost makes all of the cost the body's.
func (s *ThreadStats) undivideCost() {
	if s.Cost != nil {
		c := *s.Cost
		c.Body, c.Barrier = c.Exec, 0
		s.Cost = &c
	}
}

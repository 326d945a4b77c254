package attribution

import (
	"ompp-attach/event"
	"ompp-attach/profile"
)

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

// What is charged beside times.
const (
	byProbes = iota // what the thread's probes took
	byWait          // what it waited for a core (corewait.go)
	numTolls
)

// toll is what of an open region's time its thread's probes took, or passed without a
// core, ns.
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

// whole is all while the region was open, whosever time it was.
func (y *toll) whole() int64 { return y.own() + y.away }

func (y *toll) cost() profile.Cost {
	return profile.Cost{Exec: y.own(), Enter: y.parts[partEnter], Body: y.parts[partBody], Barrier: y.parts[partBarrier],
		Exit: y.parts[partExit], Child: y.child, Task: y.tasks}
}

// chargeToll adds the tolls of a region that ends.
func (f *frame) chargeToll(s *profile.ThreadStats) {
	s.AddCost(f.costBy(byProbes))
	s.AddNoCore(f.costBy(byWait))
}

// costBy is a toll by the parts of the region's time.
func (f *frame) costBy(k int) profile.Cost {
	y := &f.tolls[k]
	if f.enter == 0 && y.parts[partEnter] != 0 || f.body == 0 && y.parts[partBody] != 0 ||
		f.barrier == 0 && y.parts[partBarrier] != 0 || f.exit == 0 && y.parts[partExit] != 0 {
		f.gatherToll(y)
	}
	return y.cost()
}

// gatherToll moves what lies in parts in which a construct has no time: some
// have all of it in one part, others only in the whole.
func (f *frame) gatherToll(y *toll) {
	times, to, timed := [partOther]int64{partEnter: f.enter, partBody: f.body, partBarrier: f.barrier, partExit: f.exit}, partOther, 0
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
	if t.waited != 0 {
		e.chargeWait(t, ev)
	}
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
	t.payToll(ev, byProbes, d)
	if all != 0 {
		s := e.root.stat(t.row)
		if s.Cost == nil {
			s.Cost = &profile.Cost{}
		}
		s.Cost.Exec += all
	}
	if e.watch.active {
		e.notePace(t, ev.Time, all)
	}
}

// payToll charges a toll since a thread's last event to its innermost region.
func (t *thread) payToll(ev *event.Event, by int, d int64) {
	f := t.top()
	if f == nil {
		return
	}
	f.tolls[by].parts[f.part()] += d
	if ev != nil && ev.Edge == event.Begin && f.team != nil && f.phase == inBarrier { // of a task
		if mem := f.team.member(t.num); mem != nil {
			mem.wayToll[by] += d
		}
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

// handUpToll adds the tolls of the i-th region, which ends, to those of the one
// around it.
func (t *thread) handUpToll(i int) {
	if i == 0 {
		return
	}
	f, up := &t.stack[i], &t.stack[i-1]
	for k := range f.tolls {
		if d := f.tolls[k].whole() - f.tolls[k].paid; d != 0 {
			up.tolls[k].child += d
			up.tolls[k].parts[up.part()] += d
		}
	}
}

// payOpenToll gives a region that ends the tolls so far of the one that is open
// inside it, at i.
func (e *Engine) payOpenToll(t *thread, i int) {
	for k := range numTolls {
		sofar := int64(0)
		for j := len(t.stack) - 1; j >= i; j-- {
			y := &t.stack[j].tolls[k]
			sofar += y.whole()
			if j > i {
				sofar -= y.paid
			}
		}
		below, y := &t.stack[i-1].tolls[k], &t.stack[i].tolls[k]
		below.child += sofar - y.paid
		below.parts[partBody] += sofar - y.paid
		y.paid = sofar
	}
}

// disownToll makes the i-th region's tolls those of the one around it: the region
// is none, or its end was not seen.
func (t *thread) disownToll(i int) {
	if i == 0 {
		return
	}
	f, up := &t.stack[i], &t.stack[i-1]
	for k := range f.tolls {
		up.tolls[k].parts[up.part()] += f.tolls[k].whole() - f.tolls[k].paid
	}
}

// endToll notes the tolls of a thread's part in a team, which ends.
func (f *frame) endToll(mem *member) {
	mem.tolls = f.tolls
	f.node.present(mem.row).paid += f.tolls[byProbes].whole()
}

// joinTolls ends the primary thread's part in a region: its tolls from the end of
// its body to the join, but for tasks that it executed, lie in the team's exit.
func (t *thread) joinTolls(f *frame) {
	m := f.team
	mem := m.member(t.num)
	for k := range f.tolls {
		m.joinToll[k] = f.tolls[k].parts[partBarrier]
		if mem != nil {
			m.joinToll[k] -= mem.wayToll[k]
			f.tolls[k].away += mem.taskToll[k] // for what is around the region
		}
	}
}

// takeOutToll gives the tolls of a user region that was entered again to the
// outer execution of it (see enteredFromOther).
func (t *thread) takeOutToll(i, outer int) {
	f, o := &t.stack[i], &t.stack[outer]
	for k := range f.tolls {
		y := &f.tolls[k]
		o.tolls[k].parts[o.part()] += y.whole() - y.paid
		*y = toll{child: y.child}
	}
}

// waitToll makes a single's toll that of a wait: another thread executes the body.
func (f *frame) waitToll() {
	for k := range f.tolls {
		p := &f.tolls[k].parts
		p[partBarrier], p[partBody] = p[partBarrier]+p[partBody], 0
	}
}

// taskToll is a toll of a task's execution.
type taskToll struct {
	wall   int64 // while what is around it stood still for it
	active int64 // in its own time
}

type taskTolls [numTolls]taskToll

// leaveTaskTolls are the tolls of the task whose frame is the innermost, and ends.
func (t *thread) leaveTaskTolls() (tolls taskTolls) {
	f := t.top()
	for k := range f.tolls {
		y := &f.tolls[k]
		if tolls[k] = (taskToll{y.whole(), y.own()}); f.internal {
			tolls[k] = taskToll{y.away, y.tasks}
			y.away = 0
		}
	}
	if f.internal {
		t.disownToll(len(t.stack) - 1)
	}
	return tolls
}

// resumeTolls gives the innermost frame, or the task that it is in, the tolls of the
// time in which it stood still (see resume).
func (t *thread) resumeTolls(tolls *taskTolls) {
	if len(t.stack) == 0 {
		return
	}
	for k := range tolls {
		if tolls[k] != (taskToll{}) {
			t.resumeToll(k, tolls[k])
		}
	}
}

func (t *thread) resumeToll(k int, y taskToll) {
	f := t.top()
	to := &f.tolls[k]
	if x := t.executing(); x != nil {
		x.tolls[k].away += y.wall
		if f.waits() || f.internal {
			to.tasks += y.active
		}
		return
	}
	if f.team != nil && f.phase == inBarrier {
		if mem := f.team.member(t.num); mem != nil && !f.team.charged && f.team.forked <= f.mark {
			mem.taskToll[k] += y.wall
			if k == byProbes {
				f.node.present(mem.row).paid += y.wall
			}
		}
		return
	}
	if f.node.key.Construct.IsTasking() {
		to.away += y.wall
	} else {
		to.child += y.wall
		to.parts[f.part()] += y.wall
	}
	if f.waits() {
		to.tasks += y.wall
	}
}

// costOf is what of a member's time in a team the probes took. All threads go
// on when the last one has come to the barrier, whose hit at the end of its body
// is of the same kind as the primary thread's; so that hit, and the one at the
// join, lie in everyone's exit. Who waits in the barrier waits for others: his
// own hits there are those of tasks that he executes.
func (m *team) costOf(mem *member, last uint64) profile.Cost {
	y := mem.tolls[byProbes]
	if mem.num != 0 {
		y.parts[partEnter] += m.forkToll
	}
	task := mem.taskToll[byProbes]
	y.parts[partBarrier], y.parts[partExit] = task+mem.wayToll[byProbes], m.joinToll[byProbes]
	y.child += task
	y.tasks = task
	c := y.cost()
	c.Wait = m.lateOf(mem, last)
	c.Exec += c.Wait
	c.Barrier += c.Wait
	return c
}

// paid is how much later a thread ended its body for its own probes, and the fork's.
func (m *team) paid(mem *member) int64 {
	d := mem.tolls[byProbes].own()
	if mem.num != 0 {
		d += m.forkToll
	}
	return d
}

// early is how much earlier the last of a team's threads would have ended its body
// without probes, which all began at one time: where the last one waited for others
// within the region, no earlier than they.
func (m *team) early(last uint64) int64 {
	bare := int64(0)
	for i := range m.members {
		mem := &m.members[i]
		bare = max(bare, span(m.forked, min(mem.end, last))-m.paid(mem))
	}
	return max(0, span(m.forked, last)-bare)
}

// lateOf is how much of a thread's wait in the final barrier is for threads that
// probes have slowed down more than itself. A thread that executed tasks meanwhile
// may have waited for what they did: of that nothing is known.
func (m *team) lateOf(mem *member, last uint64) int64 {
	if mem.tasks > 0 || m.lastTask > 0 || m.earlier == 0 {
		return 0
	}
	return max(0, min(m.earlier-m.paid(mem), span(min(mem.end, last), last)))
}

package attribution

import (
	"ompp-attach/event"
	"ompp-attach/profile"
)

// The cost of the measurement. A probe hit takes time of its thread: a part before the time stamp
// that the hit reports, the rest after it. Between two events of a thread, the probes therefore
// take the rest of the earlier hit and the first part of the later hit. That time belongs to the
// phase of the region that was innermost in between, and to the regions around it.

// part names a part of a region's time.
type part uint8

const (
	// Of the whole time only: between sections, or in a single that another thread executes.
	partEnter part = iota
	partBody
	partBarrier
	partExit
	partOther // in the whole only: between sections; in a single that others execute
	numParts
)

// The kinds of tolls: times that are recorded beside the measured times.
const (
	byProbes = iota // time that the thread's probes took
	byWait          // time that the thread waited for a core (corewait.go)
	numTolls
)

// toll is the part of an open region's time, in ns, that the thread's probes took, or that the
// thread passed without a core.
type toll struct {
	parts [numParts]int64 // by part of the region; includes the regions entered from it
	child int64           // the share of the regions entered from it that have ended
	// The share that the region around has been charged with already (see remove).
	paid  int64
	away  int64 // in tasks that were executed while this region's clock stood still
	tasks int64 // in tasks that were executed while waiting here
}

func (y *toll) own() int64 {
	p := &y.parts
	return p[partEnter] + p[partBody] + p[partBarrier] + p[partExit] + p[partOther]
}

// whole is the toll for all of the time that the region was open, tasks included.
func (y *toll) whole() int64 { return y.own() + y.away }

func (y *toll) cost() profile.Cost {
	return profile.Cost{Exec: y.own(), Enter: y.parts[partEnter], Body: y.parts[partBody], Barrier: y.parts[partBarrier],
		Exit: y.parts[partExit], Child: y.child, Task: y.tasks}
}

// chargeToll adds the tolls of an ending region to its figures.
func (f *frame) chargeToll(s *profile.ThreadStats) {
	s.AddCost(f.costBy(byProbes))
	s.AddNoCore(f.costBy(byWait))
}

// costBy returns the toll of kind k, divided like the region's time.
func (f *frame) costBy(k int) profile.Cost {
	y := &f.tolls[k]
	if f.enter == 0 && y.parts[partEnter] != 0 || f.body == 0 && y.parts[partBody] != 0 ||
		f.barrier == 0 && y.parts[partBarrier] != 0 || f.exit == 0 && y.parts[partExit] != 0 {
		f.gatherToll(y)
	}
	return y.cost()
}

// gatherToll moves tolls out of parts in which a construct has no time. If the construct has all of
// its time in one part, they move there; otherwise they count in the whole time only.
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

// Costs sets the time that hits of probes take (ns). Before Costs is called, hits count as free.
func (e *Engine) Costs(c event.HitCosts) { e.costs = c }

// part returns the part that a toll in this frame belongs to now.
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

// tax charges the time that probes took of a thread since its last event to its innermost region.
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

// An MPI call is one event of two hits. The record of the first hit is written at the second one.
// The first hit takes its time stamp after it has read the call's arguments.

// taxCall returns the time that probes took before a call, and the time in all (ns). d is the part
// before the call that is already known.
func (e *Engine) taxCall(t *thread, ev *event.Event, d int64) (before, all int64) {
	k := &e.costs.Kinds
	if ev.Probe == event.NoProbe { // an operation that MPI_Start has started is no call
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

// insideCall returns the time that probes took between the two time stamps of a call (ns).
func (e *Engine) insideCall(ev *event.Event) int64 {
	if ev.Probe == event.NoProbe || ev.Edge == event.Enter {
		return 0
	}
	k := &e.costs.Kinds
	return max(0, k[ev.Probe.Class()].After-e.costs.Record) + k[event.ProbeReturn].Before
}

// handUpToll adds the tolls of the i-th region, which ends, to the region around it.
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

// payOpenToll charges an ending region with the tolls so far of the region at i, which is open
// inside it.
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

// disownToll gives the tolls of the i-th region to the region around it as its own time: the i-th
// turned out to be no region, or its end was not seen.
func (t *thread) disownToll(i int) {
	if i == 0 {
		return
	}
	f, up := &t.stack[i], &t.stack[i-1]
	for k := range f.tolls {
		up.tolls[k].parts[up.part()] += f.tolls[k].whole() - f.tolls[k].paid
	}
}

// endToll notes the tolls of a thread whose part in a team ends.
func (f *frame) endToll(mem *member) {
	mem.tolls = f.tolls
	f.node.present(mem.row).paid += f.tolls[byProbes].whole()
}

// joinTolls ends the primary thread's part in a region. Its tolls from the end of its body to the
// join belong to the team's exit, except those of tasks that it executed.
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

// takeOutToll gives the tolls of a user region that was entered again to the outer execution of the
// same region (see enteredFromOther).
func (t *thread) takeOutToll(i, outer int) {
	f, o := &t.stack[i], &t.stack[outer]
	for k := range f.tolls {
		y := &f.tolls[k]
		o.tolls[k].parts[o.part()] += y.whole() - y.paid
		*y = toll{child: y.child}
	}
}

// waitToll turns the toll of a single's body into that of a wait: another thread executes the body.
func (f *frame) waitToll() {
	for k := range f.tolls {
		p := &f.tolls[k].parts
		p[partBarrier], p[partBody] = p[partBarrier]+p[partBody], 0
	}
}

// taskToll is a toll of one task's execution.
type taskToll struct {
	wall   int64 // for the frames around the task, whose clocks stood still
	active int64 // for the task's own time
}

type taskTolls [numTolls]taskToll

// leaveTaskTolls returns the tolls of the innermost frame, a task that ends.
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

// resumeTolls charges the innermost frame, or its task, with the tolls of the time in which it
// stood still (see resume).
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

// costOf returns the part of a member's time in a team that probes took. All threads leave the
// final barrier when the last thread has come to it. The hit at the end of that thread's body is of
// the same kind as the primary thread's. So this hit and the one at the join belong to the exit of
// every thread. A thread in the barrier waits for others: of its own hits there, only those of
// tasks that it executes cost it time.
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

// paid returns how much later a thread ended its body because of its own probes and those of the
// fork (ns).
func (m *team) paid(mem *member) int64 {
	d := mem.tolls[byProbes].own()
	if mem.num != 0 {
		d += m.forkToll
	}
	return d
}

// early returns how much earlier the last of a team's threads would have ended its body without
// probes (ns). All bodies began at one time. The last thread may have waited for others within the
// region, so it cannot have ended before any of them.
func (m *team) early(last uint64) int64 {
	bare := int64(0)
	for i := range m.members {
		mem := &m.members[i]
		bare = max(bare, span(m.forked, min(mem.end, last))-m.paid(mem))
	}
	return max(0, span(m.forked, last)-bare)
}

// lateOf returns the part of a thread's wait in the final barrier that is due to threads which
// probes slowed down more than this one (ns). If tasks were executed meanwhile, the thread may have
// waited for these, and the part is not known: 0.
func (m *team) lateOf(mem *member, last uint64) int64 {
	if mem.tasks > 0 || m.lastTask > 0 || m.earlier == 0 {
		return 0
	}
	return max(0, min(m.earlier-m.paid(mem), span(min(mem.end, last), last)))
}

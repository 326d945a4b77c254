package attribution

import (
	"ompp-attach/event"
	"ompp-attach/profile"
)

// Counters. What a thread's counters have advanced by between two of its events
// belongs to the innermost region that was open in between, and, when that ends,
// to those around it. So a task that is suspended, or a region that is left by
// an exception, needs no clock of its own here: it gets what was counted while
// it was innermost, or what was entered from it.

// maxCounts is how many numbers an event may carry of its thread: eight counters
// and, where they take turns, how long each of them counted (see TakeTurns).
const maxCounts = 17

type counts [maxCounts]int64

func (c *counts) add(o *counts) {
	for i := range c {
		c[i] += o[i]
	}
}

// tally is what was counted in an open region.
type tally struct {
	own   counts
	child counts // in regions entered from it that have ended
	paid  counts // of it, what the region around it has got already (see remove)
	away  counts // in tasks that were executed while this one stood still
}

// whole is what was counted while the region was open, whosever it was.
func (y *tally) whole() (sum counts) {
	sum = y.own
	sum.add(&y.child)
	sum.add(&y.away)
	return sum
}

// counting is what the engine keeps for counters.
type counting struct {
	width int      // numbers in an event; 0: nothing is counted
	free  []*tally `copy:"-"`
}

// tallyOf returns what was counted in the i-th region of a thread's stack.
func (e *Engine) tallyOf(t *thread, i int) *tally {
	f := &t.stack[i]
	if f.tally != nil {
		return f.tally
	}
	if n := len(e.counting.free); n > 0 {
		f.tally = e.counting.free[n-1]
		e.counting.free = e.counting.free[:n-1]
	} else {
		f.tally = new(tally)
	}
	return f.tally
}

// discard frees a tally that nothing points to any more.
func (e *Engine) discard(y *tally) {
	if y != nil {
		*y = tally{}
		e.counting.free = append(e.counting.free, y)
	}
}

// count charges what a thread's counters have advanced by since its last event
// to the innermost region. Where they were not read, what was open has not all of
// its counts.
func (e *Engine) count(t *thread, ev *event.Event) {
	if e.counting.width == 0 {
		if len(ev.Counters) == 0 {
			t.gap = true // if anything is counted at all
			return
		}
		e.counting.width = min(len(ev.Counters), maxCounts)
	}
	switch {
	case len(ev.Counters) < e.counting.width:
		if ev.Construct == event.MPI && ev.Counters == nil { // the call's own are not known, the regions' are
			return
		}
		t.counted, t.gap = false, true
		t.uncount()
		return
	case t.gap:
		t.uncount()
	case t.counted && len(t.stack) > 0 && !(ev.Edge == event.On && e.offSince != 0):
		own := &e.tallyOf(t, len(t.stack)-1).own
		for i := range e.counting.width {
			own[i] += int64(ev.Counters[i] - t.counters[i])
		}
	}
	t.counted, t.gap = true, false
	copy(t.counters[:], ev.Counters)
}

// uncount marks what a thread has open as not counted, or not all of it.
func (t *thread) uncount() {
	for i := range t.stack {
		t.stack[i].uncounted = true
	}
}

// settleCounts charges the i-th region of a thread's stack, which ends, and adds
// what was counted in it to the one around it.
func (e *Engine) settleCounts(t *thread, i int) {
	if e.counting.width == 0 {
		return
	}
	f := &t.stack[i]
	countExecution(f.node.stat(f.row), f.tally, f.uncounted, e.counting.width)
	e.handUp(t, i)
}

// handUp adds what was counted in a region that ends to the one around it. A
// region still open inside of it has it around itself from then on.
func (e *Engine) handUp(t *thread, i int) {
	y := t.stack[i].tally
	if y == nil || i == 0 {
		return
	}
	up := e.tallyOf(t, i-1)
	sum := y.whole()
	for k := range sum {
		up.child[k] += sum[k] - y.paid[k]
	}
}

// payOpen gives a region that ends what was counted so far in the one that is
// open inside it, at i.
func (e *Engine) payOpen(t *thread, i int) {
	if e.counting.width == 0 {
		return
	}
	var sofar counts
	for j := len(t.stack) - 1; j >= i; j-- {
		if y := t.stack[j].tally; y != nil {
			in := y.whole()
			sofar.add(&in)
			if j > i {
				for k := range sofar {
					sofar[k] -= y.paid[k]
				}
			}
		}
	}
	below, y := e.tallyOf(t, i-1), e.tallyOf(t, i)
	for k := range sofar {
		below.child[k] += sofar[k] - y.paid[k]
	}
	y.paid = sofar
}

// disown makes what was counted in the i-th region that of the one around it:
// the region is none, or its end was not seen.
func (e *Engine) disown(t *thread, i int) {
	y := t.stack[i].tally
	if y == nil || i == 0 {
		return
	}
	up, sum := e.tallyOf(t, i-1), y.whole()
	for k := range sum {
		up.own[k] += sum[k] - y.paid[k]
	}
	e.discard(y)
	t.stack[i].tally = nil
}

// leaveTaskCounts charges the task whose frame is the innermost, and returns what
// was counted while what is around it stood still for it, and whether that is not
// all.
func (e *Engine) leaveTaskCounts(t *thread) (wall counts, uncounted bool) {
	f := t.top()
	y := f.tally
	if !f.internal {
		countExecution(f.node.stat(f.row), y, f.uncounted, e.counting.width)
	}
	switch {
	case y == nil:
	case f.internal: // counts for what it interrupted
		wall, y.away = y.away, counts{}
		e.disown(t, len(t.stack)-1)
	default:
		wall = y.whole()
		e.discard(y)
	}
	return wall, f.uncounted
}

// resumeCounts gives the innermost frame, or the task that it is in, what was
// counted while it stood still (see resume).
func (e *Engine) resumeCounts(t *thread, wall *counts, uncounted bool) {
	if e.counting.width == 0 || len(t.stack) == 0 {
		return
	}
	f := t.top()
	switch i := t.context(); {
	case i >= 0 && isExecution(t.stack[i].node.key.Construct):
		e.tallyOf(t, i).away.add(wall)
	case f.team != nil && f.phase == inBarrier && f.num < 0: // its part in the region is over
		if mem := f.team.member(t.num); mem != nil && !f.team.charged && f.team.forked <= f.mark {
			mem.uncounted = mem.uncounted || uncounted
			if mem.tally == nil {
				mem.tally = new(tally)
			}
			mem.tally.child.add(wall)
		}
	case f.node.key.Construct.IsTasking():
		e.tallyOf(t, len(t.stack)-1).away.add(wall)
	default:
		e.tallyOf(t, len(t.stack)-1).child.add(wall)
	}
}

// endMemberCounts ends a worker's part in a region. What it counts in the final
// barrier is not told before its next region begins.
func (e *Engine) endMemberCounts(f *frame, mem *member) {
	mem.uncounted = f.uncounted
	if f.num < 0 {
		mem.tally, f.tally = f.tally, nil
	}
}

// joinCounts ends the primary thread's part in a region, that at i on its stack.
func (e *Engine) joinCounts(t *thread, i int) {
	f := &t.stack[i]
	if mem := f.team.member(t.num); mem != nil {
		mem.tally, mem.uncounted = f.tally, f.uncounted
	}
	e.handUp(t, i)
}

// takeOutCounts gives what was counted in a user region that was entered again
// (see enteredFromOther) to the outer execution of it.
func (e *Engine) takeOutCounts(t *thread, i int) {
	f := &t.stack[i]
	y := f.tally
	if y == nil {
		return
	}
	countExecution(f.node.stat(f.row), nil, false, e.counting.width)
	for k := range e.counting.width {
		f.node.stat(f.row).ChildCounters[k] += y.child[k]
	}
	for j := i - 1; j >= 0; j-- {
		if t.stack[j].node == f.node && !t.stack[j].inner {
			own := &e.tallyOf(t, j).own
			for k := range own {
				own[k] += y.own[k] + y.child[k] - y.paid[k]
			}
			return
		}
	}
}

// count adds a region's execution.
func countExecution(s *profile.ThreadStats, y *tally, uncounted bool, width int) {
	if width == 0 {
		return
	}
	if s.Counters == nil {
		s.Counters = make([]int64, width)
		s.ChildCounters = make([]int64, width)
	}
	if uncounted {
		s.Uncounted++
	}
	if y == nil {
		return
	}
	for i := range width {
		s.Counters[i] += y.own[i] + y.child[i]
		s.ChildCounters[i] += y.child[i]
	}
}

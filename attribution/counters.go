package attribution

import (
	"ompp-attach/event"
	"ompp-attach/profile"
)

// Counters. The advance of a thread's counters between two of its events belongs to the innermost
// region that was open in between. When that region ends, the advance goes to the regions around
// it. So a suspended task, or a region that an exception leaves, needs no clock of its own here:
// its counts are those of the time in which it was innermost, and of the regions entered from it.

// maxCounts bounds the numbers that an event may carry of its thread: eight counters and, if the
// counters take turns, how long each of them counted (see TakeTurns).
const maxCounts = 17

type counts [maxCounts]int64

func (c *counts) add(o *counts) {
	for i := range c {
		c[i] += o[i]
	}
}

// tally holds the counts of an open region.
type tally struct {
	own   counts
	child counts // in regions entered from it that have ended
	paid  counts // the share that the region around has been charged with already (see remove)
	away  counts // in tasks that were executed while this region's clock stood still
}

// whole returns all counts while the region was open, tasks included.
func (y *tally) whole() (sum counts) {
	sum = y.own
	sum.add(&y.child)
	sum.add(&y.away)
	return sum
}

// counting is the engine's state of the counters.
type counting struct {
	width int      // numbers in an event; 0: no counters so far
	free  []*tally `copy:"-"`
}

// tallyOf returns the counts of the i-th region of a thread's stack.
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

// discard keeps the memory of a tally for reuse. Nothing may point to it any more.
func (e *Engine) discard(y *tally) {
	if y != nil {
		*y = tally{}
		e.counting.free = append(e.counting.free, y)
	}
}

// count charges the advance of a thread's counters since its last event to the innermost region. If
// an event has no counters, the counts of the open regions are incomplete.
func (e *Engine) count(t *thread, ev *event.Event) {
	if e.counting.width == 0 {
		if len(ev.Counters) == 0 {
			t.gap = true // matters only if counters come later
			return
		}
		e.counting.width = min(len(ev.Counters), maxCounts)
	}
	switch {
	case len(ev.Counters) < e.counting.width:
		// The call's own counts are not known; those of the regions around are complete.
		if ev.Construct == event.MPI && ev.Counters == nil {
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

// uncount marks the counts of all open regions of a thread as incomplete.
func (t *thread) uncount() {
	for i := range t.stack {
		t.stack[i].uncounted = true
	}
}

// settleCounts charges the i-th region of a thread's stack, which ends, and adds its counts to the
// region around it.
func (e *Engine) settleCounts(t *thread, i int) {
	if e.counting.width == 0 {
		return
	}
	f := &t.stack[i]
	countExecution(f.node.stat(f.row), f.tally, f.uncounted, e.counting.width)
	e.handUp(t, i)
}

// handUp adds the counts of an ending region to the region around it. A region that is still open
// inside it is then directly inside the region around.
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

// payOpen charges an ending region with the counts so far of the region at i, which is open inside
// it.
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

// disown gives the counts of the i-th region to the region around it as its own: the i-th turned
// out to be no region, or its end was not seen.
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

// leaveTaskCounts charges the task in the innermost frame. It returns the counts of the time in
// which the frames around the task stood still, and whether these counts are incomplete.
func (e *Engine) leaveTaskCounts(t *thread) (wall counts, uncounted bool) {
	f := t.top()
	y := f.tally
	if !f.internal {
		countExecution(f.node.stat(f.row), y, f.uncounted, e.counting.width)
	}
	switch {
	case y == nil:
	case f.internal: // its counts are those of the frames that it interrupted
		wall, y.away = y.away, counts{}
		e.disown(t, len(t.stack)-1)
	default:
		wall = y.whole()
		e.discard(y)
	}
	return wall, f.uncounted
}

// resumeCounts charges the innermost frame, or its task, with the counts of the time in which it
// stood still (see resume).
func (e *Engine) resumeCounts(t *thread, wall *counts, uncounted bool) {
	if e.counting.width == 0 || len(t.stack) == 0 {
		return
	}
	f := t.top()
	switch i := t.context(); {
	case i >= 0 && isExecution(t.stack[i].node.key.Construct):
		e.tallyOf(t, i).away.add(wall)
	// The thread's part in the region is over.
	case f.team != nil && f.phase == inBarrier && f.num < 0:
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

// endMemberCounts ends a worker's part in a region. The worker's next event is the begin of its
// next region, so its counts in the final barrier are not known.
func (e *Engine) endMemberCounts(f *frame, mem *member) {
	mem.uncounted = f.uncounted
	if f.num < 0 {
		mem.tally, f.tally = f.tally, nil
	}
}

// joinCounts ends the primary thread's part in the region at i on its stack.
func (e *Engine) joinCounts(t *thread, i int) {
	f := &t.stack[i]
	if mem := f.team.member(t.num); mem != nil {
		mem.tally, mem.uncounted = f.tally, f.uncounted
	}
	e.handUp(t, i)
}

// takeOutCounts gives the counts of a user region that was entered again (see enteredFromOther) to
// the outer execution of the same region.
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

// countExecution adds the counts of one execution to a region's figures.
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

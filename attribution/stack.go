package attribution

import (
	"slices"

	"ompp-attach/event"
	"ompp-attach/profile"
)

// A thread's stack of open regions.

// push opens a region under the thread's current one.
func (e *Engine) push(t *thread, k Key, ev *event.Event) *frame {
	e.mend(t, k.Construct, ev)
	e.initial(t)
	parent := e.root
	if f := t.top(); f != nil {
		parent = f.node
	}
	return t.open(e.child(parent, k), ev)
}

// open opens a region on the thread's stack.
func (t *thread) open(n *node, ev *event.Event) *frame {
	t.stack = append(t.stack, frame{}) // in place: frames are large
	f := &t.stack[len(t.stack)-1]
	f.node, f.row, f.sp, f.flags = n, t.row, ev.SP, ev.Flags
	f.start, f.mark, f.paid = ev.Time, ev.Time, ev.Time
	return f
}

// pop closes the innermost region at a time and charges it.
func (e *Engine) pop(t *thread, at uint64) { e.remove(t, len(t.stack)-1, at) }

// remove closes the i-th region of the stack. OpenMP lets locks overlap, so regions that were
// opened inside it may still be open. Their time until now lies in it, the rest in its parent.
func (e *Engine) remove(t *thread, i int, at uint64) {
	f := &t.stack[i]
	if i+1 < len(t.stack) {
		above := &t.stack[i+1]
		f.child += span(above.paid, at)
		above.paid = at
		e.payOpenToll(t, i+1)
		e.payOpen(t, i+1)
		f = &t.stack[i]
	}
	exec := span(f.start, at) - f.away
	switch outer := t.outer(i); {
	case outer >= 0: // its time is part of the outer execution's
		for j := outer + 1; j < i; j++ {
			t.stack[j].leaveOut(span(f.paid, at))
		}
		exec, f.body = 0, 0
		t.takeOutToll(i, outer)
		e.takeOutCounts(t, i)
	case i > 0:
		t.stack[i-1].child += span(f.paid, at)
		t.handUpToll(i)
		e.settleCounts(t, i)
	default:
		e.settleCounts(t, i)
	}
	f.charge(f.node.stat(f.row), exec)
	e.discard(f.tally)
	if i+1 == len(t.stack) {
		t.stack = t.stack[:i]
		return
	}
	t.stack = append(t.stack[:i], t.stack[i+1:]...)
}

func (f *frame) charge(s *profile.ThreadStats, exec int64) {
	s.Exec.T += exec
	s.Exec.C++
	s.Enter.T += f.enter
	s.Enter.C += f.enters
	s.Body.T += f.body
	s.Body.C += f.bodies
	s.Barrier.T += f.barrier
	s.Barrier.C += f.bars
	s.Exit.T += f.exit
	s.Child += f.child
	s.Task += f.task
	s.Tasks += f.tasks
	f.chargeToll(s)
}

// abandon closes the innermost region if its end was not seen. The execution counts. Its times are
// not known and are left out.
func (e *Engine) abandon(t *thread) { e.drop(t, len(t.stack)-1) }

// drop abandons the i-th region of the stack.
func (e *Engine) drop(t *thread, i int) {
	f := &t.stack[i]
	if m := f.team; m != nil && f.num >= 0 {
		if !m.charged {
			e.abandonTeam(m)
		}
		t.num = f.num
	} else if m == nil && !f.resumed && !f.internal { // a worker's part is settled with its team
		s := f.node.stat(f.row)
		s.Exec.C++
		countExecution(s, nil, true, e.counting.width)
	}
	f.node.note("the end of some executions was not seen: they are counted, their times are not")
	// Otherwise the end may have come while the construct was not observed.
	if !e.watch.gone.Has(f.node.key.Construct) {
		e.unmatched++
	}
	t.disownToll(i)
	e.disown(t, i)
	t.stack = slices.Delete(t.stack, i, i+1)
	t.setClock()
}

// level returns the index of the innermost parallel frame, -1 outside any.
func (t *thread) level() int {
	for i := len(t.stack) - 1; i >= 0; i-- {
		if t.stack[i].node.key.Construct.IsParallel() {
			return i
		}
	}
	return -1
}

// find returns the index of the innermost open region of a construct within the thread's current
// task, implicit or explicit. It returns -1 if there is none.
func (t *thread) find(c event.Construct, match func(*frame) bool) int {
	for i := len(t.stack) - 1; i >= 0; i-- {
		f := &t.stack[i]
		if isContext(f.node.key.Construct) {
			return -1
		}
		if f.node.key.Construct == c && (match == nil || match(f)) {
			return i
		}
	}
	return -1
}

func span(from, to uint64) int64 {
	if to < from {
		return 0
	}
	return int64(to - from)
}

package attribution

import (
	"slices"

	"ompp-attach/attribution/ledger"
	"ompp-attach/attribution/tree"
	"ompp-attach/event"
)

// A thread's stack of open regions.

// push opens a region under the thread's current one.
func (e *Engine) push(t *thread, k Key, ev *event.Event) *frame {
	e.mend(t, k.Construct, ev)
	e.initial(t)
	parent := e.tree.Root
	if f := t.top(); f != nil {
		parent = f.node
	}
	return t.open(e.tree.Child(parent, k), ev)
}

// open opens a region on the thread's stack.
func (t *thread) open(n *tree.Node, ev *event.Event) *frame {
	t.stack = append(t.stack, frame{}) // in place: frames are large
	f := &t.stack[len(t.stack)-1]
	f.node, f.row, f.sp, f.flags = n, t.row, ev.SP, ev.Flags
	f.Open(ev.Time)
	return f
}

// openUnderWay opens a region of which the thread is known to be inside, but not since when. Its
// counters are known for a part of it at most.
func (t *thread) openUnderWay(n *tree.Node, row int, at uint64) {
	t.stack = append(t.stack, frame{node: n, phase: inBody, row: row, num: -1})
	f := t.top()
	f.Account.Open(at)
	f.Uncounted = true
}

// pop closes the innermost region at a time and charges it.
func (e *Engine) pop(t *thread, at uint64) { e.remove(t, len(t.stack)-1, at) }

// remove closes the i-th region of the stack. OpenMP lets locks overlap, so regions that were
// opened inside it may still be open. Their time until now lies in it, the rest in its parent.
func (e *Engine) remove(t *thread, i int, at uint64) {
	f := &t.stack[i]
	if i+1 < len(t.stack) {
		var more ledger.Sum
		for j := i + 2; j < len(t.stack); j++ {
			more.Add(&t.stack[j].Account)
		}
		e.ledger.PayOpen(&f.Account, &t.stack[i+1].Account, &more, at)
	}
	exec := ledger.Span(f.Start, at) - f.Away
	if outer := t.outer(i); outer >= 0 { // its time is part of the outer execution's
		for j := outer + 1; j < i; j++ {
			t.stack[j].LeaveOut(f.Due(at))
		}
		exec = 0
		e.ledger.TakeOut(&f.Account, &t.stack[outer].Account, t.stack[outer].part())
	} else {
		e.handUp(t, i, at)
	}
	e.ledger.Charge(&f.Account, f.node.Stat(f.row), exec)
	e.ledger.Release(&f.Account)
	if i+1 == len(t.stack) {
		t.stack = t.stack[:i]
		return
	}
	t.stack = append(t.stack[:i], t.stack[i+1:]...)
}

// handUp charges the region around the i-th one, which ends at a time, with the i-th one's account.
func (e *Engine) handUp(t *thread, i int, at uint64) {
	if i > 0 {
		f, up := &t.stack[i], &t.stack[i-1]
		e.ledger.HandUp(&f.Account, &up.Account, up.part(), at)
	}
}

// disown gives the account of the i-th region to the region around it as its own.
func (e *Engine) disown(t *thread, i int) {
	if i > 0 {
		f, up := &t.stack[i], &t.stack[i-1]
		e.ledger.Disown(&f.Account, &up.Account, up.part())
	}
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
		s := f.node.Stat(f.row)
		s.Exec.C++
		e.ledger.CountUnknown(s)
	}
	f.node.Note("the end of some executions was not seen: they are counted, their times are not")
	// Otherwise the end may have come while the construct was not observed.
	if !e.gone.Has(f.node.Key.Construct) {
		e.unmatched++
	}
	e.disown(t, i)
	t.stack = slices.Delete(t.stack, i, i+1)
	t.setClock()
}

// level returns the index of the innermost parallel frame, -1 outside any.
func (t *thread) level() int {
	for i := len(t.stack) - 1; i >= 0; i-- {
		if t.stack[i].node.Key.Construct.IsParallel() {
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
		if isContext(f.node.Key.Construct) {
			return -1
		}
		if f.node.Key.Construct == c && (match == nil || match(f)) {
			return i
		}
	}
	return -1
}

package attribution

import (
	"slices"

	"ompp-attach/attribution/ledger"
	"ompp-attach/attribution/place"
	"ompp-attach/attribution/tree"
	"ompp-attach/event"
	"ompp-attach/profile"
)

// A thread's stack of open regions.

// stacks are the threads' stacks of open regions, with what all regions share.
type stacks struct {
	*rows
	*teams
	tree   *tree.Tree
	ledger *ledger.Ledger
	pid    uint32

	existing map[uint32]bool // threads older than the measurement
	// Nodes of existing threads that are not known to be in a region or outside (existingAt).
	whereabouts map[uint32]*tree.Node
	// When measurement of existing threads began, or went on after a pause; 0: there are none.
	began     uint64
	started   uint64           // time of the first event; 0: there was none
	budgeted  bool             // there were changes of what is observed, or there may be some
	gone      event.Constructs // constructs that were unobserved at some time
	coreWaits map[uint32]int64 // without a core before the measurement, ns, by thread id

	unmatched uint64 // events that belong to no open region
	partial   uint64 // executions that were seen in part
	lost      uint64
	losses    map[tree.Row]uint64

	offSince uint64  // when measurement was switched off; 0: it is on
	offBy    *thread // the thread whose marker switched it off
	off      profile.Span

	stackLo, stackHi uint64 // see MainStack
}

// push opens a region under the thread's current one.
func (st *stacks) push(t *thread, k place.Key, ev *event.Event) *frame {
	st.mend(t, k.Construct, ev)
	st.initial(t)
	parent := st.tree.Root
	if f := t.top(); f != nil {
		parent = f.node
	}
	return t.open(st.tree.Child(parent, k), ev)
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
func (st *stacks) pop(t *thread, at uint64) { st.remove(t, len(t.stack)-1, at) }

// remove closes the i-th region of the stack. OpenMP lets locks overlap, so regions that were
// opened inside it may still be open. Their time until now lies in it, the rest in its parent.
func (st *stacks) remove(t *thread, i int, at uint64) {
	f := &t.stack[i]
	if i+1 < len(t.stack) {
		var more ledger.Sum
		for j := i + 2; j < len(t.stack); j++ {
			more.Add(&t.stack[j].Account)
		}
		st.ledger.PayOpen(&f.Account, &t.stack[i+1].Account, &more, at)
	}
	exec := ledger.Span(f.Start, at) - f.Away
	if outer := t.outer(i); outer >= 0 { // its time is part of the outer execution's
		for j := outer + 1; j < i; j++ {
			t.stack[j].LeaveOut(f.Due(at))
		}
		exec = 0
		st.ledger.TakeOut(&f.Account, &t.stack[outer].Account, t.stack[outer].part())
	} else {
		st.handUp(t, i, at)
	}
	st.ledger.Charge(&f.Account, f.node.Stat(f.row), exec)
	st.ledger.Release(&f.Account)
	if i+1 == len(t.stack) {
		t.stack = t.stack[:i]
		return
	}
	t.stack = append(t.stack[:i], t.stack[i+1:]...)
}

// handUp charges the region around the i-th one, which ends at a time, with the i-th one's account.
func (st *stacks) handUp(t *thread, i int, at uint64) {
	if i > 0 {
		f, up := &t.stack[i], &t.stack[i-1]
		st.ledger.HandUp(&f.Account, &up.Account, up.part(), at)
	}
}

// disown gives the account of the i-th region to the region around it as its own.
func (st *stacks) disown(t *thread, i int) {
	if i > 0 {
		f, up := &t.stack[i], &t.stack[i-1]
		st.ledger.Disown(&f.Account, &up.Account, up.part())
	}
}

// abandon closes the innermost region if its end was not seen. The execution counts. Its times are
// not known and are left out.
func (st *stacks) abandon(t *thread) { st.drop(t, len(t.stack)-1) }

// drop abandons the i-th region of the stack.
func (st *stacks) drop(t *thread, i int) {
	f := &t.stack[i]
	if m := f.team; m != nil && f.num >= 0 {
		if !m.charged {
			st.abandonTeam(m)
		}
		t.num = f.num
	} else if m == nil && !f.resumed && !f.internal { // a worker's part is settled with its team
		s := f.node.Stat(f.row)
		s.Exec.C++
		st.ledger.CountUnknown(s)
	}
	f.node.Note("the end of some executions was not seen: they are counted, their times are not")
	// Otherwise the end may have come while the construct was not observed.
	if !st.gone.Has(f.node.Key.Construct) {
		st.unmatched++
	}
	st.disown(t, i)
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

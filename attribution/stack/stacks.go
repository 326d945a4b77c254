package stack

import (
	"slices"

	"ompp-attach/attribution/ledger"
	"ompp-attach/attribution/strip"
)

// Stacks are the threads' stacks of open regions, with what all regions share. It opens and closes
// regions. What lies below knows nothing of that: each struct that is embedded knows only those
// that it embeds itself.
type Stacks struct {
	Existing
	MainStack
	Cores
	Strip strip.Chart
}

// MainStack is the process's first stack.
type MainStack struct{ StackLo, StackHi uint64 }

// Pop closes the innermost region at a time and charges it.
func (st *Stacks) Pop(t *Thread, at uint64) { st.Remove(t, len(t.Stack)-1, at) }

// Remove closes the i-th region of the stack. OpenMP lets locks overlap, so regions that were
// opened inside it may still be open. Their time until now lies in it, the rest in its parent.
func (st *Stacks) Remove(t *Thread, i int, at uint64) {
	open := &t.Stack[i]
	if i+1 < len(t.Stack) {
		var more ledger.Sum
		for j := i + 2; j < len(t.Stack); j++ {
			more.Add(&t.Stack[j].Account)
		}
		st.Ledger.PayOpen(&open.Account, &t.Stack[i+1].Account, &more, at)
	}
	exec := ledger.Between(open.Start, at) - open.Suspended
	if outer := t.outer(i); outer >= 0 { // its time is part of the outer execution's
		for j := outer + 1; j < i; j++ {
			t.Stack[j].LeaveOut(open.Due(at))
			t.Stack[j].leftOut += uint64(open.Due(at))
		}
		exec = 0
		st.Ledger.TakeOut(&open.Account, &t.Stack[outer].Account, t.Stack[outer].part())
	} else {
		st.HandUp(t, i, at)
	}
	st.charge(t, i, at, exec)
	st.Ledger.Release(&open.Account)
	if i+1 == len(t.Stack) {
		t.Stack = t.Stack[:i]
		return
	}
	t.Stack = append(t.Stack[:i], t.Stack[i+1:]...)
}

// Abandon closes the innermost region if its end was not seen. The execution counts. Its times are
// not known and are left out.
func (st *Stacks) Abandon(t *Thread) { st.drop(t, len(t.Stack)-1) }

// drop abandons the i-th region of the stack.
func (st *Stacks) drop(t *Thread, i int) {
	open := &t.Stack[i]
	t.leaveInterval(open)
	if m := open.Team; m != nil && open.Num >= 0 {
		if !m.Charged {
			st.abandonTeam(m)
		}
		t.Num = open.Num
	} else if m == nil && !open.Resumed && !open.Internal { // a team charges workers' parts
		s := open.Node.Stat(open.Seat)
		s.Exec.C++
		st.Ledger.CountUnknown(s)
		if st.Spans != nil {
			st.Spans.Unseen(t.Tid, open.Node, open.Seat, open.began(), 0)
		}
	}
	open.Node.Note("the end of some executions was not seen: they are counted, their times are not")
	// Otherwise the end may have come while the construct was not observed.
	if !st.Gone.Has(open.Node.Key.Element()) {
		st.Unmatched++
	}
	st.Disown(t, i)
	t.Stack = slices.Delete(t.Stack, i, i+1)
	t.SetClock()
}

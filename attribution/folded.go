package attribution

import (
	"ompp-attach/attribution/stack"
	"ompp-attach/event"
	"ompp-attach/profile"
)

// Folded executions. The kernel side adds up the executions of a construct as long as their thread
// reports nothing else. All of them lie in the region that the thread has open, as if they had been
// pushed and popped one by one.

// folded charges executions that the kernel side has added up.
func (ex *exclusive) folded(t *stack.Thread, ev *event.Event) {
	f := ev.Fold
	if f == nil {
		return
	}
	ex.Mend(t, ev.Construct, ev)
	ex.Initial(t)
	if f.Executions == 0 {
		return
	}
	parent := ex.Tree.Root
	if top := t.Top(); top != nil {
		parent = top.Node
		top.Child += int64(f.Enter + f.Body + f.Exit)
	}
	n := ex.Tree.Child(parent, t.Key(ev.Construct, ev))
	if iv := t.Interval; iv != nil && iv.Noting() {
		waited := uint64(0)
		if stack.Guards(ev.Construct) {
			waited = f.Enter
		}
		iv.Folded(n, parent, t.Seat, int64(f.Enter+f.Body+f.Exit), int64(waited))
	}
	if t.Interval != nil {
		t.NoteUses(n, ev)
	}
	s := n.Stat(t.Seat)
	inside, _ := ex.Ledger.FoldCost(f, ev.Probe)
	s.AddCost(inside)
	s.Exec.Add(profile.Sum{T: int64(f.Enter + f.Body + f.Exit), C: f.Executions})
	s.Enter.Add(profile.Sum{T: int64(f.Enter), C: f.Bodies})
	s.Body.Add(profile.Sum{T: int64(f.Body), C: f.Bodies})
	s.Exit.T += int64(f.Exit)
	ex.Ledger.ReadFolded(&t.Counters, f, s, t.Account())
	t.ShowFold(ev.Construct, ev.Time+t.Suspended, f)
	if ex.Spans != nil {
		ex.Spans.Folded(t.Tid, n, t.Seat, ev.Time+t.Suspended, f, ex.Ledger)
	}
}

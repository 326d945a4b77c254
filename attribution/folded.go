package attribution

import (
	"ompp-attach/event"
	"ompp-attach/profile"
)

// Folded executions. The kernel side adds up the executions of a construct as long as their thread
// reports nothing else. All of them lie in the region that the thread has open, as if they had been
// pushed and popped one by one.

// folded charges executions that the kernel side has added up.
func (ex *exclusive) folded(t *thread, ev *event.Event) {
	f := ev.Fold
	if f == nil {
		return
	}
	ex.mend(t, ev.Construct, ev)
	ex.initial(t)
	if f.Executions == 0 {
		return
	}
	parent := ex.tree.Root
	if top := t.top(); top != nil {
		parent = top.node
		top.Child += int64(f.Enter + f.Body + f.Exit)
	}
	s := ex.tree.Child(parent, t.key(ev.Construct, ev)).Stat(t.row)
	inside, _ := ex.ledger.FoldCost(f, ev.Probe)
	s.AddCost(inside)
	s.Exec.Add(profile.Span{T: int64(f.Enter + f.Body + f.Exit), C: f.Executions})
	s.Enter.Add(profile.Span{T: int64(f.Enter), C: f.Bodies})
	s.Body.Add(profile.Span{T: int64(f.Body), C: f.Bodies})
	s.Exit.T += int64(f.Exit)
	ex.ledger.ReadFolded(&t.counters, f, s, t.account())
}

// hits returns how many hits of probes an event stands for.
func hits(ev *event.Event) uint64 {
	switch {
	case ev.Edge == event.Sampled, ev.Edge == event.CoreWait:
		return 0
	case ev.Fold != nil:
		return ev.Fold.Hits
	}
	return 1
}

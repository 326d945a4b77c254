package stack

import (
	"ompp-attach/attribution/waits"
	"ompp-attach/event"
)

// Broods: the tasks for which waits wait (package waits).

// Enlist counts a task that a thread creates in the broods of its parent and of its taskgroup. It
// returns these; nil: there is none.
func (s *Stack) Enlist() (up [2]*waits.Brood) {
	for i := len(*s) - 1; i >= 0; i-- {
		open := &(*s)[i]
		c := open.Node.Key.Construct
		switch {
		case IsContext(c) && open.Internal: // its tasks are its parent's
			up[0] = open.Up[0]
		case IsContext(c):
			up[0] = open.brood()
		case c == event.TaskGroup && open.Phase == InBody && up[1] == nil:
			up[1] = open.brood()
			continue
		default:
			continue
		}
		if up[1] == nil {
			up[1] = open.Up[1]
		}
		break
	}
	for _, b := range up {
		b.Join()
	}
	return up
}

func (o *OpenRegion) brood() *waits.Brood {
	if o.Brood == nil {
		o.Brood = &waits.Brood{}
	}
	return o.Brood
}

// awaited returns the tasks for which a thread waits in its innermost region; nil: none are known.
func (s *Stack) awaited() *waits.Brood {
	switch open := s.Top(); open.Node.Key.Construct {
	case event.TaskGroup:
		return open.Brood
	case event.TaskWait:
		if i := s.Context(); i >= 0 {
			return (*s)[i].Brood
		}
	}
	return nil
}

// AwaitsEnds tells whether an event ends a thread's wait for tasks of which not all ends have been
// read.
func (s *Stack) AwaitsEnds(ev *event.Event) bool {
	if ev.Construct != event.TaskWait && ev.Construct != event.TaskGroup || ev.Lost > 0 {
		return false
	}
	open := s.Top()
	if open == nil || open.Phase != InBarrier || open.Node.Key.Construct != ev.Construct {
		return false
	}
	return s.awaited().Lives()
}

// AwaitedTask notes for which task a thread has waited last in its innermost region. The region is
// a wait for tasks that ends at a time (ns). It also notes for which tasks to be created the thread
// has waited. The former is not noted if the thread executed that task itself.
func (t *Thread) AwaitedTask(at uint64) {
	open, b := t.Top(), t.awaited()
	open.late.Charge(open.Node, open.Seat)
	if last := b.Last(at); last != nil && last.Seat != open.Seat {
		t.Interval.AwaitTask(open.Node, open.Seat, open.Idle, last)
	}
}

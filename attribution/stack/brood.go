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
		f := &(*s)[i]
		c := f.Node.Key.Construct
		switch {
		case IsContext(c) && f.Internal: // its tasks are its parent's
			up[0] = f.Up[0]
		case IsContext(c):
			up[0] = f.brood()
		case c == event.TaskGroup && f.Phase == InBody && up[1] == nil:
			up[1] = f.brood()
			continue
		default:
			continue
		}
		if up[1] == nil {
			up[1] = f.Up[1]
		}
		break
	}
	for _, b := range up {
		b.Join()
	}
	return up
}

func (f *OpenRegion) brood() *waits.Brood {
	if f.Brood == nil {
		f.Brood = &waits.Brood{}
	}
	return f.Brood
}

// awaited returns the tasks for which a thread waits in its innermost region; nil: none are known.
func (s *Stack) awaited() *waits.Brood {
	switch f := s.Top(); f.Node.Key.Construct {
	case event.TaskGroup:
		return f.Brood
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
	f := s.Top()
	if f == nil || f.Phase != InBarrier || f.Node.Key.Construct != ev.Construct {
		return false
	}
	return s.awaited().Lives()
}

// AwaitedTask notes for which task a thread has waited last in its innermost region. The region is
// a wait for tasks that ends at a time (ns). It also notes for which tasks to be created the thread
// has waited. The former is not noted if the thread executed that task itself.
func (t *Thread) AwaitedTask(at uint64) {
	f, b := t.Top(), t.awaited()
	f.late.Charge(f.Node, f.Seat)
	if last := b.Last(at); last != nil && last.Seat != f.Seat {
		t.Interval.AwaitTask(f.Node, f.Seat, f.Idle, last)
	}
}

package attribution

import "ompp-attach/attribution/stack"

// threads are those that have reported something, except idle ones.
type threads struct {
	byID   map[uint32]*stack.Thread
	recent [512]*stack.Thread   // cache of byID, indexed by the last digits of the thread id
	spare  [][]stack.OpenRegion `copy:"-"` // stacks of forgotten threads, for reuse
	// inside are the threads that were inside a construct when all were last closed, by thread id.
	inside map[uint32]bool
}

// noteInside notes which threads are inside a construct now.
func (ts *threads) noteInside() {
	ts.inside = map[uint32]bool{}
	for _, t := range ts.byID {
		if len(t.Stack) > 0 && !t.Idle() {
			ts.inside[t.Tid] = true
		}
	}
}

// forget drops a thread that has nothing open, and keeps the memory of its stack for another
// thread. Programs that nest teams may start threads without end.
func (ts *threads) forget(t *stack.Thread) {
	t.Ends.Sum()
	delete(ts.byID, t.Tid)
	ts.recent[t.Tid%uint32(len(ts.recent))] = nil
	const enough = 1024
	if len(ts.spare) < enough {
		ts.spare = append(ts.spare, t.Stack[:0])
		t.Stack = nil
	}
}

func (ts *threads) newThread(tid uint32) *stack.Thread {
	t := &stack.Thread{Life: stack.Life{Tid: tid}}
	if n := len(ts.spare) - 1; n >= 0 {
		t.Stack = ts.spare[n]
		ts.spare = ts.spare[:n]
	}
	return t
}

package attribution

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"ompp-attach/event"
	"ompp-attach/profile"
)

// taskWaitCases are programs in which it is known by construction for whose tasks threads wait, and
// where the critical path is.
var taskWaitCases = []struct{ name, events, want string }{
	// Thread 1 waits from 15 to 62. Thread 2 executes its task from 20 to 60.
	{"a taskwait waits for a task of another thread while that executes it", team(2, 80, `
		10 2 wait barrier site=440
		11 1 enter task fn=50 site=430
		12 1 result task key=1000
		14 1 released task
		15 1 wait taskwait site=450
		20 2 begin taskexec fn=50 key=1000
		60 2 end taskexec key=1000
		62 1 waited taskwait
		70 1 wait barrier site=440
		71 1 waited barrier
		71 2 waited barrier`), `
		PARALLEL@300 0:0 on path 29
		PARALLEL@300/BARRIER@440 0:1 no task 2/1
		PARALLEL@300/TASK@50 0:0 late task 2/1 on path 3
		PARALLEL@300/TASK@50/TASKEXEC@50 0:1 of task 40/1 far 12 on path 40
		PARALLEL@300/TASKWAIT@450 0:0 for task 40/1 on path 7`},
	// Thread 1 has nothing to do from 15 to 20, and from 30 to 60, while another executes its task.
	// The task that it executes itself, from 20 to 30, was created at 18.
	{"a taskwait executes a task itself", team(2, 80, `
		5 2 wait barrier site=440
		6 1 enter task fn=50 site=430
		7 1 result task key=1000
		8 1 released task
		9 2 begin taskexec fn=50 key=1000
		15 1 wait taskwait site=450
		17 2 enter task fn=51 site=431
		18 2 result task key=2000
		19 2 released task
		20 1 begin taskexec fn=51 key=2000
		30 1 end taskexec key=2000
		60 2 end taskexec key=1000
		61 1 waited taskwait
		70 1 wait barrier site=440
		71 1 waited barrier
		71 2 waited barrier`), `
		PARALLEL@300 0:0 on path 31
		PARALLEL@300/BARRIER@440 0:1 no task 2/1
		PARALLEL@300/TASK@50 0:0 late task 2/1 on path 2
		PARALLEL@300/TASK@50/TASKEXEC@50 0:1 of task 30/1 far 5 on path 30
		PARALLEL@300/TASK@50/TASKEXEC@50/TASK@51 0:1 late task 3/1
		PARALLEL@300/TASK@50/TASKEXEC@50/TASK@51/TASKEXEC@51 0:0 on path 10
		PARALLEL@300/TASKWAIT@450 0:0 no task 3/1 for task 30/1 on path 6`},
	// The child of thread 1 creates a grandchild (20), ends (25), and thread 3 executes the
	// grandchild from 30 to 50. A taskwait does not wait for it, the end of a taskgroup does.
	{"a taskwait waits for children, a taskgroup for grandchildren, too", team(3, 80, `
		1 2 wait barrier site=440
		2 3 wait barrier site=440
		5 1 enter taskgroup site=449
		6 1 enter task fn=50 site=430
		7 1 result task key=1000
		8 1 released task
		9 2 begin taskexec fn=50 key=1000
		15 1 wait taskwait site=450
		19 2 enter task fn=51 site=431
		20 2 result task key=2000
		21 2 released task
		25 2 end taskexec key=1000
		26 1 waited taskwait
		28 1 wait taskgroup
		30 3 begin taskexec fn=51 key=2000
		50 3 end taskexec key=2000
		52 1 waited taskgroup
		70 1 wait barrier site=440
		71 1 waited barrier
		71 2 waited barrier
		71 3 waited barrier`), `
		PARALLEL@300 0:0 on path 32
		PARALLEL@300/BARRIER@440 0:1 no task 6/1
		PARALLEL@300/BARRIER@440 0:2 no task 18/1
		PARALLEL@300/TASKGROUP@449 0:0 for task 20/1 on path 14
		PARALLEL@300/TASKGROUP@449/TASK@50 0:0 late task 6/1 on path 2
		PARALLEL@300/TASKGROUP@449/TASK@50/TASKEXEC@50 0:1 of task 10/1 far 14 on path 10
		PARALLEL@300/TASKGROUP@449/TASK@50/TASKEXEC@50/TASK@51 0:1 late task 18/1
		PARALLEL@300/TASKGROUP@449/TASK@50/TASKEXEC@50/TASK@51/TASKEXEC@51 0:2 of task 20/1 far 28 on path 20
		PARALLEL@300/TASKGROUP@449/TASKWAIT@450 0:0 for task 10/1 on path 1`},
	// All have come at 10. Thread 1 executes the root (12 to 90), which waits from 20 to 80, and
	// thread 2 the child (30 to 80). After its child, thread 2 waits for the root from 80 to 90.
	{"tasks in a barrier after the last arrival: the path is with the thread that is last", team(2, 99, `
		1 1 enter task fn=50 site=430
		2 1 result task key=1000
		3 1 released task
		5 1 wait barrier site=440
		10 2 wait barrier site=440
		12 1 begin taskexec fn=50 key=1000
		16 1 enter task fn=51 site=431
		17 1 result task key=2000
		18 1 released task
		20 1 wait taskwait site=450
		30 2 begin taskexec fn=51 key=2000
		80 2 end taskexec key=2000
		80 1 waited taskwait
		90 1 end taskexec key=1000
		92 1 waited barrier
		93 2 waited barrier`), `
		PARALLEL@300 0:0 on path 7
		PARALLEL@300 0:1 on path 10
		PARALLEL@300/BARRIER@440 0:1 no task 7/1 for task 10/1
		PARALLEL@300/TASK@50/TASKEXEC@50 0:0 of task 10/1 on path 16
		PARALLEL@300/TASK@50/TASKEXEC@50/TASK@51 0:0 late task 7/1 on path 2
		PARALLEL@300/TASK@50/TASKEXEC@50/TASK@51/TASKEXEC@51 0:1 of task 50/1 on path 50
		PARALLEL@300/TASK@50/TASKEXEC@50/TASKWAIT@450 0:0 for task 50/1 on path 10`},
	// The task of thread 2 goes on from 20 to 60. Thread 1 comes last, at 40: half of it is after.
	{"a task under way at the last arrival counts in proportion", team(2, 70, `
		1 1 enter task fn=50 site=430
		2 1 result task key=1000
		3 1 released task
		5 2 wait barrier site=440
		20 2 begin taskexec fn=50 key=1000
		40 1 wait barrier site=440
		60 2 end taskexec key=1000
		61 1 waited barrier
		61 2 waited barrier`), `
		PARALLEL@300 0:0 on path 47
		PARALLEL@300/BARRIER@440 0:0 for task 20/1
		PARALLEL@300/TASK@50 0:0 on path 2
		PARALLEL@300/TASK@50/TASKEXEC@50 0:1 of task 20/1 on path 20`},
	// The same as the first, but the end of the child is lost.
	{"the end of a task is lost: it is not known for whom the thread waited", team(2, 80, `
		11 1 enter task fn=50 site=430
		12 1 result task key=1000
		14 1 released task
		15 1 wait taskwait site=450
		20 2 begin taskexec fn=50 key=1000
		62 1 waited taskwait
		64 2 wait barrier site=440 lost=1
		70 1 wait barrier site=440
		71 1 waited barrier
		71 2 waited barrier`), ``},
}

// taskWaitTable lists a profile's waits for tasks, and its critical path.
func taskWaitTable(p *profile.Profile) []string {
	return waitLines(p, func(w *profile.Waits) (line string) {
		for _, x := range []struct {
			name string
			profile.Sum
		}{{"no task", w.NoTask}, {"late task", w.LateTask}, {"for task", w.ForTask}, {"of task", w.OfTask}} {
			if x.Sum != (profile.Sum{}) {
				line += fmt.Sprintf(" %s %d/%d", x.name, x.T, x.C)
			}
		}
		return line + nonzero(named{"far", w.Far}, named{"on path", w.OnPath})
	})
}

// In whatever order threads are read, it is known for whose tasks they wait.
func TestWaitsForTasks(t *testing.T) {
	for _, tc := range taskWaitCases {
		t.Run(tc.name, func(t *testing.T) { tabled(t, tc.events, tc.want, taskWaitTable) })
	}
}

// Lost events take waits for tasks away. They add none: the sums are no more than without a loss.
func TestWaitsForTasksLoss(t *testing.T) {
	told := func(p *profile.Profile) (none, other int64) {
		for _, n := range p.Nodes {
			for _, s := range n.Stats {
				if s.Waits != nil {
					none, other = none+s.Waits.NoTask.T, other+s.Waits.ForTask.T
				}
			}
		}
		return none, other
	}
	kept := int64(0)
	for _, tc := range taskWaitCases {
		events := parse(t, tc.events)
		none, other := told(replay(events, 2000))
		for gone := range events {
			var rest []event.Event
			lost := uint32(0)
			for i, ev := range events {
				switch {
				case i == gone:
					lost = 1
					continue
				case ev.TID == events[gone].TID && lost > 0:
					ev.Lost, lost = ev.Lost+lost, 0
				}
				rest = append(rest, ev)
			}
			for seed := range uint64(6) {
				e := New(1, fakeFiles{})
				feedMixed(rand.New(rand.NewPCG(seed, 1)), e, rest, seed%2 == 0)
				p := e.Finish(2000)
				balanced(t, p)
				n, o := told(p)
				if kept += o; n > none || o > other {
					t.Errorf("%s, without event %d: waited %d for late tasks, %d for others, not %d and %d", tc.name, gone, n, o, none, other)
				}
			}
		}
	}
	if kept == 0 {
		t.Error("nothing was told")
	}
}

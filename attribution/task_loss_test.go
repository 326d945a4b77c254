package attribution

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"ompp-attach/event"
)

// What remains of tasks and teams when events are lost or measurement ends.
var lossCases = []engineCase{
	{name: "the end of a task that a task executes is lost: the outer one's end is its end, and clocks are right again",
		unmatched: 2,
		events: `
		0 1 fork parallel fn=300 key=7 size=1 site=90
		0 1 begin parallel
		1 1 enter task fn=321 site=400
		1 1 result task key=9
		1 1 released task
		2 1 enter task fn=322 site=400
		2 1 result task key=10
		2 1 released task
		3 1 enter task fn=323 site=400
		3 1 result task key=11
		3 1 released task
		10 1 wait taskwait site=410
		10 1 begin taskexec key=9
		11 1 wait taskwait site=420
		12 1 begin taskexec key=10
		14 1 wait taskwait site=430
		14 1 begin taskexec key=11
		18 1 end taskexec key=11
		19 1 waited taskwait
		30 1 end taskexec key=9 lost=2
		35 1 waited taskwait
		40 1 end parallel
		40 1 join parallel`,
		want: `PARALLEL@300 0:0 exec 40/1 enter 0 body 40/1 bar 0 exit 0 child 25
		       PARALLEL@300/TASK@321 0:0 exec 0/1 enter 0 body 0/1 bar 0 exit 0 child 0
		       PARALLEL@300/TASK@321/TASKEXEC@321 0:0 exec 20/1 enter 9 body 20/1 bar 0 exit 0 child 1
		       PARALLEL@300/TASK@321/TASKEXEC@321/TASKWAIT@420 0:0 exec 0/1 enter 0 body 0/0 bar 0 exit 0 child 0
		       PARALLEL@300/TASK@322 0:0 exec 0/1 enter 0 body 0/1 bar 0 exit 0 child 0
		       PARALLEL@300/TASK@322/TASKEXEC@322 0:0 exec 0/1 enter 0 body 0/0 bar 0 exit 0 child 0
		       PARALLEL@300/TASK@322/TASKEXEC@322/TASKWAIT@430 0:0 exec 1/1 enter 0 body 0/0 bar 1 exit 0 child 0 task 4/1
		       PARALLEL@300/TASK@323 0:0 exec 0/1 enter 0 body 0/1 bar 0 exit 0 child 0
		       PARALLEL@300/TASK@323/TASKEXEC@323 0:0 exec 4/1 enter 11 body 4/1 bar 0 exit 0 child 0
		       PARALLEL@300/TASKWAIT@410 0:0 exec 5/1 enter 0 body 0/0 bar 5 exit 0 child 0 task 20/1`},
	{name: "the end and the join of a region are lost: it counts, and the next one is not inside it",
		unmatched: 1,
		events: `
		0 1 fork parallel fn=300 key=7 size=2 site=90 sp=100
		0 1 begin parallel
		0 2 begin parallel key=7 num=1
		5 2 end parallel
		10 1 fork parallel fn=310 key=7 size=2 site=90 sp=100 lost=2
		10 1 begin parallel
		12 2 begin parallel key=7 num=1
		20 2 end parallel
		20 1 end parallel
		20 1 join parallel`,
		want: `PARALLEL@300 0:0 exec 0/1 enter 0 body 0/0 bar 0 exit 0 child 0
		       PARALLEL@300 0:1 exec 0/1 enter 0 body 0/0 bar 0 exit 0 child 0
		       PARALLEL@310 0:0 exec 10/1 enter 0 body 10/1 bar 0 exit 0 child 0
		       PARALLEL@310 0:1 exec 10/1 enter 2 body 8/1 bar 0 exit 0 child 0`},
	{name: "a region nested deeper on the stack is inside the one around it, whatever was lost",
		events: `
		0 1 fork parallel fn=300 key=7 size=1 site=90 sp=100
		0 1 begin parallel
		5 1 fork parallel fn=310 key=8 size=1 site=90 sp=90 lost=1
		5 1 begin parallel
		8 1 end parallel
		8 1 join parallel
		10 1 end parallel
		10 1 join parallel`,
		want: `PARALLEL@300 0:0 exec 10/1 enter 0 body 10/1 bar 0 exit 0 child 3
		       PARALLEL@300/PARALLEL@310 0:0 exec 3/1 enter 0 body 3/1 bar 0 exit 0 child 0`},
	{name: "a nested team that its primary thread has not begun when measurement ends",
		end: 50, partial: 2,
		events: `
		0 1 fork parallel fn=300 key=7 size=2 site=90
		0 1 begin parallel
		0 2 begin parallel key=7 num=1
		40 1 end parallel
		10 2 fork parallel fn=310 key=8 size=2 site=90
		12 3 begin parallel key=8 num=1
		20 3 end parallel`,
		want: `PARALLEL@300 0:0 exec 50/1 enter 0 body 40/1 bar 10 exit 0 child 0
		       PARALLEL@300 0:1 exec 50/1 enter 0 body 50/1 bar 0 exit 0 child 40
		       PARALLEL@300/PARALLEL@310 0:0 exec 40/1 enter 40 body 0/0 bar 0 exit 0 child 0
		       PARALLEL@300/PARALLEL@310 0:1 exec 40/1 enter 2 body 8/1 bar 30 exit 0 child 0`},
	{name: "a team at the address of one whose join, and a thread's begin, are lost",
		events: `
		0 1 fork parallel fn=300 key=7 size=2 site=90
		0 1 begin parallel
		0 2 begin parallel key=7 num=1
		1 2 fork parallel fn=310 key=8 size=3 site=90
		1 2 begin parallel
		2 3 begin parallel key=8 num=1
		3 3 end parallel
		10 1 fork parallel fn=311 key=8 size=3 site=90 sp=90
		10 1 begin parallel
		10 5 begin parallel key=8 num=1
		10 6 begin parallel key=8 num=2
		15 5 end parallel
		15 6 end parallel
		15 1 end parallel
		15 1 join parallel
		20 1 end parallel
		20 2 end parallel lost=1
		20 1 join parallel`,
		end: 50, partial: 1,
		want: `PARALLEL@300 0:0 exec 20/1 enter 0 body 20/1 bar 0 exit 0 child 5
		       PARALLEL@300 0:1 exec 20/1 enter 0 body 20/1 bar 0 exit 0 child 0
		       PARALLEL@300/PARALLEL@310 0:0 exec 49/1 enter 0 body 19/1 bar 30 exit 0 child 0
		       PARALLEL@300/PARALLEL@310 0:1 exec 49/1 enter 1 body 1/1 bar 47 exit 0 child 0
		       PARALLEL@300/PARALLEL@311 0:0 exec 5/1 enter 0 body 5/1 bar 0 exit 0 child 0
		       PARALLEL@300/PARALLEL@311 0:1 exec 5/1 enter 0 body 5/1 bar 0 exit 0 child 0
		       PARALLEL@300/PARALLEL@311 0:2 exec 5/1 enter 0 body 5/1 bar 0 exit 0 child 0`},
	{name: "the end of a worker's task is lost: its clock is right in the next region",
		unmatched: 3,
		events: `
		0 1 fork parallel fn=300 key=7 size=2 site=90
		0 1 begin parallel
		0 2 begin parallel key=7 num=1
		1 1 enter task fn=321 site=400
		1 1 result task key=9
		1 1 released task
		1 1 enter task fn=321 site=400
		1 1 result task key=10
		1 1 released task
		2 1 end parallel
		3 2 wait taskwait site=410
		4 2 begin taskexec key=9
		5 2 wait taskwait site=420
		5 2 begin taskexec key=10
		9 2 end taskexec key=10
		14 2 end parallel lost=1
		20 1 join parallel
		20 1 fork parallel fn=310 key=7 size=2 site=90
		20 1 begin parallel
		20 2 begin parallel key=7 num=1
		20 1 enter task fn=322 site=400
		20 1 result task key=9
		20 1 released task
		22 1 end parallel
		30 2 wait taskwait site=430
		32 2 begin taskexec key=9
		34 2 end taskexec key=9
		36 2 waited taskwait
		40 2 end parallel
		40 1 join parallel`,
		want: `PARALLEL@300 0:0 exec 20/1 enter 0 body 2/1 bar 12 exit 6 child 0
		       PARALLEL@300 0:1 exec 20/1 enter 0 body 14/1 bar 0 exit 6 child 0
		       PARALLEL@300/TASK@321 0:0 exec 0/2 enter 0 body 0/2 bar 0 exit 0 child 0
		       PARALLEL@300/TASK@321/TASKEXEC@321 0:1 exec 4/2 enter 4 body 4/1 bar 0 exit 0 child 0
		       PARALLEL@300/TASK@321/TASKEXEC@321/TASKWAIT@420 0:1 exec 0/1 enter 0 body 0/0 bar 0 exit 0 child 0
		       PARALLEL@300/TASKWAIT@410 0:1 exec 0/1 enter 0 body 0/0 bar 0 exit 0 child 0
		       PARALLEL@310 0:0 exec 20/1 enter 0 body 2/1 bar 18 exit 0 child 0
		       PARALLEL@310 0:1 exec 20/1 enter 0 body 20/1 bar 0 exit 0 child 6
		       PARALLEL@310/TASK@322 0:0 exec 0/1 enter 0 body 0/1 bar 0 exit 0 child 0
		       PARALLEL@310/TASK@322/TASKEXEC@322 0:1 exec 2/1 enter 12 body 2/1 bar 0 exit 0 child 0
		       PARALLEL@310/TASKWAIT@430 0:1 exec 4/1 enter 0 body 0/0 bar 4 exit 0 child 0 task 2/1`},
	{name: "a task whose creation is lost is not one that was cancelled before",
		partial: 1, end: 1e9,
		events: `
		0 1 fork parallel fn=300 key=7 size=2 site=90
		0 1 begin parallel
		0 2 begin parallel key=7 num=1
		1 1 enter task fn=321 site=400
		1 1 result task key=9
		1 1 released task
		2 1 enter task fn=322 site=400
		2 1 result task key=9
		2 1 released task
		5 1 end parallel
		6 1 begin taskexec key=9
		7 1 end taskexec key=9
		5 2 end parallel
		8 2 begin taskexec key=9
		9 2 end taskexec key=9
		9 1 join parallel`,
		want: `PARALLEL@300 0:0 exec 9/1 enter 0 body 5/1 bar 4 exit 0 child 1 task 1/1
		       PARALLEL@300 0:1 exec 9/1 enter 0 body 5/1 bar 4 exit 0 child 1 task 1/1
		       PARALLEL@300/TASK@321 0:0 exec 0/1 enter 0 body 0/1 bar 0 exit 0 child 0
		       PARALLEL@300/TASK@322 0:0 exec 0/1 enter 0 body 0/1 bar 0 exit 0 child 0
		       PARALLEL@300/TASK@322/TASKEXEC@322 0:0 exec 1/1 enter 4 body 1/1 bar 0 exit 0 child 0
		       UNDER WAY@0/TASKEXEC@0 0:1 exec 1/1 enter 0 body 1/1 bar 0 exit 0 child 0`},
}

// A thread that waits for a lost creation holds up the threads that may execute tasks which it
// creates later.
func TestBlockedThread(t *testing.T) {
	events := parse(t, `
		0 1 fork parallel fn=300 key=7 size=3 site=90
		0 1 begin parallel
		0 2 begin parallel key=7 num=1
		0 3 begin parallel key=7 num=2
		50 1 enter task fn=321 site=400
		50 1 result task key=9
		51 1 released task
		100 2 wait taskwait site=410
		100 2 begin taskexec key=10
		105 2 end taskexec key=10
		106 2 waited taskwait
		110 2 enter task fn=322 site=400
		110 2 result task key=9
		111 2 released task
		119 3 wait taskwait site=410
		120 3 begin taskexec key=9
		125 3 end taskexec key=9
		126 3 waited taskwait`)
	e := New(1, fakeFiles{})
	for i := range events {
		e.Feed(&events[i])
	}
	e.Advance(1000 + clockSlack)
	p := e.Finish(2e6)
	got := measured(p)
	if f := got[figureKey{"/PARALLEL@300/TASK@322/TASKEXEC@322", 0, 2}]; f == nil || f.Exec.C != 1 {
		t.Errorf("the task of thread 2 was not executed by thread 3: %q", table(p))
	}
}

// Tasks may be created and never executed at an address that is used again and again. They are
// forgotten, whether they are cancelled or their begin is lost.
func TestCancelledTasksAreForgotten(t *testing.T) {
	for _, executed := range []bool{false, true} {
		e := New(initialThread, nowhere{})
		startTeam(e, 1)
		held := func() (n int) {
			for _, x := range e.in.tasksByKey {
				for ; x != nil; x = x.older {
					n++
				}
			}
			return n
		}
		for at := uint64(1000); at < 100000; at += 1000 {
			put := func(c event.Construct, edge event.Edge, key uint64) {
				at++
				e.Feed(&event.Event{Time: at, PID: initialThread, TID: initialThread, Runtime: event.Gomp, Construct: c, Edge: edge, Key: key})
			}
			for range 5 {
				put(event.Task, event.Enter, 0)
				put(event.Task, event.Result, 9)
				put(event.Task, event.Released, 0)
			}
			e.Advance(at + 2*clockSlack)
			if executed {
				put(event.TaskExec, event.Begin, 9)
				put(event.TaskExec, event.End, 9)
				e.Advance(at + 2*clockSlack)
			}
			if n := held(); n > 6 {
				t.Fatalf("executed %t: after %d ns %d tasks are held", executed, at, n)
			}
		}
	}
}

func TestLossCases(t *testing.T) {
	for _, tc := range lossCases {
		t.Run(tc.name, func(t *testing.T) {
			if tc.end == 0 {
				tc.end = 1000
			}
			p := replay(parse(t, tc.events), tc.end)
			if d := cmp.Diff(lines(tc.want), table(p)); d != "" {
				t.Errorf("-want +got\n%s", d)
			}
			if p.Meta.Unmatched != tc.unmatched || p.Meta.Partial != tc.partial {
				t.Errorf("unmatched %d partial %d, want %d and %d", p.Meta.Unmatched, p.Meta.Partial, tc.unmatched, tc.partial)
			}
		})
	}
}

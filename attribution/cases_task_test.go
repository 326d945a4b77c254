package attribution

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ompp-attach/event"
)

// What tasks do to stacks, times and paths.
var taskCases = []engineCase{
	{name: "task: created by one thread, executed by another in the final barrier",
		events: `
		0 1 fork parallel fn=300 key=7 size=2 site=90
		0 1 begin parallel
		0 2 begin parallel key=7 num=1
		5 2 end parallel
		10 1 enter task fn=321 site=400
		11 1 result task key=9
		12 1 released task
		13 2 begin taskexec key=9
		40 2 end taskexec
		30 1 end parallel
		50 1 join parallel`,
		// The barrier lasts until the task is over: 45 after its creation, for thread 1 until 40.
		want: `PARALLEL@300 0:0 exec 50/1 enter 0 body 30/1 bar 10 exit 10 child 2
		       PARALLEL@300 0:1 exec 50/1 enter 0 body 5/1 bar 35 exit 10 child 27 task 27/1
		       PARALLEL@300/TASK@321 0:0 exec 2/1 enter 0 body 2/1 bar 0 exit 0 child 0
		       PARALLEL@300/TASK@321/TASKEXEC@321 0:1 exec 27/1 enter 2 body 27/1 bar 0 exit 0 child 0`},
	{name: "task: executed in an explicit barrier, with a critical in it",
		events: `
		0 1 fork parallel fn=300 key=7 size=1 site=90
		0 1 begin parallel
		1 1 enter task fn=321 site=400
		1 1 result task key=9
		2 1 released task
		10 1 wait barrier site=410
		12 1 begin taskexec key=9
		20 1 enter critical site=420 free noret
		25 1 release critical free noret
		30 1 end taskexec
		35 1 waited barrier
		40 1 end parallel
		40 1 join parallel`,
		want: `PARALLEL@300 0:0 exec 40/1 enter 0 body 40/1 bar 0 exit 0 child 26
		       PARALLEL@300/TASK@321 0:0 exec 1/1 enter 0 body 1/1 bar 0 exit 0 child 0
		       PARALLEL@300/TASK@321/TASKEXEC@321 0:0 exec 18/1 enter 11 body 18/1 bar 0 exit 0 child 5
		       PARALLEL@300/TASK@321/TASKEXEC@321/CRITICAL@420 0:0 exec 5/1 enter 0 body 5/1 bar 0 exit 0 child 0
		       PARALLEL@300/BARRIER@410 0:0 exec 25/1 enter 0 body 0/0 bar 0 exit 0 child 18 task 18/1`},
	{name: "task: undeferred, executed inside the call that creates it",
		events: `
		0 1 enter task fn=321 site=400
		2 1 begin taskexec
		9 1 end taskexec
		10 1 released task`,
		want: `TASK@321 0:0 exec 3/1 enter 0 body 3/1 bar 0 exit 0 child 0
		       TASK@321/TASKEXEC@321 0:0 exec 7/1 enter 0 body 7/1 bar 0 exit 0 child 0`},
	{name: "task: tasks that create each other fold, also what was created before that was known; 323 is of no group",
		events: `
		0 1 fork parallel fn=300 key=7 size=1 site=90
		0 1 begin parallel
		1 1 enter task fn=321 atonce key=1
		2 1 enter task fn=322 atonce key=2
		3 1 enter task fn=323 atonce key=3
		4 1 end taskexec atonce key=3
		5 1 enter task fn=321 atonce key=4
		6 1 enter task fn=322 atonce key=5
		7 1 end taskexec atonce key=5
		8 1 end taskexec atonce key=4
		9 1 end taskexec atonce key=2
		10 1 end taskexec atonce key=1
		11 1 enter task fn=322 atonce key=6
		12 1 end taskexec atonce key=6
		15 1 end parallel
		15 1 join parallel`,
		want: `PARALLEL@300 0:0 exec 15/1 enter 0 body 15/1 bar 0 exit 0 child 10
		       PARALLEL@300/TASK@321 0:0 exec 0/1 enter 0 body 0/1 bar 0 exit 0 child 0
		       PARALLEL@300/TASK@321/TASKEXEC@321 0:0 exec 4/2 enter 0 body 4/2 bar 0 exit 0 child 0
		       PARALLEL@300/TASK@321/TASKEXEC@321/TASK@322 0:0 exec 0/2 enter 0 body 0/2 bar 0 exit 0 child 0
		       PARALLEL@300/TASK@322 0:0 exec 0/1 enter 0 body 0/1 bar 0 exit 0 child 0
		       PARALLEL@300/TASK@322/TASKEXEC@322 0:0 exec 5/3 enter 0 body 5/3 bar 0 exit 0 child 0
		       PARALLEL@300/TASK@322/TASKEXEC@322/TASK@323 0:0 exec 0/1 enter 0 body 0/1 bar 0 exit 0 child 0
		       PARALLEL@300/TASK@322/TASKEXEC@322/TASK@323/TASKEXEC@323 0:0 exec 1/1 enter 0 body 1/1 bar 0 exit 0 child 0
		       PARALLEL@300/TASK@322/TASKEXEC@322/TASK@321 0:0 exec 0/1 enter 0 body 0/1 bar 0 exit 0 child 0`},
	{name: "task: a task that waits is suspended; what it executes there is not its time; recursion is one region",
		events: `
		0 1 fork parallel fn=300 key=7 size=1 site=90
		0 1 begin parallel
		1 1 enter task fn=321 site=400
		1 1 result task key=9
		2 1 released task
		10 1 wait taskwait site=410
		12 1 begin taskexec key=9
		13 1 enter task fn=321 site=400
		13 1 result task key=10
		15 1 released task
		20 1 wait taskwait site=420
		21 1 begin taskexec key=10
		23 1 wait taskwait site=420
		24 1 waited taskwait
		29 1 end taskexec key=10
		30 1 waited taskwait
		32 1 end taskexec key=9
		35 1 waited taskwait
		40 1 end parallel
		40 1 join parallel`,
		want: `PARALLEL@300 0:0 exec 40/1 enter 0 body 40/1 bar 0 exit 0 child 26
		       PARALLEL@300/TASK@321 0:0 exec 1/1 enter 0 body 1/1 bar 0 exit 0 child 0
		       PARALLEL@300/TASK@321/TASKEXEC@321 0:0 exec 20/2 enter 19 body 20/2 bar 0 exit 0 child 5
		       PARALLEL@300/TASK@321/TASKEXEC@321/TASK@321 0:0 exec 2/1 enter 0 body 2/1 bar 0 exit 0 child 0
		       PARALLEL@300/TASK@321/TASKEXEC@321/TASKWAIT@420 0:0 exec 3/2 enter 0 body 0/0 bar 3 exit 0 child 0 task 8/1
		       PARALLEL@300/TASKWAIT@410 0:0 exec 5/1 enter 0 body 0/0 bar 5 exit 0 child 0 task 20/1`},
	{name: "taskgroup: body, then the wait with what is executed in it",
		events: `
		0 1 enter taskgroup site=400
		1 1 enter task fn=321 site=410
		1 1 result task key=9
		2 1 released task
		10 1 wait taskgroup
		12 1 begin taskexec key=9
		20 1 end taskexec
		25 1 waited taskgroup`,
		end: 300e6,
		want: `TASKGROUP@400 0:0 exec 17/1 enter 0 body 10/1 bar 7 exit 0 child 1 task 8/1
		       TASKGROUP@400/TASK@321 0:0 exec 1/1 enter 0 body 1/1 bar 0 exit 0 child 0
		       TASKGROUP@400/TASK@321/TASKEXEC@321 0:0 exec 8/1 enter 11 body 8/1 bar 0 exit 0 child 0`},
	{name: "untied task of libomp: queues its rest, goes on in another thread; one execution in two parts",
		events: `
		0 1 fork parallel rt=k fn=300 loc=30
		0 1 begin parallel rt=k key=7 num=0 size=2
		0 2 begin parallel rt=k key=7 num=1 size=2
		1 1 enter task rt=k fn=321 loc=302 key=9
		2 1 released task rt=k
		3 1 end parallel rt=k
		3 2 end parallel rt=k
		4 1 begin taskexec rt=k key=9
		5 1 enter task rt=k fn=321 loc=302 key=9
		6 1 released task rt=k
		8 1 end taskexec rt=k key=9
		10 2 begin taskexec rt=k key=9
		14 2 end taskexec rt=k key=9
		20 1 join parallel rt=k`,
		want: `PARALLEL@30 0:0 exec 20/1 enter 0 body 3/1 bar 11 exit 6 child 5 task 4/1
		       PARALLEL@30 0:1 exec 20/1 enter 0 body 3/1 bar 11 exit 6 child 4 task 4/1
		       PARALLEL@30/UTASK@302 0:0 exec 1/1 enter 0 body 1/1 bar 0 exit 0 child 0
		       PARALLEL@30/UTASK@302/UTASKEXEC@302 0:0 exec 4/1 enter 3 body 4/1 bar 0 exit 0 child 0
		       PARALLEL@30/UTASK@302/UTASKEXEC@302 0:1 exec 4/0 enter 5 body 4/1 bar 0 exit 0 child 0`},
	{name: "task: if(0) of libomp is one call for creation and begin, one for both ends",
		events: `
		0 1 enter task rt=k fn=321 loc=302 key=9 atonce
		8 1 end taskexec rt=k key=9 atonce`,
		want: `TASK@302 0:0 exec 0/1 enter 0 body 0/1 bar 0 exit 0 child 0
		       TASK@302/TASKEXEC@302 0:0 exec 8/1 enter 0 body 8/1 bar 0 exit 0 child 0`},
	{name: "task: a parallel region in a task, with tasks of its own",
		events: `
		0 1 enter task fn=321 site=400
		1 1 begin taskexec
		10 1 fork parallel fn=300 key=7 size=1 site=90
		10 1 begin parallel
		11 1 enter task fn=322 site=410
		11 1 result task key=9
		12 1 released task
		20 1 end parallel
		21 1 begin taskexec key=9
		25 1 end taskexec
		30 1 join parallel
		40 1 end taskexec
		40 1 released task`,
		want: `TASK@321 0:0 exec 1/1 enter 0 body 1/1 bar 0 exit 0 child 0
		       TASK@321/TASKEXEC@321 0:0 exec 39/1 enter 0 body 39/1 bar 0 exit 0 child 20
		       TASK@321/TASKEXEC@321/PARALLEL@300 0:0 exec 20/1 enter 0 body 10/1 bar 5 exit 5 child 5 task 4/1
		       TASK@321/TASKEXEC@321/PARALLEL@300/TASK@322 0:0 exec 1/1 enter 0 body 1/1 bar 0 exit 0 child 0
		       TASK@321/TASKEXEC@321/PARALLEL@300/TASK@322/TASKEXEC@322 0:0 exec 4/1 enter 10 body 4/1 bar 0 exit 0 child 0`},
	{name: "task: one whose creation was not seen",
		end: 1e9,
		events: `
		0 1 fork parallel fn=300 key=7 size=2 site=90
		0 1 begin parallel
		0 2 begin parallel key=7 num=1
		5 1 end parallel
		5 2 end parallel
		6 2 begin taskexec key=9
		9 2 end taskexec key=9
		10 1 join parallel`,
		partial: 1,
		want: `PARALLEL@300 0:0 exec 10/1 enter 0 body 5/1 bar 4 exit 1 child 0
		       PARALLEL@300 0:1 exec 10/1 enter 0 body 5/1 bar 4 exit 1 child 3 task 3/1
		       UNDER WAY@0/TASKEXEC@0 0:1 exec 3/1 enter 0 body 3/1 bar 0 exit 0 child 0`},
}

// Three threads create and execute tasks at addresses that are used again and
// again; the result must not depend on how their rings are read.
func TestTasksInterleaving(t *testing.T) {
	var text strings.Builder
	fmt.Fprintln(&text, `0 1 fork parallel fn=300 key=7 size=3 site=90
		1 1 begin parallel
		1 2 begin parallel key=7 num=1
		1 3 begin parallel key=7 num=2`)
	at := uint64(10)
	rnd := rand.New(rand.NewPCG(3, 4))
	line := func(tid int, s string, args ...any) {
		at++
		fmt.Fprintf(&text, "%d %d %s\n", at, tid, fmt.Sprintf(s, args...))
	}
	for range 200 {
		maker, doer, key := 1+rnd.IntN(3), 1+rnd.IntN(3), 9+rnd.IntN(2)
		line(maker, "enter task fn=%d site=400", 320+maker+10)
		line(maker, "result task key=%d", key)
		line(maker, "released task")
		line(doer, "wait taskwait site=410")
		line(doer, "begin taskexec key=%d", key)
		if rnd.IntN(2) == 0 {
			line(doer, "enter critical site=420 free noret")
			line(doer, "release critical free noret")
		}
		line(doer, "end taskexec key=%d", key)
		line(doer, "waited taskwait")
	}
	for tid := 1; tid <= 3; tid++ {
		line(tid, "end parallel")
	}
	line(1, "join parallel")
	events := parse(t, text.String())
	want := table(replay(events, 1e9))
	slices.Sort(want)
	if len(want) < 10 {
		t.Fatalf("too little happened: %q", want)
	}
	for range 200 {
		got := table(replay(mix(rnd, events), 1e9))
		slices.Sort(got) // what is seen first comes first
		if d := cmp.Diff(want, got); d != "" {
			t.Fatalf("-in order +mixed\n%s", d)
		}
	}
}

// mix reads the threads' events in another order, as rings may be read.
func mix(rnd *rand.Rand, events []event.Event) (mixed []event.Event) {
	queues := map[uint32][]event.Event{}
	var tids []uint32
	for _, e := range events {
		if len(queues[e.TID]) == 0 {
			tids = append(tids, e.TID)
		}
		queues[e.TID] = append(queues[e.TID], e)
	}
	slices.Sort(tids)
	for len(tids) > 0 {
		i := rnd.IntN(len(tids))
		q := queues[tids[i]]
		n := 1 + rnd.IntN(len(q)) // a batch of one ring
		mixed = append(mixed, q[:n]...)
		if queues[tids[i]] = q[n:]; len(q) == n {
			tids = slices.Delete(tids, i, i+1)
		}
	}
	return mixed
}

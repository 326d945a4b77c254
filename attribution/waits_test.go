package attribution

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ompp-attach/profile"
)

// waitTable lists a profile's waits, one line for each node and thread.
func waitTable(p *profile.Profile) []string {
	return waitLines(p, func(w *profile.Waits) string {
		if *w == (profile.Waits{OnPath: w.OnPath}) { // see criticalPath
			return ""
		}
		line := fmt.Sprintf(" wait %d/%d done %d/%d last %d/%d late %d/%d delay %d dropped %d",
			w.Wait.T, w.Wait.C, w.Done.T, w.Done.C, w.Last.T, w.Last.C, w.Late.T, w.Late.C, w.Delay, w.Dropped)
		if w.Indirect != 0 || w.Passed != 0 || w.Far != 0 {
			line += fmt.Sprintf(" indirect %d passed %d far %d", w.Indirect, w.Passed, w.Far)
		}
		if w.Contended != (profile.Sum{}) || w.Handed != 0 || w.Held != (profile.Sum{}) {
			line += fmt.Sprintf(" contended %d/%d handed %d held %d/%d shared %d", w.Contended.T, w.Contended.C, w.Handed, w.Held.T, w.Held.C, w.Shared)
		}
		if w.NoHolder != (profile.Sum{}) {
			line += fmt.Sprintf(" no holder %d/%d", w.NoHolder.T, w.NoHolder.C)
		}
		if w.NoTask != (profile.Sum{}) || w.LateTask != (profile.Sum{}) {
			line += fmt.Sprintf(" no task %d/%d late task %d/%d", w.NoTask.T, w.NoTask.C, w.LateTask.T, w.LateTask.C)
		}
		if w.ForTask != (profile.Sum{}) || w.OfTask != (profile.Sum{}) {
			line += fmt.Sprintf(" for task %d/%d of task %d/%d", w.ForTask.T, w.ForTask.C, w.OfTask.T, w.OfTask.C)
		}
		return line
	})
}

// waitCases are programs whose waits are known by construction. Times are those of the design's
// vectors.
var waitCases = []struct{ name, events, want string }{
	{"three threads come at 0, 3, 5 and leave at 6, 6, 7",
		`
		100 1 fork parallel fn=300 key=7 size=3 site=90
		100 1 begin parallel key=7
		100 2 begin parallel key=7 num=1
		100 3 begin parallel key=7 num=2
		1000 1 wait barrier site=400
		1003 2 wait barrier site=400
		1005 3 wait barrier site=400
		1006 1 waited barrier
		1006 2 waited barrier
		1007 3 waited barrier
		1010 1 end parallel
		1010 2 end parallel
		1010 3 end parallel
		1010 1 join parallel`,
		`PARALLEL@300 0:0 wait 0/1 done 0/1 last 0/1 late 0/1 delay 0 dropped 0
		 PARALLEL@300 0:1 wait 0/1 done 0/1 last 0/0 late 0/0 delay 0 dropped 0
		 PARALLEL@300 0:2 wait 0/1 done 0/1 last 0/0 late 7/1 delay 7 dropped 0
		 PARALLEL@300/BARRIER@400 0:0 wait 5/1 done 1/1 last 0/0 late 0/0 delay 0 dropped 0
		 PARALLEL@300/BARRIER@400 0:1 wait 2/1 done 1/1 last 0/0 late 0/0 delay 0 dropped 0
		 PARALLEL@300/BARRIER@400 0:2 wait 0/1 done 2/1 last 7/1 late 0/0 delay 0 dropped 0`},
	{"implicit barriers of a loop, a single, the region; the regions from which the late threads come",
		`
		0 1 fork parallel fn=300 key=7 size=2 site=90
		0 1 begin parallel key=7
		10 2 begin parallel key=7 num=1
		20 1 open loop site=410
		20 2 open loop site=410
		100 1 wait loop
		160 2 wait loop
		165 1 waited loop
		166 2 waited loop
		170 1 open single site=420
		175 1 result single v=1
		170 2 open single site=420
		172 2 result single
		180 2 wait barrier site=421
		300 1 wait barrier site=421
		304 1 waited barrier
		305 2 waited barrier
		340 1 end parallel
		400 2 end parallel
		420 1 join parallel`,
		`PARALLEL@300 0:0 wait 60/1 done 0/1 last 0/0 late 0/0 delay 0 dropped 0
		 PARALLEL@300 0:1 wait 0/1 done 0/1 last 60/1 late 60/1 delay 59 dropped 0
		 PARALLEL@300/LOOP@410 0:0 wait 60/1 done 5/1 last 0/0 late 0/0 delay 0 dropped 0
		 PARALLEL@300/LOOP@410 0:1 wait 0/1 done 6/1 last 60/1 late 60/1 delay 60 dropped 0
		 PARALLEL@300/SINGLE@420 0:0 wait 0/1 done 4/1 last 120/1 late 120/1 delay 119 dropped 0
		 PARALLEL@300/SINGLE@420 0:1 wait 120/1 done 5/1 last 0/0 late 0/0 delay 0 dropped 0`},
	{"a late start of a thread is a delay of the region",
		`
		0 1 fork parallel fn=300 key=7 size=2 site=90
		0 1 begin parallel key=7
		50 2 begin parallel key=7 num=1
		60 1 enter critical site=400 free noret
		70 1 release critical free noret
		70 1 wait barrier site=410
		100 2 wait barrier site=410
		101 1 waited barrier
		101 2 waited barrier
		110 1 end parallel
		110 2 end parallel
		120 1 join parallel`,
		`PARALLEL@300 0:0 wait 0/1 done 0/1 last 0/1 late 0/1 delay 0 dropped 0
		 PARALLEL@300 0:1 wait 0/1 done 0/1 last 0/0 late 30/1 delay 30 dropped 0
		 PARALLEL@300/BARRIER@410 0:0 wait 30/1 done 1/1 last 0/0 late 0/0 delay 0 dropped 0
		 PARALLEL@300/BARRIER@410 0:1 wait 0/1 done 1/1 last 30/1 late 0/0 delay 0 dropped 0`},
	// The late thread does x (loop) for 4 as the other one, then y (critical) for 6.
	{"delay: s computes x 4, y 6; r computes x 4 and waits 6: y 6",
		team(2, 11, `
		0 1 open loop site=410
		0 2 open loop site=410
		4 1 close loop
		4 2 close loop
		4 2 enter critical site=420 free noret
		10 2 release critical free noret
		4 1 wait barrier site=430
		10 2 wait barrier site=430
		11 1 waited barrier
		11 2 waited barrier`),
		`PARALLEL@300 0:0 wait 0/1 done 0/1 last 0/1 late 0/1 delay 0 dropped 0
		 PARALLEL@300 0:1 wait 0/1 done 0/1 last 0/0 late 6/1 delay 0 dropped 0
		 PARALLEL@300/CRITICAL@420 0:1 wait 0/0 done 0/0 last 0/0 late 0/0 delay 6 dropped 0
		 PARALLEL@300/BARRIER@430 0:0 wait 6/1 done 1/1 last 0/0 late 0/0 delay 0 dropped 0
		 PARALLEL@300/BARRIER@430 0:1 wait 0/1 done 1/1 last 6/1 late 0/0 delay 0 dropped 0`},
	// s computes x 4, waits 2 for a lock and computes y 4: D = 4, W = 2, scale 1.
	{"delay: s computes x 4, y 4 and waits 2 itself; r waits 6: y 4",
		team(2, 11, `
		0 1 open loop site=410
		0 2 open loop site=410
		4 1 close loop
		4 2 close loop
		4 2 enter critical site=420
		6 2 acquired critical
		10 2 release critical free noret
		4 1 wait barrier site=430
		10 2 wait barrier site=430
		11 1 waited barrier
		11 2 waited barrier`),
		`PARALLEL@300 0:0 wait 0/1 done 0/1 last 0/1 late 0/1 delay 0 dropped 0
		 PARALLEL@300 0:1 wait 0/1 done 0/1 last 0/0 late 6/1 delay 0 dropped 0
		 PARALLEL@300/CRITICAL@420 0:1 wait 0/0 done 0/0 last 0/0 late 0/0 delay 4 dropped 0 indirect 0 passed 2 far 0 contended 0/0 handed 2 held 0/0 shared 0
		 PARALLEL@300/BARRIER@430 0:0 wait 6/1 done 1/1 last 0/0 late 0/0 delay 0 dropped 0 indirect 2 passed 0 far 0
		 PARALLEL@300/BARRIER@430 0:1 wait 0/1 done 1/1 last 6/1 late 0/0 delay 0 dropped 0`},
	{"a nested team counts for the region that forks it; its barriers are its own",
		team(2, 50, `
		10 2 fork parallel fn=310 key=8 size=2 site=90
		10 2 begin parallel key=8
		10 3 begin parallel key=8 num=1
		30 2 end parallel
		40 3 end parallel
		40 2 join parallel
		5 1 wait barrier site=430
		45 2 wait barrier site=430
		46 1 waited barrier
		46 2 waited barrier`),
		`PARALLEL@300 0:0 wait 0/1 done 0/1 last 0/1 late 0/1 delay 0 dropped 0
		 PARALLEL@300 0:1 wait 0/1 done 0/1 last 0/0 late 40/1 delay 10 dropped 0
		 PARALLEL@300/PARALLEL@310 0:0 wait 10/1 done 0/1 last 0/0 late 0/0 delay 30 dropped 0
		 PARALLEL@300/PARALLEL@310 0:1 wait 0/1 done 0/1 last 10/1 late 10/1 delay 10 dropped 0
		 PARALLEL@300/BARRIER@430 0:0 wait 40/1 done 1/1 last 0/0 late 0/0 delay 0 dropped 0
		 PARALLEL@300/BARRIER@430 0:1 wait 0/1 done 1/1 last 40/1 late 0/0 delay 0 dropped 0`},
	{"a lost event: what came before counts, the rest of the team's barriers is dropped",
		team(2, 60, `
		10 1 wait barrier site=400
		20 2 wait barrier site=400
		21 1 waited barrier
		22 2 waited barrier
		30 1 wait barrier site=400
		50 2 wait barrier site=400 lost=2
		51 1 waited barrier
		52 2 waited barrier`),
		`PARALLEL@300 0:0 wait 0/0 done 0/0 last 0/0 late 0/0 delay 0 dropped 1
		 PARALLEL@300 0:1 wait 0/0 done 0/0 last 0/0 late 10/1 delay 10 dropped 1
		 PARALLEL@300/BARRIER@400 0:0 wait 10/1 done 1/1 last 0/0 late 0/0 delay 0 dropped 1
		 PARALLEL@300/BARRIER@400 0:1 wait 0/1 done 2/1 last 10/1 late 0/0 delay 0 dropped 1`},
	{"a lock held until 30, asked for at 10, got at 31: contention 20, handed over in 1",
		`
		0 1 fork parallel fn=300 key=7 size=2 site=90
		0 1 begin parallel key=7
		0 2 begin parallel key=7 num=1
		5 1 enter lock site=400 fn=1 free noret
		10 2 enter lock site=410 fn=1
		30 1 release lock fn=1 free noret
		31 2 acquired lock
		40 2 release lock fn=1 free noret
		41 1 end parallel
		41 2 end parallel
		50 1 join parallel`,
		`PARALLEL@300 0:0 wait 0/1 done 0/1 last 0/1 late 0/1 delay 0 dropped 0
		 PARALLEL@300 0:1 wait 0/1 done 0/1 last 0/0 late 0/0 delay 0 dropped 0
		 PARALLEL@300/LOCK@400 0:0 wait 0/0 done 0/0 last 0/0 late 0/0 delay 0 dropped 0 contended 0/0 handed 0 held 20/1 shared 0
		 PARALLEL@300/LOCK@410 0:1 wait 0/0 done 0/0 last 0/0 late 0/0 delay 0 dropped 0 contended 20/1 handed 1 held 0/0 shared 0`},
	{"a third thread waits for two holders, and is charged to each for its time",
		team(3, 80, `
		5 1 enter critical site=400 free noret
		10 2 enter critical site=400
		20 3 enter critical site=400
		30 1 release critical free noret
		30 2 acquired critical
		60 2 release critical free noret
		62 3 acquired critical
		70 3 release critical free noret`),
		`PARALLEL@300 0:0 wait 0/1 done 0/1 last 0/1 late 0/1 delay 0 dropped 0
		 PARALLEL@300 0:1 wait 0/1 done 0/1 last 0/0 late 0/0 delay 0 dropped 0
		 PARALLEL@300 0:2 wait 0/1 done 0/1 last 0/0 late 0/0 delay 0 dropped 0
		 PARALLEL@300/CRITICAL@400 0:0 wait 0/0 done 0/0 last 0/0 late 0/0 delay 0 dropped 0 contended 0/0 handed 0 held 30/1 shared 0
		 PARALLEL@300/CRITICAL@400 0:1 wait 0/0 done 0/0 last 0/0 late 0/0 delay 0 dropped 0 contended 20/1 handed 0 held 30/1 shared 0
		 PARALLEL@300/CRITICAL@400 0:2 wait 0/0 done 0/0 last 0/0 late 0/0 delay 0 dropped 0 contended 40/1 handed 2 held 0/0 shared 0`},
	{"copyprivate: the others wait in the call that chooses",
		team(2, 70, `
		10 1 open single site=420 copy
		10 2 open single site=420 copy
		12 1 result single v=1 copy
		52 1 release single
		54 1 waited single
		53 2 result single copy
		60 1 wait barrier site=421
		61 2 wait barrier site=421
		62 1 waited barrier
		62 2 waited barrier`),
		`PARALLEL@300 0:0 wait 0/1 done 0/1 last 0/1 late 0/1 delay 0 dropped 0
		 PARALLEL@300 0:1 wait 0/1 done 0/1 last 0/0 late 0/0 delay 0 dropped 0
		 PARALLEL@300/SINGLE@420 0:0 wait 1/2 done 3/2 last 42/1 late 42/1 delay 40 dropped 0 indirect 0 passed 2 far 0
		 PARALLEL@300/SINGLE@420 0:1 wait 42/2 done 2/2 last 1/1 late 1/1 delay 1 dropped 0 indirect 2 passed 0 far 0`},
	{"a reduction by libomp's tree: the first call is the barrier",
		`
		0 1 fork parallel fn=300 site=90 rt=2
		0 1 begin parallel key=7 size=2 rt=2
		0 2 begin parallel key=7 num=1 size=2 rt=2
		10 1 open loop loc=22 rt=2
		10 2 open loop loc=22 rt=2
		20 1 close loop rt=2
		30 2 close loop rt=2
		21 1 wait reduction-barrier rt=2
		31 2 wait reduction-barrier rt=2
		32 1 result reduction-barrier v=1 rt=2
		36 1 wait reduction-barrier rt=2
		37 1 waited reduction-barrier rt=2
		38 2 result reduction-barrier rt=2
		40 1 end parallel rt=2
		40 2 end parallel rt=2
		40 1 join parallel rt=2`,
		`PARALLEL@300 0:0 wait 0/1 done 0/1 last 0/1 late 0/1 delay 0 dropped 0
		 PARALLEL@300 0:1 wait 0/1 done 0/1 last 0/0 late 0/0 delay 0 dropped 0
		 PARALLEL@300/LOOP@22 0:0 wait 10/1 done 6/1 last 0/0 late 0/0 delay 0 dropped 0
		 PARALLEL@300/LOOP@22 0:1 wait 0/1 done 7/1 last 10/1 late 10/1 delay 10 dropped 0`},
	{"a reduction in turn: the second call is the barrier",
		`
		0 1 fork parallel fn=300 site=90 rt=2
		0 1 begin parallel key=7 size=2 rt=2
		0 2 begin parallel key=7 num=1 size=2 rt=2
		10 1 open loop loc=22 rt=2
		10 2 open loop loc=22 rt=2
		20 1 close loop rt=2
		20 2 close loop rt=2
		20 1 wait reduction-barrier rt=2
		20 2 wait reduction-barrier rt=2
		21 1 result reduction-barrier v=1 rt=2
		26 1 wait reduction-barrier rt=2
		26 2 result reduction-barrier v=1 rt=2
		33 2 wait reduction-barrier rt=2
		35 1 waited reduction-barrier rt=2
		36 2 waited reduction-barrier rt=2
		40 1 end parallel rt=2
		40 2 end parallel rt=2
		40 1 join parallel rt=2`,
		`PARALLEL@300 0:0 wait 0/1 done 0/1 last 0/1 late 0/1 delay 0 dropped 0
		 PARALLEL@300 0:1 wait 0/1 done 0/1 last 0/0 late 0/0 delay 0 dropped 0
		 PARALLEL@300/LOOP@22 0:0 wait 7/1 done 2/1 last 0/0 late 0/0 delay 0 dropped 0 indirect 3 passed 0 far 0
		 PARALLEL@300/LOOP@22 0:1 wait 0/1 done 3/1 last 7/1 late 7/1 delay 3 dropped 0 indirect 0 passed 3 far 0`},
	{"tasks executed in a barrier are no waiting, before the last arrival and after it",
		team(2, 130, `
		10 1 enter task fn=50 site=430
		11 1 result task key=1000
		12 1 released task
		12 1 enter task fn=50 site=430
		13 1 result task key=2000
		14 1 released task
		20 2 wait barrier site=440
		30 2 begin taskexec fn=50 key=1000
		60 2 end taskexec key=1000
		90 2 begin taskexec fn=50 key=2000
		120 2 end taskexec key=2000
		100 1 wait barrier site=440
		123 1 waited barrier
		125 2 waited barrier`),
		`PARALLEL@300 0:0 wait 0/1 done 0/1 last 0/1 late 40/2 delay 38 dropped 0
		 PARALLEL@300/TASK@50 0:0 wait 0/0 done 0/0 last 0/0 late 0/0 delay 2 dropped 0
		 PARALLEL@300 0:1 wait 0/1 done 0/1 last 0/0 late 0/0 delay 0 dropped 0
		 PARALLEL@300/TASK@50/TASKEXEC@50 0:1 wait 0/0 done 0/0 last 0/0 late 0/0 delay 0 dropped 0 for task 0/0 of task 20/1
		 PARALLEL@300/BARRIER@440 0:0 wait 0/1 done 23/1 last 40/1 late 0/0 delay 0 dropped 0 for task 20/1 of task 0/0
		 PARALLEL@300/BARRIER@440 0:1 wait 40/1 done 5/1 last 0/0 late 0/0 delay 0 dropped 0`},
	{"a thread waits for tasks: for the first from 20 to 50, for the second from 70 to 80",
		team(2, 130, `
		20 2 wait barrier site=440
		49 1 enter task fn=50 site=430
		50 1 result task key=1000
		51 1 released task
		55 2 begin taskexec fn=50 key=1000
		70 2 end taskexec key=1000
		79 1 enter task fn=50 site=430
		80 1 result task key=2000
		81 1 released task
		85 2 begin taskexec fn=50 key=2000
		90 2 end taskexec key=2000
		100 1 wait barrier site=440
		102 1 waited barrier
		102 2 waited barrier`),
		`PARALLEL@300 0:0 wait 0/1 done 0/1 last 0/1 late 60/2 delay 57 dropped 0
		 PARALLEL@300 0:1 wait 0/1 done 0/1 last 0/0 late 0/0 delay 0 dropped 0
		 PARALLEL@300/TASK@50 0:0 wait 0/0 done 0/0 last 0/0 late 0/0 delay 3 dropped 0 no task 0/0 late task 40/2
		 PARALLEL@300/BARRIER@440 0:0 wait 0/1 done 2/1 last 60/1 late 0/0 delay 0 dropped 0
		 PARALLEL@300/BARRIER@440 0:1 wait 60/1 done 2/1 last 0/0 late 0/0 delay 0 dropped 0 no task 40/2 late task 0/0`},
	{"a return that is not told: the wait is known, the completion is not",
		`
		0 1 fork parallel fn=300 key=7 size=2 site=90
		0 1 begin parallel key=7
		0 2 begin parallel key=7 num=1
		10 1 wait barrier site=400
		20 2 wait barrier site=400
		25 1 waited barrier
		60 1 end parallel
		70 2 end parallel
		70 1 join parallel`,
		`PARALLEL@300 0:0 wait 10/1 done 0/1 last 0/0 late 0/0 delay 0 dropped 0
		 PARALLEL@300 0:1 wait 0/1 done 0/1 last 10/1 late 20/2 delay 20 dropped 0
		 PARALLEL@300/BARRIER@400 0:0 wait 10/1 done 5/1 last 0/0 late 0/0 delay 0 dropped 0
		 PARALLEL@300/BARRIER@400 0:1 wait 0/1 done 0/0 last 10/1 late 0/0 delay 0 dropped 0`},
}

// In whatever order the threads are read, the waits are the same.
func TestWaits(t *testing.T) {
	for _, tc := range waitCases {
		t.Run(tc.name, func(t *testing.T) { tabled(t, tc.events, tc.want, waitTable) })
	}
}

// A thread leaves before the last one comes: the arrivals are not of one barrier.
func TestWaitsOfNoBarrier(t *testing.T) {
	p := replay(parse(t, team(2, 60, `
		10 1 wait barrier site=400
		15 1 waited barrier
		20 2 wait barrier site=400
		22 2 waited barrier`)), 100)
	want := lines(`PARALLEL@300 0:0 wait 0/0 done 0/0 last 0/0 late 0/0 delay 0 dropped 1
		PARALLEL@300 0:1 wait 0/0 done 0/0 last 0/0 late 0/0 delay 0 dropped 1
		PARALLEL@300/BARRIER@400 0:0 wait 0/0 done 0/0 last 0/0 late 0/0 delay 0 dropped 1
		PARALLEL@300/BARRIER@400 0:1 wait 0/0 done 0/0 last 0/0 late 0/0 delay 0 dropped 1`)
	if d := cmp.Diff(want, waitTable(p)); d != "" {
		t.Errorf("-want +got\n%s", d)
	}
}

// balanced checks what holds for the waits of every profile.
func balanced(t *testing.T, p *profile.Profile) {
	t.Helper()
	var all profile.Waits
	idle := int64(0) // in waits for tasks
	for i, n := range p.Nodes {
		var here profile.Waits
		for _, s := range n.Stats {
			if w := s.Waits; w != nil {
				here = *here.Plus(w)
				without := w.Wait.T + w.Done.T
				if n.Region >= 0 && p.Regions[n.Region].Construct.IsTasking() {
					without = s.Barrier.T
					idle += without
				}
				if w.NoTask.T+w.ForTask.T > without {
					t.Errorf("node %d: waited for tasks for longer than %d ns: %+v", i, without, *w)
				}
				if before := w.Contended.T + w.Handed + w.NoHolder.T; before > s.Enter.T {
					t.Errorf("node %d: waited %d ns for a lock, of %d: %+v", i, before, s.Enter.T, *w)
				}
				if w.Delay < 0 || w.Done.C > w.Wait.C {
					t.Errorf("node %d: %+v", i, *w)
				}
				if barrier := max(s.Barrier.T, s.Exec.T-s.Enter.T-s.Body.T-s.Exit.T); w.Wait.T+w.Done.T > barrier {
					t.Errorf("node %d: %d ns of waiting in %d ns: %+v", i, w.Wait.T+w.Done.T, barrier, s)
				}
			}
		}
		if here.Wait.T != here.Last.T {
			t.Errorf("node %d: threads waited %d ns, for others %d", i, here.Wait.T, here.Last.T)
		}
		all = *all.Plus(&here)
	}
	if all.NoTask != all.LateTask || all.NoTask.T > all.Wait.T+all.Done.T+idle {
		t.Errorf("waited %+v for tasks that %+v were late", all.NoTask, all.LateTask)
	}
	if all.ForTask != all.OfTask {
		t.Errorf("waited %+v for tasks, of which %+v were waited for", all.ForTask, all.OfTask)
	}
	if all.Contended.T != all.Held.T || all.Contended.C != all.Held.C {
		t.Errorf("waited %+v for holders, who were waited for %+v", all.Contended, all.Held)
	}
	if all.Indirect != all.Passed || all.Far > all.Passed || all.Delay+all.Passed > all.Wait.T {
		t.Errorf("of %d ns of waits, %d are due to what late threads did, %d to their waits (%d), %d of these to others", all.Wait.T, all.Delay, all.Passed, all.Indirect, all.Far)
	}
	if all.NoCore < 0 || all.NoCore > all.Late.T {
		t.Errorf("of %d ns, %d are for want of a core", all.Late.T, all.NoCore)
	}
	if all.Wait.T != all.Late.T || all.Last.C != all.Late.C || all.Delay > all.Wait.T {
		t.Errorf("in all: %+v", all)
	}
}

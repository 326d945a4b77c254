package attribution

import (
	"math/rand/v2"
	"testing"

	"ompp-attach/event"
	"ompp-attach/profile"
)

// causeCases are programs whose causes over distance are known by construction. Of each node and
// thread, these are `delay`, what it passed on, long-term delay (far), and its time on the critical
// path.
var causeCases = []struct{ name, events, want string }{
	// Thread 2 waits 200 for the lock that thread 3 holds, computes x 400 and y 400, and comes last
	// at 1000. Thread 1 computes x 400 and waits 600: D = 400 (y), W = 200. Thread 3 holds the lock
	// 200, computes x 400 and waits 400: of D + W = 600, two thirds count.
	{"s waits 200 for a lock, computes x 400, y 400; r computes x 400", team(3, 1000, `
		0 3 enter critical site=420
		0 3 acquired critical
		0 2 enter critical site=420
		0 1 open loop site=410
		200 3 release critical free noret
		200 2 acquired critical
		200 2 release critical free noret
		200 2 open loop site=410
		200 3 open loop site=410
		400 1 close loop
		400 1 wait barrier site=430
		600 2 close loop
		600 3 close loop
		600 3 wait barrier site=430
		600 2 open loop site=411
		1000 2 close loop
		1000 2 wait barrier site=430
		1000 1 waited barrier
		1000 2 waited barrier
		1000 3 waited barrier`), `
		PARALLEL@300/BARRIER@430 0:0 wait 600 indirect 200
		PARALLEL@300/BARRIER@430 0:2 wait 400 indirect 133
		PARALLEL@300/CRITICAL@420 0:1 passed 333
		PARALLEL@300/CRITICAL@420 0:2 far 333 on path 200
		PARALLEL@300/LOOP@410 0:1 on path 400
		PARALLEL@300/LOOP@411 0:1 delay 666 on path 400`},
	// Nobody holds the lock: it is not known for whom thread 2 waited.
	{"s waits for a lock that nobody holds", team(2, 200, `
		0 1 wait barrier site=430
		0 2 enter critical site=420
		200 2 acquired critical
		200 2 release critical free noret
		200 2 wait barrier site=430
		200 1 waited barrier
		200 2 waited barrier`), `
		PARALLEL@300/BARRIER@430 0:0 wait 200 indirect 200
		PARALLEL@300/CRITICAL@420 0:1 passed 200 on path 200`},
	// Thread 1 is last at the first barrier (100), thread 2 at the second (250). The path is
	// 100 in one loop, then 140 after thread 2 left at 110, and 10 at the region's end. The
	// inner team is no part.
	{"the path changes threads; a nested team counts for the region that forks it", `
		0 1 fork parallel fn=300 key=7 size=2 site=90
		0 1 begin parallel key=7
		0 2 begin parallel key=7 num=1
		0 1 open loop site=410
		100 1 close loop
		40 2 wait barrier site=430
		100 1 wait barrier site=430
		105 1 waited barrier
		110 2 waited barrier
		110 2 fork parallel fn=310 key=8 size=2 site=90
		110 2 begin parallel key=8
		110 3 begin parallel key=8 num=1
		230 2 end parallel
		240 3 end parallel
		240 2 join parallel
		120 1 wait barrier site=431
		250 2 wait barrier site=431
		251 1 waited barrier
		250 2 waited barrier
		261 1 end parallel
		255 2 end parallel
		270 1 join parallel`, `
		PARALLEL@300 0:0 delay 5 on path 10
		PARALLEL@300 0:1 wait 6 on path 10
		PARALLEL@300/BARRIER@430 0:1 wait 60
		PARALLEL@300/BARRIER@431 0:0 wait 130
		PARALLEL@300/LOOP@410 0:0 delay 60 on path 100
		PARALLEL@300/PARALLEL@310 0:0 wait 10 delay 130 on path 130
		PARALLEL@300/PARALLEL@310 0:1 delay 10`},
}

// causeTable lists the causes in a profile, one line for each node and thread.
func causeTable(p *profile.Profile) []string {
	return waitLines(p, func(w *profile.Waits) string {
		return nonzero(named{"wait", w.Wait.T}, named{"indirect", w.Indirect}, named{"delay", w.Delay},
			named{"passed", w.Passed}, named{"far", w.Far}, named{"on path", w.OnPath})
	})
}

// TestCauses: causes over distance are as constructed, in whatever order threads are read.
func TestCauses(t *testing.T) {
	for _, tc := range causeCases {
		t.Run(tc.name, func(t *testing.T) { tabled(t, tc.events, tc.want, causeTable) })
	}
}

// TestLateForWantOfACore: thread 2 comes 600 later than thread 1, and was without a core for 450,
// thread 1 for 50. While a thread is in a barrier, that is no delay. After the first barrier,
// thread 2 is 30 later, and was without a core for longer than that.
func TestLateForWantOfACore(t *testing.T) {
	events := parse(t, team(2, 1110, `
		400 1 wait barrier site=430
		1000 2 wait barrier site=430
		1010 1 waited barrier
		1010 2 waited barrier
		1070 1 wait barrier site=431
		1100 2 wait barrier site=431
		1101 1 waited barrier
		1101 2 waited barrier`))
	noCore := map[int]int64{3: 50, 4: 450, 5: 300, 8: 80} // before the events of these indices, ns
	var all []event.Event
	for i, ev := range events {
		if d := noCore[i]; d > 0 {
			all = append(all, event.Event{Time: ev.Time, PID: 1, TID: ev.TID, Edge: event.NoCore, Value: d})
		}
		all = append(all, ev)
	}
	for seed := range uint64(20) {
		e := New(1, fakeFiles{})
		feedMixed(rand.New(rand.NewPCG(seed, 1)), e, all, seed%2 == 0)
		p := e.Finish(2000)
		got := map[int]int64{}
		for _, n := range p.Nodes {
			for _, s := range n.Stats {
				if s.Waits != nil {
					got[p.Threads[s.Thread].Num] += s.Waits.NoCore
				}
			}
		}
		if got[0] != 0 || got[1] != 400+30 {
			t.Fatalf("order %d: late for want of a core: %v, want 430 ns of thread 1", seed, got)
		}
	}
}

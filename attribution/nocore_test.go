package attribution

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ompp-attach/event"
	"ompp-attach/profile"
)

// starved returns what a stream would have been, had each event's thread lacked a core for a while
// before it. Every thread is later by all that it has waited.
func starved(events []event.Event) (out []event.Event, waited map[uint32]int64) {
	waited = map[uint32]int64{}
	for i, ev := range events {
		wait := event.Event{PID: ev.PID, TID: ev.TID, Edge: event.NoCore, Value: int64(1000 + 100*(i%7))}
		d := waited[ev.TID]
		if ev.MPI != nil {
			call := *ev.MPI
			wait.Key = uint64(wait.Value / 4)
			call.Start += uint64(d+wait.Value) - wait.Key
			ev.MPI = &call
		}
		d += wait.Value
		ev.Time += uint64(d)
		wait.Time, waited[ev.TID] = ev.Time, d
		out = append(out, wait, ev)
	}
	return out, waited
}

// asCosts makes a profile's time without a core its cost.
func asCosts(p *profile.Profile) *profile.Profile {
	for i := range p.Nodes {
		for j := range p.Nodes[i].Stats {
			s := &p.Nodes[i].Stats[j]
			s.Cost, s.NoCore = s.NoCore, nil
			if s.MPI != nil {
				s.MPI.Cost = s.MPI.NoCore
			}
		}
	}
	return p
}

// Threads that wait for nobody. What is left after taking out the time without a core is to the
// nanosecond what would have been with one.
func TestNoCoreExactly(t *testing.T) {
	tried := 0
	for _, tc := range slices.Concat(commonCases, gompCases, inlineCases, kmpcCases, taskCases, newerCases, userCases) {
		events := parse(t, tc.events)
		if slices.ContainsFunc(events, func(ev event.Event) bool { return ev.TID != events[0].TID }) {
			continue
		}
		tried++
		t.Run(tc.name, func(t *testing.T) {
			const late = 100000 // after all
			want := table(takeOut(replay(events, late)))
			later, waited := starved(events)
			p := replay(later, late+uint64(waited[events[0].TID]))
			if got := p.Nodes[0].Stats[0].NoCore.Exec; got != waited[events[0].TID] {
				t.Errorf("in all %d ns without a core, want %d", got, waited[events[0].TID])
			}
			if d := cmp.Diff(want, table(takeOut(asCosts(p)))); d != "" {
				t.Errorf("-with a core +without\n%s", d)
			}
		})
	}
	if tried < 40 {
		t.Errorf("only %d cases are of one thread", tried)
	}
}

func TestNoCoreOfCalls(t *testing.T) {
	events := parse(t, `
		0 1 fork parallel fn=300 key=7 size=1 site=90
		0 1 begin parallel
		40 1 released mpi site=400 op=MPI_Send from=10 bytes=8
		70 1 released mpi site=400 op=MPI_Recv from=55 bytes=8
		90 1 end parallel
		95 1 join parallel
		110 1 released mpi site=400 op=MPI_Send from=100 bytes=8`)
	run := func(events []event.Event) []string {
		e := New(1, mpiFiles{})
		for i := range events {
			e.Feed(&events[i])
		}
		return mpiTable(takeOut(asCosts(e.Finish(100000))))
	}
	later, _ := starved(events)
	if d := cmp.Diff(run(events), run(later)); d != "" {
		t.Errorf("-with a core +without\n%s", d)
	}
}

func noCore(p *profile.Profile, c event.Construct) map[int]profile.Cost {
	got := map[int]profile.Cost{}
	for _, n := range p.Nodes {
		if (n.Region < 0) == (c == event.NoConstruct) && (n.Region < 0 || p.Regions[n.Region].Construct == c) {
			for _, s := range n.Stats {
				if s.NoCore != nil {
					got[p.Threads[s.Thread].Num] = *s.NoCore
				}
			}
		}
	}
	return got
}

func wait(tid uint32, at uint64, ns int64) event.Event {
	return event.Event{Time: at, PID: 1, TID: tid, Edge: event.NoCore, Value: ns}
}

// A team. The primary thread's time without a core, while it starts or ends the team, is its own
// only. A worker's between two regions is no region's.
func TestNoCoreOfATeam(t *testing.T) {
	events := parse(t, `
		1000 1 fork parallel fn=300 key=7 size=2 site=90
		2200 1 begin parallel
		2300 2 begin parallel key=7 num=1
		3000 1 end parallel
		9000 2 end parallel
		9500 1 join parallel
		20000 1 fork parallel fn=300 key=7 size=2 site=90
		20010 1 begin parallel
		20400 2 begin parallel key=7 num=1
		21000 1 end parallel
		21000 2 end parallel
		21000 1 join parallel`)
	waits := []event.Event{
		wait(1, 2200, 1000), // starts the team
		wait(2, 9000, 4000), // in the body
		wait(1, 9500, 700),  // 500 of them ending the team, the rest in the barrier
		wait(2, 20400, 9999),
	}
	p := replay(slices.Concat(events[:1], waits[:1], events[1:4], waits[1:2], events[4:5], waits[2:3],
		events[5:8], waits[3:], events[8:]), 30000)
	want := map[int]profile.Cost{
		0: {Exec: 1000 + 200 + 500, Enter: 1000, Barrier: 200, Exit: 500},
		1: {Exec: 4000 + 400, Enter: 400, Body: 4000},
	}
	if d := cmp.Diff(want, noCore(p, event.Parallel)); d != "" {
		t.Errorf("-want +got\n%s", d)
	}
	all := map[int]profile.Cost{0: {Exec: 1700}, 1: {Exec: 4000 + 9999}}
	if d := cmp.Diff(all, noCore(p, event.NoConstruct)); d != "" {
		t.Errorf("in all: -want +got\n%s", d)
	}
}

// What a thread had waited before measurement began, or while the process was stopped, does not
// count. No thread is without a core for longer than since it told so last.
func TestNoCoreBeforeAndBetween(t *testing.T) {
	first := func(ev event.Event) event.Event { ev.Num = 1; return ev }
	var began uint64
	var stop Stop
	run := func(base map[uint32]int64, existing []int, waits ...event.Event) int64 {
		e := New(1, fakeFiles{})
		e.Began(began)
		if existing != nil {
			e.Existing(existing, 10)
		}
		e.NoCoreBefore(base)
		for i := range waits {
			if i == 1 && stop.To != 0 {
				e.Stopped(stop)
			}
			e.Feed(&waits[i])
			enter := parse(t, "100 1 enter critical site=400 free noret")[0]
			enter.Time = waits[i].Time
			e.Feed(&enter)
			enter.Edge, enter.Time = event.Release, enter.Time+1
			e.Feed(&enter)
		}
		return noCore(e.Finish(10000), event.NoConstruct)[0].Exec
	}
	type figures struct{ got, want int64 }
	cases := map[string]figures{
		"since the beginning":             {run(nil, nil, first(wait(1, 1000, 700)), wait(1, 1100, 50)), 750},
		"attached":                        {run(map[uint32]int64{1: 600}, []int{1}, first(wait(1, 1000, 700)), wait(1, 1100, 50)), 150},
		"attached, what was is not known": {run(nil, []int{1}, first(wait(1, 1000, 700)), wait(1, 1100, 50)), 50},
	}
	stop = Stop{From: 1020, To: 1080}
	cases["while stopped"] = figures{run(nil, nil, first(wait(1, 1000, 700)), wait(1, 1100, 50)), 740}
	began = 900
	cases["before it was measured"] = figures{run(nil, nil, first(wait(1, 1000, 700)), wait(1, 1100, 50)), 140}
	for name, tt := range cases {
		if tt.got != tt.want {
			t.Errorf("%s: %d, want %d", name, tt.got, tt.want)
		}
	}
}

// A thread's life begins with its first event, so its wait before that is nobody's. It is not that
// of the thread which has the first seat either. Of a worker, the part since the fork is the
// region's.
func TestNoCoreBeforeTheFirstEvent(t *testing.T) {
	events := parse(t, `
		900 7 enter critical site=400 free noret
		910 7 release critical free noret
		1000 8 enter critical site=400 free noret
		1100 8 release critical free noret
		2000 9 fork parallel fn=300 key=7 size=2 site=90
		2000 9 begin parallel
		2500 10 begin parallel key=7 num=1
		2600 10 end parallel
		2600 9 end parallel
		2700 9 join parallel`)
	p := replay(slices.Concat([]event.Event{wait(7, 900, 800)}, events[:2], []event.Event{wait(8, 1000, 800)}, events[2:3], []event.Event{wait(8, 1100, 60)},
		events[3:4], []event.Event{wait(9, 2000, 1900)}, events[4:6], []event.Event{wait(10, 2500, 700)}, events[6:]), 3000)
	var got []int64
	for _, th := range p.Threads {
		var ns int64
		for _, s := range p.Nodes[0].Stats {
			if s.NoCore != nil && p.Threads[s.Thread].Root == th.Root && p.Threads[s.Thread].Num == th.Num {
				ns += s.NoCore.Exec
			}
		}
		got = append(got, ns)
	}
	if d := cmp.Diff([]int64{0, 60, 0, 700}, got); d != "" {
		t.Errorf("by thread: -want +got\n%s", d)
	}
	if d := cmp.Diff(map[int]profile.Cost{1: {Exec: 500, Enter: 500}}, noCore(p, event.Parallel)); d != "" {
		t.Errorf("in the region: -want +got\n%s", d)
	}
}

// Threads report short waits together with later ones. No part of a region has more than its time:
// the rest is in the thread's whole.
func TestNoCoreReportedTogether(t *testing.T) {
	events := parse(t, `
		0 1 fork parallel fn=300 key=7 size=1 site=90
		0 1 begin parallel
		1000 1 enter critical site=400
		1010 1 acquired critical
		1050 1 release critical
		1060 1 released critical
		2000 1 end parallel
		2000 1 join parallel`)
	p := replay(slices.Concat(events[:4], []event.Event{wait(1, 1050, 200)}, events[4:6], []event.Event{wait(1, 2000, 300)}, events[6:]), 3000)
	for c, want := range map[event.Construct]profile.Cost{
		event.Critical:    {Exec: 60, Body: 40},
		event.Parallel:    {Exec: 500, Body: 500, Child: 200},
		event.NoConstruct: {Exec: 500},
	} {
		if d := cmp.Diff(want, noCore(p, c)[0]); d != "" {
			t.Errorf("%s: -want +got\n%s", c, d)
		}
	}
}

// noCoreBeyondTold names a thread whose regions lacked a core for longer than the thread told in
// all, "" if there is none.
func noCoreBeyondTold(p *profile.Profile) string {
	left := make([]int64, len(p.Threads))
	for i, n := range p.Nodes {
		for _, s := range n.Stats {
			switch c := s.NoCore; {
			case c == nil:
			case i == 0:
				left[s.Thread] += c.Exec
			default:
				left[s.Thread] -= max(0, c.Exec-c.Child)
			}
		}
	}
	for i, ns := range left {
		if ns < 0 {
			return fmt.Sprintf("thread %+v: its regions lacked a core for %d ns more than it told", p.Threads[i], -ns)
		}
	}
	return ""
}

// In whatever order threads are read, waits change no other figure. No part of a time without a
// core is longer than the time. The parts of a thread add up to no more than the thread told.
func TestNoCoreInAnyProgram(t *testing.T) {
	for seed := range tries(uint64(100)) {
		s := simulate(rand.New(rand.NewPCG(seed, 1)), []event.Runtime{event.Gomp, event.Kmpc}[seed%2], 300)
		var events []event.Event
		last := map[uint32]uint64{}
		for i, ev := range s.events {
			if from, ok := last[ev.TID]; ok && ev.Time > from && i%3 == 0 && ev.MPI == nil {
				events = append(events, wait(ev.TID, ev.Time, int64(ev.Time-from)/2))
			}
			last[ev.TID] = ev.Time
			events = append(events, ev)
		}
		p, q := replay(s.events, s.now), replay(events, s.now)
		if d := cmp.Diff(table(p), table(q)); d != "" {
			t.Fatalf("seed %d: -without waits +with them\n%s", seed, d)
		}
		if d := noCoreBeyondTold(q); d != "" {
			t.Fatalf("seed %d: %s", seed, d)
		}
		for _, n := range q.Nodes[1:] {
			for _, st := range n.Stats {
				c := st.NoCore
				if c == nil {
					continue
				}
				for p, part := range c.Parts() {
					if *part < 0 || *part > st.Parts()[p].T {
						t.Fatalf("seed %d: %s: %+v of %+v", seed, q.Regions[n.Region].Construct, *c, st)
					}
				}
			}
		}
	}
}

// A worker that libgomp ends does so by what looks like a region's beginning. At its end it tells
// how long it had no core: that is no region.
func TestNoCoreOfAWorkerThatEnds(t *testing.T) {
	events := parse(t, `
		1000 1 fork parallel fn=300 key=7 size=2 site=90
		1100 1 begin parallel
		1100 2 begin parallel key=7 num=1
		2000 1 end parallel
		2000 2 end parallel
		2100 1 join parallel
		3000 2 begin parallel key=9 num=1`)
	p := replay(append(events, wait(2, 3100, 500)), 3*stragglerWait)
	if p.Meta.Partial != 0 || len(p.Regions) != 1 {
		t.Errorf("%d regions seen in part: %+v", p.Meta.Partial, p.Regions)
	}
}

// While measurement is off by the program's own marker, no thread's time without a core counts.
func TestNoCoreWhileOff(t *testing.T) {
	events := parse(t, `
		0 1 enter user-region site=500 sp=9000 v=2
		0 2 enter critical site=400 free noret
		5 2 release critical free noret
		10 1 off user-region
		60 1 on user-region
		65 2 enter critical site=400 free noret
		70 2 release critical free noret
		80 1 release user-region site=500 sp=9000 v=2`)
	waits := []event.Event{wait(1, 10, 4), wait(1, 60, 40), wait(2, 65, 50), wait(2, 70, 3), wait(1, 80, 2)}
	p := replay(slices.Concat(events[:3], waits[:1], events[3:4], waits[1:2], events[4:5], waits[2:3],
		events[5:6], waits[3:4], events[6:7], waits[4:], events[7:]), 100)
	var all int64
	for _, s := range p.Nodes[0].Stats {
		if s.NoCore != nil {
			all += s.NoCore.Exec
		}
	}
	if all != 4+3+2 {
		t.Errorf("%d ns without a core, want 9", all)
	}
	if d := cmp.Diff(map[int]profile.Cost{0: {Exec: 6, Body: 6}}, noCore(p, event.UserRegion)); d != "" {
		t.Errorf("-want +got\n%s", d)
	}
}

package attribution

import (
	"math/rand/v2"
	"testing"

	"ompp-attach/event"
)

// A region that was under way at attach: when the other threads come to its barriers is not known.
// Waits at every second barrier are long, the others short, so hits are frequent all the same. The
// sum of the waits is that of the executions that chance chose.
func TestDerivedEdgesUnderWay(t *testing.T) {
	const long, short, turns = 300_000, 2_000, 4000
	rnd := rand.New(rand.NewPCG(1, 2))
	p := &frequent{rnd: rnd, idle: map[uint32]int64{}}
	now := uint64(1e6)
	for i := range turns {
		site, wait := uint64(500), uint64(long)
		if i%2 == 1 {
			site, wait = 600, short
		}
		p.emit(2, now, event.Event{Construct: event.Barrier, Edge: event.Wait, Site: site, SP: 0x6000})
		now += wait
		p.emit(2, now, event.Event{Construct: event.Barrier, Edge: event.Waited})
		now += 20_000
	}
	end := now
	run := func(events []event.Event) (waited map[figureKey]*figures, derived uint64) {
		e := New(1, fakeFiles{})
		e.Existing([]int{1, 2}, 1)
		for i := range events {
			e.Feed(&events[i])
		}
		got := e.Finish(end)
		return measured(got), got.Meta.Edges.Derived
	}
	want, _ := run(p.events)
	// Of the kernel side, too: each second hit is soon after the last one.
	got, derived := run(sparseModel{first: 64, many: 64, rare: 100e3, rnd: rnd}.thin(p.events))
	if derived < turns/4 {
		t.Fatalf("%d ends were derived", derived)
	}
	for at, w := range want {
		g := got[at]
		if g == nil {
			t.Fatalf("%v is missing", at)
		}
		compareDerived(t, at.path, w, g, 0)
	}
}

// A team of which some event was lost is joined no earlier than its threads
// have ended their bodies.
func TestDerivedJoinOfTornTeam(t *testing.T) {
	events := parse(t, `
	1000 1 fork parallel fn=300 key=7 size=2 site=90
	1100 1 begin parallel
	1200 2 begin parallel key=7 num=1
	1300 1 enter critical site=400 free noret lost=1
	1400 1 release critical free noret
	1500 1 end parallel
	9000 2 end parallel
	9500 1 enter critical site=410 free noret
	9600 1 release critical free noret`)
	for i := range events {
		if ev := &events[i]; ev.Edge == event.End && ev.TID == 1 {
			ev.Flags |= event.Unarmed
		}
	}
	got := measured(replay(events, 10_000))
	f := got[figureKey{path: "/PARALLEL@300", num: 1}]
	if f == nil || f.Body.C != 1 || f.Body.T != 7800 {
		t.Errorf("the worker's body is %+v, want 7800 ns", f)
	}
}

// A worker with the id of an ended thread waits for the team of that thread's last call. The fork
// of its own team cannot let the worker go on.
func TestDerivedEndOfReusedThread(t *testing.T) {
	events := parse(t, `
	1000 2 fork parallel fn=300 key=9 size=2 site=90
	1100 2 begin parallel
	1200 3 begin parallel key=9 num=1
	1500 2 end parallel
	3000 2 begin parallel key=7 num=1
	2500 1 fork parallel fn=310 key=7 size=2 site=91
	3100 1 begin parallel
	4000 2 end parallel
	4100 1 end parallel
	4200 1 join parallel
	1600 3 end parallel`)
	events[3].Flags |= event.Unarmed
	p := replay(events, 10_000)
	for path, body := range map[string]int64{"/PARALLEL@300": 400, "/PARALLEL@310": 1000} {
		for at, f := range measured(p) {
			if at.path == path && at.num == 1 && f.Body.T != body {
				t.Errorf("%s: the worker's body took %d ns, want %d", path, f.Body.T, body)
			}
		}
	}
	if p.Meta.Edges.Derived != 1 {
		t.Errorf("%d ends were derived, want 1", p.Meta.Edges.Derived)
	}
}

// A program that ends has left its last region. So has one with a sample behind that region, which
// waits for an event that never comes.
func TestDerivedJoinBeforeLastSample(t *testing.T) {
	const regions = 400
	p := &frequent{rnd: rand.New(rand.NewPCG(5, 5)), threads: 2}
	p.run(regions, 0)
	events := sparseModel{first: 64, many: 64, rare: 100e3, rnd: rand.New(rand.NewPCG(1, 1))}.thin(p.events)
	last := -1 // the primary thread's event that is its last end without a join
	for i := range events {
		if ev := &events[i]; ev.TID == 1 && ev.Edge == event.End && ev.Flags&event.Unarmed != 0 {
			last = i
		}
	}
	if last < 0 {
		t.Fatal("all joins are reported")
	}
	end := events[last].Time + 10_000 // the worker's last end is no later
	n := last + 1
	for n < len(events) && events[n].TID != 1 {
		n++
	}
	events = append(events[:n:n], event.Event{Time: end, PID: 1, TID: 1, Edge: event.Sampled, Site: 5})
	if p := replay(events, end+1000); p.Meta.Partial != 0 {
		t.Errorf("%d regions are under way at the end", p.Meta.Partial)
	}
}

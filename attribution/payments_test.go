package attribution

import (
	"testing"

	"ompp-attach/event"
)

// A region that ends while one entered from it is open has its counts so far. The rest is that of
// what is around then, whatever ends first and however.
func TestOverlappingCounters(t *testing.T) {
	for name, events := range map[string]string{
		"three locks, the outer ones unset first": `
		0 1 enter lock site=400 fn=1 free noret
		10 1 enter lock site=410 fn=2 free noret
		17 1 enter lock site=420 fn=3 free noret
		30 1 release lock fn=1 free noret
		41 1 release lock fn=2 free noret
		55 1 release lock fn=3 free noret`,
		"a function and a lock in it end before a lock set later": `
		0 1 enter user-region site=500 sp=9000
		1 1 enter lock site=400 fn=1 free noret sp=8900
		4 1 enter lock site=410 fn=2 free noret sp=8900
		9 1 release lock fn=1 free noret sp=8900
		16 1 release user-region site=500 sp=9000
		25 1 release lock fn=2 free noret sp=9100`,
		"left by an exception, with a critical that was entered within a lock": `
		0 1 enter user-region site=500 sp=9000
		1 1 enter user-region site=510 sp=8900
		2 1 enter lock site=400 fn=1 free noret sp=8800
		5 1 enter critical site=420 free noret sp=8800
		9 1 release lock fn=1 free noret sp=8800
		16 1 release user-region site=500 sp=9000`,
		"a lock that is unset in a function entered again": `
		0 1 enter user-region site=500 sp=9000
		10 1 enter user-region site=510 sp=8900
		13 1 enter lock site=400 fn=1 free noret sp=8850
		20 1 enter user-region site=500 sp=8800
		25 1 release lock fn=1 free noret sp=8750
		50 1 release user-region site=500 sp=8800
		70 1 release user-region site=510 sp=8900
		100 1 release user-region site=500 sp=9000`,
		"off and on with a lock held": `
		0 1 enter lock site=400 fn=1 free noret
		10 1 off user-region
		60 1 on user-region
		70 1 release lock fn=1 free noret`,
	} {
		t.Run(name, func(t *testing.T) {
			if n := clockCounts(t, replay(withClock(parse(t, events)), 1000)); n == 0 {
				t.Error("nothing was counted")
			}
		})
	}
}

// An MPI call brings no counters; what is open around it has all of its own.
func TestCountersAroundMPI(t *testing.T) {
	events := withClock(parse(t, `
		0 1 enter lock site=400 fn=1 free noret
		30 1 release lock fn=1 free noret`))
	call := event.Event{Time: 20, TID: 1, PID: 1, Construct: event.MPI, Edge: event.Released, MPI: &event.MPICall{Start: 10}}
	p := replay([]event.Event{events[0], call, events[1]}, 1000)
	for i, n := range p.Nodes {
		for _, s := range n.Stats {
			if i > 0 && p.Regions[n.Region].Construct == event.Lock && (s.Uncounted != 0 || s.Counters[0] != 30) {
				t.Errorf("%+v, want 30 counted and nothing uncounted", s)
			}
		}
	}
}

// More numbers than are kept are no more than that.
func TestTooManyCounters(t *testing.T) {
	events := parse(t, `
		0 1 enter lock site=400 fn=1 free noret
		30 1 release lock fn=1 free noret`)
	for i := range events {
		events[i].Counters = make([]uint64, event.MaxCounts+3)
		events[i].Counters[event.MaxCounts-1] = events[i].Time
	}
	p := replay(events, 1000)
	if c := p.Nodes[1].Stats[0].Counters; len(c) != event.MaxCounts || c[event.MaxCounts-1] != 30 {
		t.Errorf("%v, want %d numbers and 30 at last", c, event.MaxCounts)
	}
}

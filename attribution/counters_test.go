package attribution

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"ompp-attach/event"
	"ompp-attach/profile"
)

// withClock gives events two counters: the time, and twice the time.
func withClock(events []event.Event) []event.Event {
	out := slices.Clone(events)
	for i := range out {
		out[i].Counters = []uint64{out[i].Time, 1<<63 + 2*out[i].Time}
	}
	return out
}

// clockCounts compares counters that are a clock with the times. What workers do
// in a region's final barrier is counted if it is a task; the rest is not told.
func clockCounts(t *testing.T, p *profile.Profile) (compared int) {
	t.Helper()
	for i, n := range p.Nodes {
		if i == 0 {
			continue
		}
		for _, s := range n.Stats {
			r := &p.Regions[n.Region]
			want := s.Exec.T
			if r.Construct.IsParallel() && p.Threads[s.Thread].Num > 0 {
				want = s.Body.T + s.Task
			}
			if s.Uncounted > 0 {
				continue
			}
			compared++
			if s.Counters[0] != want || s.Counters[1] != 2*want {
				t.Errorf("%s at line %d, thread %d: counted %v, want %d and twice that; %+v", r.Construct, r.Location.Begin, p.Threads[s.Thread].Num, s.Counters, want, s)
			}
			if s.ChildCounters[0] != s.Child {
				t.Errorf("%s at line %d, thread %d: %v in child regions, want %d; %+v", r.Construct, r.Location.Begin, p.Threads[s.Thread].Num, s.ChildCounters, s.Child, s)
			}
		}
	}
	return compared
}

// A counter that counts the time counts each region's, inclusive and exclusive,
// whatever tasks, locks and teams a program has.
func TestModelCounters(t *testing.T) {
	for seed := range tries(uint64(200)) {
		for _, rt := range []event.Runtime{event.Gomp, event.Kmpc} {
			rnd := rand.New(rand.NewPCG(seed, uint64(rt)))
			s := simulate(rnd, rt, 30+rnd.IntN(300))
			e := New(1, fakeFiles{})
			feedMixed(rnd, e, withClock(s.events), seed%2 == 0)
			if n := clockCounts(t, e.Finish(s.now+10)); n < 3 {
				t.Errorf("only %d figures", n)
			}
			if t.Failed() {
				t.Fatalf("seed %d, %v, %d events", seed, rt, len(s.events))
			}
		}
	}
}

// Where counters were not read, what was open has not all of its counts, and
// everything else has.
func TestModelCountersMissing(t *testing.T) {
	for seed := range tries(uint64(100)) {
		rnd := rand.New(rand.NewPCG(seed, 7))
		s := simulate(rnd, event.Gomp, 30+rnd.IntN(300))
		events := withClock(s.events)
		for i := range events {
			if i > 0 && rnd.IntN(30) == 0 {
				events[i].Counters = nil
			}
		}
		e := New(1, fakeFiles{})
		feedMixed(rnd, e, events, seed%2 == 0)
		p := e.Finish(s.now + 10)
		clockCounts(t, p)
		missing := uint64(0)
		for i := range p.Nodes[1:] {
			for _, st := range p.Nodes[1+i].Stats {
				missing += st.Uncounted
			}
		}
		if missing == 0 && len(events) > 300 {
			t.Errorf("seed %d: nothing is marked", seed)
		}
		if t.Failed() {
			t.Fatalf("seed %d, %d events", seed, len(s.events))
		}
	}
}

// Counters that are a clock agree with the times in every case that is known.
func TestCaseCounters(t *testing.T) {
	for _, c := range slices.Concat(commonCases, gompCases, inlineCases, kmpcCases, taskCases, newerCases, userCases, pauseCases) {
		t.Run(c.name, func(t *testing.T) {
			clockCounts(t, replay(withClock(parse(t, c.events)), cmp.Or(c.end, 1000)))
		})
	}
}

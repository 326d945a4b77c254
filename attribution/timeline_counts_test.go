package attribution

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"ompp-attach/event"
	"ompp-attach/profile"
	"ompp-attach/timeline"
)

// clocks are the counters of withClock.
var clocks = &timeline.Counting{Counters: []profile.Counter{{Name: "time"}, {Name: "twice"}}, Column: []int{0, 1}}

// countedByClock compares counters that are a clock with each execution's own time. It returns how
// many executions it has compared.
func countedByClock(t *testing.T, f *timeline.File) (n int) {
	t.Helper()
	d := f.Dictionary
	for _, tid := range f.TIDs() {
		for s, err := range f.Thread(tid) {
			if err != nil {
				t.Fatal(err)
			}
			if s.Counts == nil || s.Counts.Partial || slices.ContainsFunc(d.Within, func(id int32) bool { return d.NodeOf[id] == s.Node }) {
				continue
			}
			want := s.Exec.T
			if s.Team != 0 && d.Threads[s.Thread].Num > 0 { // the barrier has tasks at most
				want = s.Parts[timeline.Body].T
				if all, _ := f.Count(s.Counts.All, 0); int64(all) > want && int64(all) <= s.Exec.T {
					continue
				}
			}
			one, ok := f.Count(s.Counts.All, 0)
			two, ok2 := f.Count(s.Counts.All, 1)
			if !ok || !ok2 || int64(one) != want || int64(two) != 2*want {
				t.Errorf("counted %v and %v in %d ns: %+v", one, two, want, *s)
			}
			n++
		}
	}
	return n
}

// TestTimelineCounters: the counters of executions add up to the profile's, by node and thread. A
// counter that is a clock has each execution's own time.
func TestTimelineCounters(t *testing.T) {
	for seed := range tries(uint64(60)) {
		for _, rt := range []event.Runtime{event.Gomp, event.Kmpc} {
			rnd := rand.New(rand.NewPCG(seed, uint64(rt)))
			s := simulate(rnd, rt, 30+rnd.IntN(300))
			events := withClock(s.events)
			if seed%4 == 3 { // some events lack their counters
				for i := range events[1:] {
					if rnd.IntN(30) == 0 {
						events[1+i].Counters = nil
					}
				}
			}
			e := New(1, fakeFiles{})
			p, f := recordCounting(t, e, s.now+10, clocks, func() { feedMixed(rnd, e, events, seed%2 == 0) })
			if n := checkSums(t, p, f); n < 6 {
				t.Errorf("only %d figures compared", n)
			}
			if n := countedByClock(t, f); n < 3 {
				t.Errorf("only %d executions compared", n)
			}
			if t.Failed() {
				t.Fatalf("seed %d, %v, %d events", seed, rt, len(s.events))
			}
		}
	}
}

// TestTimelineCountersOfCases: the same of every case that the engine is tested with,
// folded and not.
func TestTimelineCountersOfCases(t *testing.T) {
	n := 0
	for _, tc := range slices.Concat(commonCases, gompCases, inlineCases, kmpcCases, taskCases, newerCases, userCases, pauseCases) {
		t.Run(tc.name, func(t *testing.T) {
			events := withClock(parse(t, tc.events))
			for i, part := range [][]event.Event{events, foldStream(events, foldSlots, nil).events, events[:len(events)/2]} {
				e := New(1, fakeFiles{})
				p, f := recordCounting(t, e, cmp.Or(tc.end, 1000), clocks, feedAll(e, part))
				checkSums(t, p, f)
				if i == 0 {
					n += countedByClock(t, f)
				}
			}
		})
	}
	if n < 200 {
		t.Errorf("only %d executions compared", n)
	}
}

// TestTimelineWithoutCounters: a timeline is the same to the byte whether its events had counters
// that nobody wanted recorded, or none.
func TestTimelineWithoutCounters(t *testing.T) {
	s := simulate(rand.New(rand.NewPCG(1, 2)), event.Gomp, 300)
	var sizes []int64
	for _, events := range [][]event.Event{s.events, withClock(s.events)} {
		e := New(1, fakeFiles{})
		_, f := recordCounting(t, e, s.now, nil, feedAll(e, events))
		if f.Counting != nil {
			t.Error("it says that it has counters")
		}
		_, size := f.Spans()
		sizes = append(sizes, size)
	}
	if sizes[0] != sizes[1] {
		t.Errorf("%d bytes of spans without counters, %d with", sizes[0], sizes[1])
	}
}

package attribution

import (
	"cmp"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"ompp-attach/attribution/stream"
	"ompp-attach/event"
	"ompp-attach/profile"
)

// unarmed marks the calls of a stream of which the end is missing, as the kernel side does.
func unarmed(t *testing.T, text string) []event.Event {
	t.Helper()
	events := withSamples(parse(t, text), nil)
	for i := range events {
		ev, next := &events[i], event.NoEdge
		switch {
		case ev.Edge == event.Fork:
			next = event.Begin
		case ev.Edge == event.End && ev.SP != 0:
			next = event.Join
		default:
			continue
		}
		ev.Flags |= event.Unarmed
		for _, v := range events[i+1:] {
			if v.TID == ev.TID && v.Edge != event.Sampled {
				if v.Edge == next {
					ev.Flags ^= event.Unarmed | event.Anyway
				}
				break
			}
		}
	}
	return events
}

// lateWorker is a region of which the worker begins when the primary thread has come to the join,
// and has been sampled there.
const lateWorker = `
1000 1 fork parallel fn=100 key=7 size=2 site=90
1100 1 begin parallel
1500 1 end parallel sp=1
2000 1 sampled none site=41
2500 1 sampled none site=42
3000 2 begin parallel key=7 num=1
3500 2 end parallel
6000 1 sampled none site=50
7000 1 enter critical site=400 free noret
7500 1 release critical free noret
8000 1 sampled none site=60`

// A sample in a call of which the end is derived stops nobody, in whatever order threads are read.
func TestDerivedJoinOfLateWorker(t *testing.T) {
	events := unarmed(t, lateWorker)
	for _, order := range [][]uint32{{1, 2}, {2, 1}} {
		for _, batch := range []int{1, 2, 3, 4, 6, 9} {
			for _, advance := range []bool{false, true} {
				e := New(1, fakeFiles{})
				left := slices.Clone(events)
				for len(left) > 0 {
					for _, tid := range order {
						left = feedSome(e, left, tid, batch)
					}
					if advance && len(left) > 0 { // all earlier events have been fed
						e.Advance(left[0].Time)
					}
				}
				p := e.Finish(10_000)
				if p.Meta.Partial != 0 || p.Meta.Unmatched != 0 || p.Meta.Edges.Derived != 1 {
					t.Errorf("order %v, %d at once: %d partial, %d unmatched, %d derived", order, batch, p.Meta.Partial, p.Meta.Unmatched, p.Meta.Edges.Derived)
				}
				f := measured(p)[figureKey{path: "/PARALLEL@100", num: 1}]
				if f == nil || f.Body.T != 500 || f.Barrier.T != 0 {
					t.Errorf("order %v, %d at once: the worker's part is %+v", order, batch, f)
				}
				if f = measured(p)[figureKey{path: "/PARALLEL@100"}]; f == nil || f.Body.T != 400 || f.Barrier.T != 2000 {
					t.Errorf("order %v, %d at once: the primary thread's part is %+v", order, batch, f)
				}
				for _, s := range sampleTexts(p) {
					inBarrier := strings.HasPrefix(s, `PARALLEL 0 "barrier"`)
					if early := strings.Contains(s, "[41") || strings.Contains(s, "[42"); early != inBarrier {
						t.Errorf("order %v, %d at once: sample %s", order, batch, s)
					}
				}
			}
		}
	}
}

// feedSome feeds the first n events of a thread, and returns those that are left.
func feedSome(e *Engine, events []event.Event, tid uint32, n int) (left []event.Event) {
	for i := range events {
		if events[i].TID == tid && n > 0 {
			e.Feed(&events[i])
			n--
			continue
		}
		left = append(left, events[i])
	}
	return left
}

// A thread may be preempted between reading the clock and storing its record. Its event comes when
// later ones of others have been read.
func TestDerivedJoinOfStraggler(t *testing.T) {
	events := unarmed(t, lateWorker)
	e := New(1, fakeFiles{})
	events = feedSome(e, events, 1, 100)
	for at := range uint64(20) {
		e.Advance(10_000 + at*stragglerWait/40)
	}
	feedSome(e, events, 2, 100)
	p := e.Finish(2 * stragglerWait)
	if f := measured(p)[figureKey{path: "/PARALLEL@100", num: 1}]; p.Meta.Partial != 0 || f == nil || f.Body.T != 500 {
		t.Errorf("%d partial, the worker's part is %+v", p.Meta.Partial, f)
	}
}

// The address of a team that is over is that of another thread's team. The worker of that team may
// be read while the first team's join is not derived yet, and its own worker has not been read.
func TestDerivedJoinAndTeamAtSameAddress(t *testing.T) {
	events := unarmed(t, `
	1000 1 fork parallel fn=100 key=7 size=2 site=90
	1100 1 begin parallel
	1200 2 begin parallel key=7 num=1
	1500 2 end parallel
	1600 1 end parallel sp=1
	3000 3 fork parallel fn=300 key=7 size=2 site=91
	3100 3 begin parallel
	3200 4 begin parallel key=7 num=1
	3500 4 end parallel
	3600 3 end parallel
	3700 3 join parallel
	9000 1 enter critical site=400 free noret
	9100 1 release critical free noret`)
	rnd := rand.New(rand.NewPCG(1, 5))
	for n := range 300 {
		e := New(1, fakeFiles{})
		if n == 0 { // the worst order
			left := feedSome(e, events, 1, 100)
			left = feedSome(e, left, 4, 100)
			feedSome(e, feedSome(e, left, 3, 100), 2, 100)
		} else {
			feedMixed(rnd, e, events, n%2 == 0)
		}
		p := e.Finish(10_000)
		if p.Meta.Partial != 0 {
			t.Fatalf("order %d: %d partial", n, p.Meta.Partial)
		}
		for path, body := range map[string]int64{"/PARALLEL@100": 300, "/PARALLEL@300": 300} {
			for at, f := range measured(p) {
				if at.path == path && at.num == 1 && (f.Body.T != body || f.Exec.C != 1) {
					t.Fatalf("order %d: %s: the worker's part is %+v", n, path, f)
				}
			}
		}
	}
}

// With samples, the profile is that without samples, and no order of reading shows in either.
// Samples are those of the primary thread: only that thread's joins and begins are derived.
func TestDerivedEdgesWithSamples(t *testing.T) {
	p := &frequent{rnd: rand.New(rand.NewPCG(3, 3)), threads: 3}
	p.run(300, 1e-6)
	m := sparseModel{first: 8, many: 8, rare: 100e3, rnd: rand.New(rand.NewPCG(1, 1))}
	plain := m.thin(p.events)
	sampled := slices.Clone(plain)
	rnd := rand.New(rand.NewPCG(5, 5))
	for at, last := plain[0].Time, plain[len(plain)-1].Time; at < last; at += rnd.Uint64N(3000) {
		sampled = append(sampled, event.Event{Time: at, PID: 1, TID: uint32(1 + rnd.IntN(3)), Edge: event.Sampled, Site: uint64(1 + rnd.IntN(9))})
	}
	slices.SortStableFunc(sampled, func(a, b event.Event) int { return cmp.Compare(a.Time, b.Time) })
	sampled = withSamples(sampled, nil)
	want := measured(replay(plain, p.end()))
	var first []string
	for seed := range uint64(20) {
		e := New(1, fakeFiles{})
		feedMixed(rand.New(rand.NewPCG(seed, 1)), e, sampled, seed%2 == 0)
		got := e.Finish(p.end())
		if got.Meta.Partial > 0 || got.Meta.Unmatched > 0 {
			t.Fatalf("seed %d: %d partial, %d unmatched", seed, got.Meta.Partial, got.Meta.Unmatched)
		}
		if d := gocmp.Diff(want, measured(got)); d != "" {
			t.Fatalf("seed %d: -without samples +with\n%s", seed, d)
		}
		texts := slices.DeleteFunc(sampleTexts(got), func(s string) bool { return !strings.Contains(s, " 0 \"") })
		if first == nil {
			first = texts
		} else if d := gocmp.Diff(first, texts); d != "" {
			t.Fatalf("seed %d: samples: -seed 0 +this\n%s", seed, d)
		}
	}
}

// The same run, measured in full and with its ends derived: testdata/hydro.json.gz is a run of
// testdata/programs/hydro.c on a busy machine. Most of the time of its ends is that of few
// executions. Sums differ by chance, and
// little on average.
func TestDerivedSumsOfRealRun(t *testing.T) {
	f, err := os.Open("testdata/hydro.json.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s, err := stream.Decode(f)
	if err != nil {
		t.Fatal(err)
	}
	s.Costs = event.HitCosts{} // ends that are not measured cost the same here
	slices.SortStableFunc(s.Events, func(a, b event.Event) int { return cmp.Compare(a.Time, b.Time) })
	all, want := s.Events, totals(Replay(s))
	const seeds = 20
	bias, worst := map[string]float64{}, map[string]float64{}
	in, of := 0, 0
	for seed := range uint64(seeds) {
		s.Events = sparseModel{first: 8, many: 8, rare: 100e3, rnd: rand.New(rand.NewPCG(seed, 1))}.thin(all)
		p := Replay(s)
		if p.Meta.Partial != 0 || p.Meta.Unmatched != 0 || p.Meta.Edges.Derived < 2000 {
			t.Fatalf("%d partial, %d unmatched, %d derived", p.Meta.Partial, p.Meta.Unmatched, p.Meta.Edges.Derived)
		}
		for part, end := range derivedIn(p) {
			least, most := end.Interval()
			of++
			if truth := want[part] - (totals(p)[part] - end.Time); least <= truth && truth <= most {
				in++
			}
			if seed == 0 {
				t.Logf("%s: %d us, from %d to %d", part, end.Time/1000, least/1000, most/1000)
			}
		}
		for part, got := range totals(p) {
			off := float64(got-want[part]) / float64(want[part])
			bias[part] += off / seeds
			worst[part] = max(worst[part], math.Abs(off))
			if math.Abs(off) > 0.1 {
				t.Errorf("seed %d: %s is %d, in full %d", seed, part, got, want[part])
			}
		}
	}
	if float64(in) < 0.9*float64(of) {
		t.Errorf("%d of %d intervals hold the truth, want nine of ten", in, of)
	}
	t.Logf("%d of %d intervals hold the truth", in, of)
	for part, off := range bias {
		t.Logf("%s: %+.1f %% on average, up to %.1f %%, of %d us", part, 100*off, 100*worst[part], want[part]/1000)
		if math.Abs(off) > 0.05 {
			t.Errorf("%s is off by %.1f %% on average", part, 100*off)
		}
	}
}

// derivedIn are the derived parts of totals.
func derivedIn(p *profile.Profile) map[string]*profile.End {
	out := map[string]*profile.End{"startup": {}, "shutdown": {}}
	for i := range p.Nodes {
		for j := range p.Nodes[i].Stats {
			if x := p.Nodes[i].Stats[j].Ends; x != nil {
				out["startup"].Add(&x.Startup)
				out["shutdown"].Add(&x.Shutdown)
			}
		}
	}
	return out
}

// totals are the sums over all regions of the times of the primary threads.
func totals(p *profile.Profile) map[string]int64 {
	out := map[string]int64{}
	for _, n := range p.Nodes {
		if n.Region < 0 || !p.Regions[n.Region].Construct.IsParallel() {
			continue
		}
		for i := range n.Stats {
			if s := &n.Stats[i]; p.Threads[s.Thread].Num == 0 {
				out["startup"] += s.Enter.T
				out["startup and body"] += s.Enter.T + s.Body.T
				out["shutdown"] += s.Exit.T
				out["regions"] += int64(s.Exec.C)
				out["waiting"] += s.Barrier.T
			}
		}
	}
	return out
}

// While one thread has switched measurement off,
// arrivals of another thread's team are not reported.
func TestDerivedEdgesAfterOff(t *testing.T) {
	e := New(1, fakeFiles{})
	events := parse(t, `
	1000 2 fork parallel fn=300 key=7 size=2 site=90
	1100 2 begin parallel
	1200 3 begin parallel key=7 num=1
	2000 1 off user-region
	3000 1 on user-region`)
	for i := range events {
		if p := e.in.threads.byID[2]; p != nil && p.Stack[0].Team.Torn {
			t.Errorf("before %s: the team's barriers are not matched", events[i].Edge)
		}
		e.Feed(&events[i])
	}
	if !e.in.threads.byID[2].Stack[0].Team.Torn {
		t.Error("barriers of a team are matched though some may not have been reported")
	}
}

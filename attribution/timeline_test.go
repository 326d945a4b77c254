package attribution

import (
	"bytes"
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"ompp-attach/attribution/estimate"
	"ompp-attach/attribution/stream"
	"ompp-attach/event"
	"ompp-attach/profile"
	"ompp-attach/timeline"
	"ompp-attach/timeline/timelinetest"
)

// recordAll feeds an engine with a recorder that keeps everything, and reads the timeline again.
func recordAll(t testing.TB, e *Engine, end uint64, feed func()) (*profile.Profile, *timeline.File) {
	t.Helper()
	return recordCounting(t, e, end, nil, feed)
}

// recordCounting is recordAll for events with counters.
func recordCounting(t testing.TB, e *Engine, end uint64, c *timeline.Counting, feed func()) (*profile.Profile, *timeline.File) {
	t.Helper()
	rec, err := timeline.NewRecorder(timeline.Options{Plan: timeline.Plan{Cap: 1 << 30}, Wait: true, Counting: c})
	if err != nil {
		t.Fatal(err)
	}
	e.Timeline(rec)
	feed()
	p := e.Finish(end)
	var b bytes.Buffer
	if err := rec.Save(&b); err != nil {
		t.Fatal(err)
	}
	f, err := timeline.Read(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		t.Fatal(err)
	}
	off := int64(0) // for which measurement was switched off, by the gaps
	for _, g := range f.Gaps {
		if off += int64(g.To - g.From); g.Why != timeline.Off {
			t.Errorf("gap %+v", g)
		}
	}
	if f.Torn || off != p.Meta.Off.T {
		t.Errorf("torn: %v; measurement was off for %d ns, by the gaps %d", f.Torn, p.Meta.Off.T, off)
	}
	return p, f
}

func feedAll(e *Engine, events []event.Event) func() {
	return func() {
		for i := range events {
			e.Feed(&events[i])
		}
	}
}

// checkSums compares the sums of a timeline's spans with a profile, by node and thread.
// It returns the number of figures that were compared.
func checkSums(t *testing.T, p *profile.Profile, f *timeline.File) int {
	t.Helper()
	wrong, n := timelinetest.Differences(p, f)
	for _, w := range wrong {
		t.Error(w)
	}
	return n
}

// checkNesting tells of spans that reach out of those that they begin in. Locks may overlap.
func checkNesting(t *testing.T, f *timeline.File) {
	t.Helper()
	for _, tid := range f.TIDs() {
		var open []timeline.Span
		for s := range f.Thread(tid) {
			for len(open) > 0 && open[len(open)-1].To <= s.From {
				open = open[:len(open)-1]
			}
			if n := len(open) - 1; n >= 0 && open[n].To < s.To && s.Lock == 0 && open[n].Lock == 0 {
				t.Errorf("thread %d: %+v reaches out of %+v", tid, *s, open[n])
			}
			open = append(open, *s)
		}
	}
}

// TestTimelineSums: the spans of a recorded program add up to its profile, exactly. So do those of
// a program of whose events some were lost.
func TestTimelineSums(t *testing.T) {
	for _, s := range recordedStreams(t) {
		t.Run(s.name, func(t *testing.T) {
			e := begin(s.Stream)
			p, f := recordAll(t, e, s.End, feedAll(e, s.Events))
			if checkSums(t, p, f) == 0 {
				t.Error("nothing was compared")
			}
			checkNesting(t, f)
			for i := 0; i < len(s.Events); i += max(1, len(s.Events)/40) {
				for _, lossy := range []*stream.Stream{without(s.Stream, i), withoutSome(s.Stream, i, 5)} {
					e := begin(lossy)
					p, f := recordAll(t, e, s.End, feedAll(e, lossy.Events))
					checkSums(t, p, f)
				}
			}
		})
	}
}

// TestTimelineSumsOfCases: the same of every case that the engine is tested with, folded and not,
// to its end and to half of it.
func TestTimelineSumsOfCases(t *testing.T) {
	n := 0
	for _, tc := range slices.Concat(commonCases, gompCases, inlineCases, kmpcCases, taskCases, newerCases, userCases, pauseCases) {
		t.Run(tc.name, func(t *testing.T) {
			events := parse(t, tc.events)
			for i, part := range [][]event.Event{events, foldStream(events, foldSlots, nil).events, events[:len(events)/2]} {
				e := New(1, fakeFiles{})
				p, f := recordAll(t, e, max(tc.end, 1000), feedAll(e, part))
				n += checkSums(t, p, f)
				if i == 0 {
					checkNesting(t, f)
				}
			}
		})
	}
	if n < 500 {
		t.Errorf("only %d figures compared", n)
	}
}

// TestTimelineSumsOfModel: the same of programs that the model makes up, read in any order, with
// measurement that begins in the middle, and with MPI.
func TestTimelineSumsOfModel(t *testing.T) {
	for seed := range tries(uint64(60)) {
		for _, rt := range []event.Runtime{event.Gomp, event.Kmpc} {
			rnd := rand.New(rand.NewPCG(seed, uint64(rt)))
			s := simulate(rnd, rt, 30+rnd.IntN(300))
			events := s.events
			e := New(1, fakeFiles{})
			if seed%3 == 0 {
				began := 500 + rnd.Uint64N(s.now)
				e.Existing([]int{1, 2, 3, 4, 5, 6, 7}, began)
				events = slices.DeleteFunc(slices.Clone(events), func(ev event.Event) bool { return ev.Time < began })
			}
			p, f := recordAll(t, e, s.now+10, func() { feedMixed(rnd, e, events, seed%2 == 0) })
			checkSums(t, p, f)
			checkNesting(t, f)

			c := simulateCalls(rnd, rt, 30+rnd.IntN(300), false)
			e = New(1, mpiFiles{})
			p, f = recordAll(t, e, c.now+10, func() { feedMixed(rnd, e, c.events, seed%2 == 0) })
			checkSums(t, p, f)
			if t.Failed() {
				t.Fatalf("seed %d, %v", seed, rt)
			}
		}
	}
}

// TestTimelineLongest: of a recorded program, the longest executions of each region are the same as
// in a timeline of all. What was under way meanwhile is there, too.
func TestTimelineLongest(t *testing.T) {
	for _, s := range recordedStreams(t) {
		t.Run(s.name, func(t *testing.T) {
			of := func(plan timeline.Plan) (out []timeline.Span, regions []int) {
				rec, err := timeline.NewRecorder(timeline.Options{Plan: plan, Wait: true})
				if err != nil {
					t.Fatal(err)
				}
				ReplayTo(s.Stream, rec)
				var b bytes.Buffer
				if err := rec.Save(&b); err != nil {
					t.Fatal(err)
				}
				f, err := timeline.Read(bytes.NewReader(b.Bytes()), int64(b.Len()))
				if err != nil {
					t.Fatal(err)
				}
				for _, tid := range f.TIDs() {
					for s, err := range f.Thread(tid) {
						if err != nil {
							t.Fatal(err)
						}
						out = append(out, *s)
					}
				}
				for _, n := range f.Dictionary.Nodes {
					regions = append(regions, n.Region)
				}
				return out, regions
			}
			const most = 3
			all, regions := of(timeline.Plan{Cap: 1 << 28})
			kept, _ := of(timeline.Plan{Cap: 1 << 28, Longest: most})
			there := map[timeline.Span]bool{}
			for _, s := range kept {
				there[s] = true
			}
			for _, c := range longestByRegion(all, regions, most) {
				for _, s := range all {
					if s.From <= c.To && c.From <= s.To && !there[s] {
						t.Fatalf("%+v was under way during %+v, and is not there", s, c)
					}
				}
			}
			for _, s := range all {
				delete(there, s)
			}
			if len(there) > 0 || len(kept) == 0 {
				t.Errorf("%d executions are kept, %d of them are not of the program", len(kept), len(there))
			}
		})
	}
}

// longestByRegion returns the longest executions of each region. Of those that are equally long
// with one that is left out, it returns none.
func longestByRegion(spans []timeline.Span, regions []int, most int) (out []timeline.Span) {
	type id struct {
		region int
		team   uint64
		span   timeline.Span
	}
	longest := map[id]timeline.Span{}
	for _, s := range spans {
		if s.Kind != timeline.Execution && s.Kind != timeline.Call || s.Flags&timeline.Unseen != 0 || s.From == s.To {
			continue
		}
		key := id{region: regions[s.Node], team: s.Team}
		if s.Team == 0 {
			key.span = s
		}
		if o, ok := longest[key]; !ok || o.To-o.From < s.To-s.From {
			longest[key] = s
		}
	}
	of := map[int][]timeline.Span{}
	for key, s := range longest {
		of[key.region] = append(of[key.region], s)
	}
	for _, list := range of {
		slices.SortFunc(list, func(a, b timeline.Span) int { return cmp.Compare(b.To-b.From, a.To-a.From) })
		for i, s := range list[:min(len(list), most)] {
			if len(list) <= most || s.To-s.From > list[most].To-list[most].From {
				out = append(out, list[i])
			}
		}
	}
	return out
}

// TestTimelineDerived: exactly the executions with a derived time are marked approximate; all
// others are those of the full stream.
func TestTimelineDerived(t *testing.T) {
	p := &frequent{rnd: rand.New(rand.NewPCG(3, 3)), threads: 3}
	p.run(400, 0)
	kept := sparseModel{first: 8, many: 8, rare: 100e3, rnd: rand.New(rand.NewPCG(1, 1))}.thin(p.events)
	left := map[event.Edge]int{} // events that the kernel side did not report
	for i := range p.events {
		left[p.events[i].Edge]++
	}
	for i := range kept {
		left[kept[i].Edge]--
	}
	spansOf := func(events []event.Event) (out []timeline.Span) {
		e := New(1, fakeFiles{})
		_, f := recordAll(t, e, p.end(), feedAll(e, events))
		for _, tid := range f.TIDs() {
			for s, err := range f.Thread(tid) {
				if err != nil {
					t.Fatal(err)
				}
				s.Node = int32(f.Dictionary.Nodes[s.Node].Region)
				out = append(out, *s)
			}
		}
		return out
	}
	exact := map[timeline.Span]bool{}
	for _, s := range spansOf(p.events) {
		if s.Flags != 0 {
			t.Fatalf("%+v is of the full stream", s)
		}
		exact[s] = true
	}
	marked, teams := 0, map[uint64]int{}
	for _, s := range spansOf(kept) {
		switch {
		case s.Flags == 0 && !exact[s]:
			t.Errorf("%+v is not of the full stream", s)
		case s.Flags == 0:
		case s.Team == 0:
			marked++
		default:
			teams[s.Team]++
		}
	}
	joins := 0
	for _, n := range teams {
		if n == p.threads {
			joins++
		}
	}
	if marked == 0 || marked != left[event.Waited] || joins == 0 || joins != left[event.Join] || len(teams) < left[event.Begin] {
		t.Errorf("%d barriers, %d of %d teams are marked; left out were %v", marked, joins, len(teams), left)
	}
}

// TestTimelineUnobserved: stretches in which constructs were not observed are gaps that name them,
// also those that had not ended when measurement did.
func TestTimelineUnobserved(t *testing.T) {
	rec, err := timeline.NewRecorder(timeline.Options{Plan: timeline.Plan{Cap: 1 << 26}, Wait: true})
	if err != nil {
		t.Fatal(err)
	}
	e := New(1, fakeFiles{})
	e.Timeline(rec)
	locks, barriers := event.SetOf(event.Critical, event.Lock), event.SetOf(event.Barrier)
	for _, w := range []Switch{{At: 1000, Of: locks, Change: estimate.Unobserved}, {At: 1500, Of: locks, Change: estimate.Period},
		{At: 2000, Of: barriers, Change: estimate.Unobserved}, {At: 3000, Of: locks, Change: estimate.Observed}} {
		e.Observe(w)
	}
	e.Finish(9000)
	want := []timeline.Gap{{From: 1000, To: 3000, Why: timeline.ByBudget, What: "CRITICAL,LOCK"}, {From: 2000, To: 9000, Why: timeline.ByBudget, What: "BARRIER"}}
	if got := rec.Gaps(); !slices.Equal(got, want) {
		t.Errorf("gaps %+v, want %+v", got, want)
	}
}

package attribution

import (
	compare "cmp"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ompp-attach/attribution/stream"
	"ompp-attach/event"
	"ompp-attach/profile"
)

// A stream that the kernel side folded must give the same profile as the stream in which
// each hit was reported. Only the order of a region's nodes may differ, because the events of
// different threads come in another order.
//
// Sums of locks do not tell which locks they were, so contention is not known there.
func sameFolded(t *testing.T, want, got *profile.Profile) {
	t.Helper()
	leaveOutLocks(want)
	leaveOutLocks(got)
	sortNodes(want)
	sortNodes(got)
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-streamed +folded\n%s", d)
	}
}

// leaveOutLocks takes the contention of locks out of a profile.
func leaveOutLocks(p *profile.Profile) {
	for i := range p.Nodes {
		n := &p.Nodes[i]
		if n.Region < 0 || !strings.HasSuffix(p.Regions[n.Region].Construct.String(), "LOCK") {
			continue
		}
		for j := range n.Stats {
			if w := n.Stats[j].Waits; w != nil {
				w.Contended, w.Handed, w.Held, w.Shared, w.Far, w.OnPath, w.NoHolder = profile.Sum{}, 0, profile.Sum{}, 0, 0, 0, profile.Sum{}
				if *w == (profile.Waits{}) {
					n.Stats[j].Waits = nil
				}
			}
		}
	}
}

// sortNodes lists those below one node by their regions.
func sortNodes(p *profile.Profile) {
	below := map[int][]int{}
	for i, n := range p.Nodes {
		below[n.Parent] = append(below[n.Parent], i)
	}
	var nodes []profile.Node
	moved := map[int]int{}
	var walk func(old, parent int)
	walk = func(old, parent int) {
		n := p.Nodes[old]
		n.Parent = parent
		moved[old] = len(nodes)
		nodes = append(nodes, n)
		children := below[old]
		slices.SortStableFunc(children, func(a, b int) int { return compare.Compare(p.Nodes[a].Region, p.Nodes[b].Region) })
		for _, c := range children {
			walk(c, moved[old])
		}
	}
	walk(0, -1)
	p.Nodes = nodes
	for i := range p.Samples {
		p.Samples[i].Node = moved[p.Samples[i].Node]
	}
}

func TestFoldedCases(t *testing.T) {
	folds := 0
	for _, tc := range slices.Concat(commonCases, gompCases, inlineCases, kmpcCases, taskCases, newerCases, userCases, pauseCases) {
		t.Run(tc.name, func(t *testing.T) {
			events := parse(t, tc.events)
			for _, slots := range []int{1, foldSlots} {
				f := foldStream(events, slots, nil)
				folds += countFolds(f.events)
				sameFolded(t, replay(events, max(tc.end, 1000)), replay(f.events, max(tc.end, 1000)))
			}
			if events = withClock(events); len(events) > 0 {
				f := foldStream(events, foldSlots, nil)
				sameFolded(t, replay(events, max(tc.end, 1000)), replay(f.events, max(tc.end, 1000)))
			}
		})
	}
	if folds == 0 {
		t.Error("nothing was folded")
	}
}

// Entry points that jump to one another tell of one call twice: also where the
// first of them is told of, because something was open.
func TestFoldedTwice(t *testing.T) {
	var text string
	for i := range 5 {
		text += fmt.Sprintf(`
			%[1]d0 1 enter critical site=400 sp=90 rt=k
			%[1]d1 1 enter critical site=400 sp=90 rt=k
			%[1]d2 1 acquired critical
			%[1]d2 1 acquired critical
			%[1]d3 1 enter critical site=410 sp=90 rt=k
			%[1]d4 1 enter critical site=410 sp=90 rt=k
			%[1]d5 1 acquired critical
			%[1]d5 1 acquired critical
			%[1]d6 1 release critical
			%[1]d7 1 released critical
			%[1]d8 1 release critical
			%[1]d9 1 released critical`, i+1)
	}
	for _, events := range [][]event.Event{parse(t, text), withClock(parse(t, text))} {
		f := foldStream(events, foldSlots, nil)
		if !slices.ContainsFunc(f.events, func(ev event.Event) bool { return ev.Fold != nil && ev.Fold.Executions == 0 }) {
			t.Error("no hits are told of without an execution")
		}
		sameFolded(t, replay(events, 1000), replay(f.events, 1000))
	}
}

func countFolds(events []event.Event) (n int) {
	for i := range events {
		if events[i].Edge == event.Folded {
			n++
		}
	}
	return n
}

func TestFoldedStreams(t *testing.T) {
	files, err := filepath.Glob("../testdata/streams/*.json.gz")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, name := range files {
		t.Run(filepath.Base(name), func(t *testing.T) {
			r, err := os.Open(name)
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			s, err := stream.Decode(r)
			if err != nil {
				t.Fatal(err)
			}
			want := Replay(s)
			f := foldStream(s.Events, foldSlots, s.Stops)
			t.Logf("%d events, folded %d with %d sums", len(s.Events), len(f.events), countFolds(f.events))
			folded := *s
			folded.Events = f.events
			got := Replay(&folded)
			want.Strip, got.Strip = nil, nil // sums are spread over their time
			sameFolded(t, want, got)
		})
	}
}

// feedLate feeds events as feedMixed does, and says that all has been read which
// was written before a time.
func feedLate(rnd *rand.Rand, e *Engine, f folded, advance bool) {
	queues := map[uint32][]int{}
	var tids []uint32
	for i := range f.events {
		tid := f.events[i].TID
		if queues[tid] == nil {
			tids = append(tids, tid)
		}
		queues[tid] = append(queues[tid], i)
	}
	for left := len(f.events); left > 0; {
		tid := tids[rnd.IntN(len(tids))]
		q := queues[tid]
		n := min(len(q), 1+rnd.IntN(20))
		for _, i := range q[:n] {
			e.Feed(&f.events[i])
		}
		queues[tid], left = q[n:], left-n
		if !advance || left == 0 || rnd.IntN(4) != 0 {
			continue
		}
		read := ^uint64(0)
		for _, q := range queues {
			if len(q) > 0 {
				read = min(read, f.written[q[0]])
			}
		}
		e.Advance(read)
	}
}

// countersOf returns what was counted, own and in child regions, by path and seat.
func countersOf(p *profile.Profile) map[string][]int64 {
	out := map[string][]int64{}
	path := make([]string, len(p.Nodes))
	for i, n := range p.Nodes {
		if n.Parent >= 0 {
			r := p.Regions[n.Region]
			path[i] = fmt.Sprintf("%s/%s@%d", path[n.Parent], r.Construct, r.Location.Begin)
		}
		for _, s := range n.Stats {
			th := p.Threads[s.Thread]
			key := fmt.Sprintf("%s %d:%d", path[i], th.Root, th.Num)
			out[key] = slices.Concat(s.Counters, s.ChildCounters, []int64{int64(s.Uncounted)})
		}
	}
	return out
}

// Programs that are simulated, read in any order.
func TestFoldedModel(t *testing.T) {
	folds := 0
	for seed := range tries(uint64(150)) {
		for _, rt := range []event.Runtime{event.Gomp, event.Kmpc} {
			rnd := rand.New(rand.NewPCG(seed, uint64(rt)))
			make, all := simulate, seed%3 != 0
			if !all {
				make = stopped
			}
			s := make(rnd, rt, 30+rnd.IntN(300))
			if seed%2 == 0 {
				s.events = withClock(s.events)
			}
			for n := range 4 {
				e := New(1, fakeFiles{})
				f := foldStream(s.events, 1+rnd.IntN(foldSlots), nil)
				folds += countFolds(f.events)
				feedLate(rnd, e, f, n%2 == 1)
				end := s.now
				if all {
					end += 10
				}
				got := e.Finish(end)
				streamed := New(1, fakeFiles{})
				feedMixed(rnd, streamed, s.events, false)
				want := streamed.Finish(end)
				if d := cmp.Diff(measured(want), measured(got)); d != "" {
					t.Fatalf("seed %d, %v, %d events, advance %t: -streamed +folded\n%s", seed, rt, len(s.events), n%2 == 1, d)
				}
				// Of one under way at the end, the kernel side keeps the counters only of
				// its beginning; it is marked as not counted whole.
				if d := cmp.Diff(countersOf(want), countersOf(got)); d != "" && all {
					t.Fatalf("seed %d, %v: counters: -streamed +folded\n%s", seed, rt, d)
				}
				if d := cmp.Diff(want.Meta, got.Meta); d != "" {
					t.Fatalf("seed %d, %v: -streamed +folded\n%s", seed, rt, d)
				}
			}
		}
	}
	if folds < tries(1000) {
		t.Errorf("only %d sums", folds)
	}
}

// Programs whose regions last for seconds, read while they run: what one thread has
// folded is older than what others wait for. Where the engine takes a worker of
// libomp for lost that begins long before its primary thread, it may do so here, too.
func TestFoldedForLong(t *testing.T) {
	const unit = 10e6 // ns of a simulation's tick
	right := map[event.Runtime]int{}
	for seed := range tries(uint64(100)) {
		for _, rt := range []event.Runtime{event.Gomp, event.Kmpc} {
			rnd := rand.New(rand.NewPCG(seed, uint64(rt)))
			s := simulate(rnd, rt, 30+rnd.IntN(200))
			for i := range s.events {
				s.events[i].Time *= unit
			}
			want := measured(fedInTime(folded{s.events, timesOf(s.events)}, (s.now+10)*unit))
			if all := s.ended(unit); cmp.Diff(all, want) != "" {
				continue
			}
			right[rt]++
			got := measured(fedInTime(foldStream(s.events, foldSlots, nil), (s.now+10)*unit))
			if d := cmp.Diff(want, got); d != "" {
				t.Fatalf("seed %d, %v: -streamed +folded\n%s", seed, rt, d)
			}
		}
	}
	if right[event.Gomp] < tries(90) || right[event.Kmpc] < tries(50) {
		t.Errorf("streamed, only these programs are right: %v", right)
	}
}

// ended is what comes of a simulation that is read when it is over, with ticks of a
// length.
func (s *simulation) ended(unit uint64) map[figureKey]*figures {
	e := New(1, fakeFiles{})
	for i := range s.events {
		e.Feed(&s.events[i])
	}
	return measured(e.Finish((s.now + 10) * unit))
}

// fedInTime is what comes of events that are read as soon as they are written.
func fedInTime(f folded, end uint64) *profile.Profile {
	order := make([]int, len(f.events))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return compare.Compare(f.written[a], f.written[b]) })
	e := New(1, fakeFiles{})
	for _, i := range order {
		e.Advance(f.written[i])
		e.Feed(&f.events[i])
	}
	return e.Finish(end)
}

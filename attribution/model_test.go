package attribution

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ompp-attach/event"
	"ompp-attach/profile"
)

// feedMixed feeds the threads' events as their rings may be read, with Advance
// at random times until which all has been read, if wanted.
func feedMixed(rnd *rand.Rand, e *Engine, events []event.Event, advance bool) {
	queues := make([][]event.Event, 10)
	left := len(events)
	for _, ev := range events {
		queues[ev.TID] = append(queues[ev.TID], ev)
	}
	batch := 1 + rnd.IntN(40)
	for left > 0 {
		q := &queues[rnd.IntN(len(queues))]
		n := min(len(*q), 1+rnd.IntN(batch))
		for i := range (*q)[:n] {
			e.Feed(&(*q)[i])
		}
		*q, left = (*q)[n:], left-n
		if advance && rnd.IntN(4) == 0 {
			read := ^uint64(0)
			for _, q := range queues {
				if len(q) > 0 {
					read = min(read, q[0].Time)
				}
			}
			if left > 0 {
				e.Advance(read + rnd.Uint64N(clockSlack))
			}
		}
	}
}

// measured are a profile's figures by path and thread.
func measured(p *profile.Profile) map[figureKey]*figures {
	out := map[figureKey]*figures{}
	path := make([]string, len(p.Nodes))
	for i, n := range p.Nodes {
		if n.Parent < 0 {
			continue
		}
		r := p.Regions[n.Region]
		path[i] = path[n.Parent] + fmt.Sprintf("/%s@%d", r.Construct, r.Location.Begin)
		for _, s := range n.Stats {
			th := p.Threads[s.Thread]
			out[figureKey{path[i], th.Root, th.Num}] = &figures{s.Exec, s.Enter, s.Body, s.Barrier, s.Exit, s.Exec.T - s.Child, s.Task, s.Tasks}
		}
	}
	return out
}

// tries is how many of n random programs a test tries: a fifth in short mode. What a test has to
// find in them is fewer, too.
func tries[N int | uint64](n N) N {
	if testing.Short() {
		return n / 5
	}
	return n
}

func TestModel(t *testing.T) {
	for seed := range tries(uint64(150)) {
		for _, rt := range []event.Runtime{event.Gomp, event.Kmpc} {
			rnd := rand.New(rand.NewPCG(seed, uint64(rt)))
			s := simulate(rnd, rt, 30+rnd.IntN(300))
			for n := range 4 {
				e := New(1, fakeFiles{})
				feedMixed(rnd, e, s.events, n%2 == 1)
				p := e.Finish(s.now + 10)
				if d := cmp.Diff(s.want, measured(p)); d != "" {
					t.Fatalf("seed %d, %v, %d events, advance %t: -model +engine\n%s", seed, rt, len(s.events), n%2 == 1, d)
				}
				if p.Meta.Unmatched > 0 || p.Meta.Partial > 0 {
					t.Fatalf("seed %d, %v: unmatched %d, partial %d", seed, rt, p.Meta.Unmatched, p.Meta.Partial)
				}
			}
		}
	}
}

// outermost are the figures in outermost regions that were started after a
// time, whatever the number of their initial thread.
func (s *simulation) outermost(all map[figureKey]*figures, after uint64) map[figureKey]*figures {
	out := map[figureKey]*figures{}
	for at, f := range all {
		first, _, _ := strings.Cut(at.path[1:], "/")
		n := 0
		if _, err := fmt.Sscanf(first, "PARALLEL@%d", &n); err == nil && s.forked[n] > after && s.want[figureKey{"/" + first, s.rootOf[n], 0}] != nil {
			// An earlier region tells of the path, too.
			path := strings.ReplaceAll(at.path, "UTASK", "TASK")
			out[figureKey{path, 0, at.num}] = f
		}
	}
	return out
}

// What the engine sees from some moment on: whole regions are right, with
// threads that were there before.
func TestModelAttach(t *testing.T) {
	seen := 0
	for seed := range tries(uint64(150)) {
		for _, rt := range []event.Runtime{event.Gomp, event.Kmpc} {
			rnd := rand.New(rand.NewPCG(seed, uint64(rt)))
			s := simulate(rnd, rt, 30+rnd.IntN(300))
			began := 500 + rnd.Uint64N(s.now)
			if seed%3 == 0 {
				began = 500
			}
			e := New(1, fakeFiles{})
			e.Existing([]int{1, 2, 3, 4, 5, 6, 7}, began)
			feedMixed(rnd, e, slices.DeleteFunc(slices.Clone(s.events), func(ev event.Event) bool { return ev.Time < began }), seed%2 == 0)
			p := e.Finish(s.now + 10)
			got, want := measured(p), s.outermost(s.want, began)
			if d := cmp.Diff(want, s.outermost(got, began)); d != "" {
				t.Fatalf("seed %d, %v, attached at %d: -model +engine\n%s", seed, rt, began, d)
			}
			sane(t, got)
			seen += len(want)
		}
	}
	if seen < tries(1000) {
		t.Errorf("only %d figures compared", seen)
	}
}

// Measurement, or the process, ends in the middle: everything counts until then.
func TestModelStop(t *testing.T) {
	for seed := range tries(uint64(150)) {
		for _, rt := range []event.Runtime{event.Gomp, event.Kmpc} {
			rnd := rand.New(rand.NewPCG(seed, uint64(rt)))
			s := stopped(rnd, rt, 30+rnd.IntN(200))
			e := New(1, fakeFiles{})
			feedMixed(rnd, e, s.events, seed%2 == 0)
			got := measured(e.Finish(s.now))
			sane(t, got)
			for _, all := range []map[figureKey]*figures{got, s.want} {
				for at, f := range all {
					all[at] = &figures{Exec: f.Exec, Own: f.Own}
				}
			}
			if d := cmp.Diff(s.want, got); d != "" {
				t.Fatalf("seed %d, %v: -model +engine\n%s", seed, rt, d)
			}
		}
	}
}

// Lost events spoil the regions in which they are lost, no later ones.
func TestModelLoss(t *testing.T) {
	seen := 0
	for seed := range tries(uint64(300)) {
		for _, rt := range []event.Runtime{event.Gomp, event.Kmpc} {
			rnd := rand.New(rand.NewPCG(seed, uint64(rt)))
			s := simulate(rnd, rt, 100+rnd.IntN(300))
			until := rnd.IntN(len(s.events)/2 + 1)
			lost := map[uint32]uint32{}
			var kept []event.Event
			last, burst := uint64(0), 0
			for i, ev := range s.events {
				if burst--; rnd.IntN(20) == 0 && seed%4 == 0 {
					burst = rnd.IntN(30) // a ring was full
				}
				if i < until && (burst > 0 || rnd.IntN(8+int(seed%40)) == 0) {
					lost[ev.TID]++
					last = ev.Time
					continue
				}
				ev.Lost, lost[ev.TID] = lost[ev.TID], 0
				kept = append(kept, ev)
			}
			e := New(1, fakeFiles{})
			feedMixed(rnd, e, kept, seed%2 == 0)
			p := e.Finish(s.now + 10)
			if err := profile.Validate(p); err != nil {
				t.Fatal(err)
			}
			got, want := measured(p), s.outermost(s.want, last)
			if d := cmp.Diff(want, s.outermost(got, last)); d != "" {
				t.Fatalf("seed %d, %v, losses until %d: -model +engine\n%s", seed, rt, last, d)
			}
			sane(t, got)
			seen += len(want)
		}
	}
	if seen < tries(1000) {
		t.Errorf("only %d figures compared", seen)
	}
}

func sane(t *testing.T, all map[figureKey]*figures) {
	t.Helper()
	for at, f := range all {
		for _, v := range []int64{f.Exec.T, f.Enter.T, f.Body.T, f.Barrier.T, f.Exit.T, f.Own, f.Task} {
			if v < 0 || v > 1e12 {
				t.Fatalf("%v: %+v", at, *f)
			}
		}
		for _, n := range []uint64{f.Exec.C, f.Enter.C, f.Body.C, f.Barrier.C, f.Exit.C, f.Tasks} {
			if n > 1e6 {
				t.Fatalf("%v: %+v", at, *f)
			}
		}
	}
}

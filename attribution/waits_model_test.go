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

// waitModel executes teams whose threads really wait for each other at barriers. It writes down
// what the probes would tell and, from the arrivals, who waited for whom.
type waitModel struct {
	rnd    *rand.Rand
	events []event.Event
	want   map[waitKey]*profile.Waits
	now    uint64
}

type waitKey struct {
	path string
	num  int
}

func (m *waitModel) at(path string, num int) *profile.Waits {
	k := waitKey{path, num}
	if m.want[k] == nil {
		m.want[k] = &profile.Waits{}
	}
	return m.want[k]
}

func (m *waitModel) put(tid int, at uint64, c event.Construct, e event.Edge, more event.Event) {
	more.Time, more.PID, more.TID, more.Construct, more.Edge, more.Runtime = at, 1, uint32(tid+1), c, e, event.Gomp
	m.events = append(m.events, more)
}

// team executes a region of several threads.
func (m *waitModel) team(size int) {
	fork := m.now
	m.put(0, fork, event.Parallel, event.Fork, event.Event{Fn: 300, Key: 7, Size: int32(size), Site: 90})
	clock, since := make([]uint64, size), make([]uint64, size)
	for i := range size {
		clock[i] = fork + m.rnd.Uint64N(50)
		m.put(i, clock[i], event.Parallel, event.Begin, event.Event{Key: 7, Num: int32(i)})
		since[i] = fork
	}
	last := uint64(0)
	for barriers := m.rnd.IntN(6); ; barriers-- {
		times := make([]map[string]int64, size)
		for i := range size {
			inner := int64(0)
			times[i] = map[string]int64{}
			for range m.rnd.IntN(4) {
				clock[i] += m.rnd.Uint64N(100)
				from := clock[i]
				clock[i] += m.rnd.Uint64N(300)
				if m.rnd.IntN(2) == 0 {
					m.put(i, from, event.Loop, event.Open, event.Event{Site: 410})
					m.put(i, clock[i], event.Loop, event.Close, event.Event{})
					times[i]["/PARALLEL@300/LOOP@410"] += int64(clock[i] - from)
				} else {
					m.put(i, from, event.Critical, event.Enter, event.Event{Site: 430, Flags: event.FreeAtOnce})
					m.put(i, clock[i], event.Critical, event.Release, event.Event{Flags: event.FreeAtOnce | event.NoReturn})
					times[i]["/PARALLEL@300/CRITICAL@430"] += int64(clock[i] - from)
				}
				inner += int64(clock[i] - from)
			}
			clock[i] += m.rnd.Uint64N(100)
			times[i]["/PARALLEL@300"] = int64(clock[i]-since[i]) - inner
		}
		came := slices.Clone(clock)
		last = slices.Max(came)
		late := slices.Index(came, last)
		final := barriers <= 0
		site := uint64(400 + m.rnd.IntN(2))
		for i := range size {
			clock[i] = last + 1 + m.rnd.Uint64N(20)
			if final {
				m.put(i, came[i], event.Parallel, event.End, event.Event{})
				continue
			}
			m.put(i, came[i], event.Barrier, event.Wait, event.Event{Site: site})
			m.put(i, clock[i], event.Barrier, event.Waited, event.Event{})
		}
		path := "/PARALLEL@300"
		if !final {
			path += fmt.Sprintf("/BARRIER@%d", site)
		}
		m.charge(path, late, came, clock, times, final)
		if since = slices.Clone(clock); final {
			break
		}
	}
	m.now = last + 30
	m.put(0, m.now, event.Parallel, event.Join, event.Event{})
	m.now += 10
}

// charge writes down what a barrier tells.
func (m *waitModel) charge(path string, late int, came, left []uint64, times []map[string]int64, final bool) {
	for i := range came {
		wait := int64(came[late] - came[i])
		w := m.at(path, i)
		w.Wait.T += wait
		w.Wait.C++
		if w.Done.C++; !final {
			w.Done.T += int64(left[i] - came[late])
		}
		m.at(path, late).Last.T += wait
		m.at("/PARALLEL@300", late).Late.T += wait
		if i == late {
			for p, t := range times[late] {
				if t != 0 {
					m.at(p, late).OnPath += t
				}
			}
		}
		sum := int64(0)
		for p, t := range times[late] {
			sum += max(0, t-times[i][p])
		}
		for p, t := range times[late] {
			if d := t - times[i][p]; i != late && d > 0 && wait > 0 {
				part := min(d, wait) // of the only region in which it did more
				if d != sum {
					part = int64(float64(d) * min(1, float64(wait)/float64(sum)))
				}
				m.at(p, late).Delay += part
			}
		}
	}
	m.at(path, late).Last.C++
	m.at("/PARALLEL@300", late).Late.C++
}

func newWaitModel(rnd *rand.Rand) *waitModel {
	m := &waitModel{rnd: rnd, want: map[waitKey]*profile.Waits{}, now: 1000}
	for range 1 + rnd.IntN(6) {
		m.team(2 + rnd.IntN(4))
	}
	slices.SortStableFunc(m.events, func(a, b event.Event) int { return int(a.Time) - int(b.Time) })
	return m
}

// waitsByPath are a profile's waits at barriers.
func waitsByPath(p *profile.Profile) map[waitKey]*profile.Waits {
	out := map[waitKey]*profile.Waits{}
	path := make([]string, len(p.Nodes))
	for i, n := range p.Nodes {
		if n.Parent < 0 {
			continue
		}
		r := p.Regions[n.Region]
		path[i] = path[n.Parent] + fmt.Sprintf("/%s@%d", r.Construct, r.Location.Begin)
		for _, s := range n.Stats {
			if s.Waits != nil {
				out[waitKey{path[i], p.Threads[s.Thread].Num}] = s.Waits
			}
		}
	}
	return out
}

// Whatever a team does between its barriers, and in whatever order its threads are read.
func TestWaitsModel(t *testing.T) {
	for seed := range tries(uint64(300)) {
		rnd := rand.New(rand.NewPCG(seed, 7))
		m := newWaitModel(rnd)
		for n := range 3 {
			e := New(1, fakeFiles{})
			feedMixed(rnd, e, m.events, n == 1)
			p := e.Finish(m.now)
			if d := cmp.Diff(m.want, waitsByPath(p)); d != "" {
				t.Fatalf("seed %d, %d events: -model +engine\n%s", seed, len(m.events), d)
			}
			balanced(t, p)
		}
	}
}

// Lost events take waits away. They never add any, and what is missing is counted.
func TestWaitsModelLoss(t *testing.T) {
	dropped, kept := uint64(0), uint64(0)
	for seed := range tries(uint64(400)) {
		rnd := rand.New(rand.NewPCG(seed, 9))
		m := newWaitModel(rnd)
		events, losses, lost := []event.Event{}, rnd.IntN(4)+1, map[uint32]uint32{}
		for _, ev := range m.events {
			if losses > 0 && rnd.IntN(len(m.events)) < 3 {
				losses--
				lost[ev.TID]++
				continue
			}
			ev.Lost, lost[ev.TID] = lost[ev.TID], 0
			events = append(events, ev)
		}
		e := New(1, fakeFiles{})
		feedMixed(rnd, e, events, seed%2 == 0)
		p := e.Finish(m.now)
		balanced(t, p)
		for at, got := range waitsByPath(p) {
			want := m.want[at]
			dropped, kept = dropped+got.Dropped, kept+got.Wait.C
			if want == nil {
				want = &profile.Waits{}
			}
			if got.Wait.C+got.Dropped > want.Wait.C || got.Wait.T > want.Wait.T || got.Last.C > want.Last.C || got.Last.T > want.Last.T ||
				got.Late.T > want.Late.T || got.Done.T > want.Done.T {
				t.Fatalf("seed %d, %v: %+v, more than the model's %+v", seed, at, *got, *want)
			}
		}
	}
	if dropped < tries(uint64(100)) || kept < tries(uint64(1000)) {
		t.Errorf("%d arrivals dropped, %d kept: the losses are not as they should be", dropped, kept)
	}
}

// What recorded programs and cases tell is balanced, and equal in any order of reading.
func TestWaitsOfRecordings(t *testing.T) {
	waited := uint64(0)
	recordings(t, func(name string, r recording) {
		e := r.begin()
		for i := range r.events {
			e.Feed(&r.events[i])
		}
		p := e.Finish(r.end)
		balanced(t, p)
		for _, w := range waitsByPath(p) {
			waited += w.Wait.C
		}
		if t.Failed() {
			t.Fatal(name)
		}
	})
	if waited < tries(uint64(500)) {
		t.Errorf("only %d arrivals were matched", waited)
	}
}

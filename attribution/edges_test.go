package attribution

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"ompp-attach/event"
	"ompp-attach/profile"
)

// sparseModel is a model of which returns the kernel side reports (bpf/sparse.h).
type sparseModel struct {
	first int    // returns of a place that are reported first
	many  int    // returns of a place that chance chooses before it chooses fewer
	rare  uint64 // ns
	rnd   *rand.Rand
}

type sparseThread struct {
	last  uint64
	seen  map[uint64]int
	some  map[uint64]int // by place: how often chance chose
	fork  uint64
	await event.Edge // the edge that is not reported
	sizes []int32    // of the open teams that it has forked
}

// thin takes the events out of a stream that the kernel side would not report, and marks the calls
// of the rows that are sparse. all holds the events of all threads in the order of their times.
func (m sparseModel) thin(all []event.Event) (kept []event.Event) {
	threads := map[uint32]*sparseThread{}
	exact := false
	for _, ev := range all {
		t := threads[ev.TID]
		if t == nil {
			t = &sparseThread{seen: map[uint64]int{}, some: map[uint64]int{}}
			threads[ev.TID] = t
		}
		left := t.await != event.NoEdge && ev.Edge == t.await && (ev.Edge == event.Waited || ev.Construct.IsParallel())
		if left {
			t.await = event.NoEdge
		}
		if size := t.sized(&ev); ev.Edge == event.Join && ev.Runtime == event.Kmpc && size == 1 {
			kept = append(kept, inside(ev, event.End), inside(ev, event.Join))
		}
		if left {
			continue
		}
		exact = exact || ev.Construct.IsTasking() || ev.Construct == event.TaskExec
		place, follows := uint64(0), event.NoEdge
		switch {
		case ev.Edge == event.Fork && ev.Construct == event.Parallel && ev.Runtime == event.Gomp && ev.Flags&^event.Inside == 0:
			place, follows = ev.Fn|ev.Site, event.Begin
			t.fork = place
		case ev.Edge == event.Fork && ev.Construct == event.Parallel && ev.Runtime == event.Kmpc:
			t.fork = ev.Fn
		case ev.Edge == event.End && t.fork != 0 && m.joins(all, &ev):
			place, follows = ^t.fork, event.Join
		case ev.Edge == event.Wait && ev.Construct == event.Barrier:
			place, follows = ev.Site|ev.Loc<<32|1, event.Waited // of libomp, too
		}
		if follows != event.NoEdge && !exact {
			since := ev.Time - t.last
			t.last = ev.Time
			t.seen[place]++
			switch {
			case t.seen[place] <= m.first, since >= m.rare:
				ev.Flags |= event.Anyway
			case t.some[place] < m.many && m.rnd.IntN(16) == 0:
				ev.Flags |= event.ByChance
				t.some[place]++
			case t.some[place] >= m.many && m.rnd.IntN(32) == 0:
				ev.Flags |= event.ByChance | event.Seldom
			default:
				ev.Flags |= event.Unarmed
				t.await = follows
			}
		}
		kept = append(kept, ev)
	}
	return kept
}

// sized notes the sizes of the teams that a thread forks. It returns that of the team that an event
// joins.
func (t *sparseThread) sized(ev *event.Event) (size int32) {
	n := len(t.sizes)
	switch {
	case !ev.Construct.IsParallel():
	case ev.Edge == event.Fork:
		t.sizes = append(t.sizes, 0)
	case ev.Edge == event.Begin && ev.Num == 0 && n > 0:
		t.sizes[n-1] = ev.Size
	case ev.Edge == event.Join && n > 0:
		size, t.sizes = t.sizes[n-1], t.sizes[:n-1]
	}
	return size
}

// inside returns what __kmpc_end_serialized_parallel tells, by which libomp's end of a team of one
// thread ends the team.
func inside(join event.Event, edge event.Edge) event.Event {
	join.Edge, join.Flags = edge, event.Inside
	return join
}

// joins tells whether a join of the same thread follows an end.
func (m sparseModel) joins(all []event.Event, end *event.Event) bool {
	i, _ := slices.BinarySearchFunc(all, end.Time, func(ev event.Event, at uint64) int { return cmp.Compare(ev.Time, at) })
	for _, ev := range all[i:] {
		if ev.TID == end.TID && (ev.Time > end.Time || ev.Edge != event.End) {
			return ev.Edge == event.Join
		}
	}
	return false
}

// frequent is a program of short regions with known times, ns. Some executions are interrupted.
type frequent struct {
	rnd     *rand.Rand
	threads int
	events  []event.Event
	idle    map[uint32]int64 // without a core and not told of
}

// interrupted is how long a thread that loses its core has none, ns.
const interrupted = 3e6

func (p *frequent) emit(tid uint32, at uint64, ev event.Event) {
	if d := p.idle[tid]; d > 0 {
		p.events = append(p.events, event.Event{Time: at, PID: 1, TID: tid, Edge: event.NoCore, Value: d})
		p.idle[tid] = 0
	}
	ev.Time, ev.PID, ev.TID, ev.Runtime = at, 1, tid, event.Gomp
	p.events = append(p.events, ev)
}

// takes returns a time of about d ns, in which the thread loses its core now and then: as often as
// the time is long.
func (p *frequent) takes(tid uint32, d uint64, often float64) uint64 {
	d = d*8/10 + p.rnd.Uint64N(d*4/10+1)
	if p.rnd.Float64() < float64(d)*often {
		p.idle[tid] += interrupted
		d += interrupted
	}
	return d
}

// run makes the events of n regions. Each has a barrier in the middle.
func (p *frequent) run(n int, often float64) {
	now := uint64(1e6)
	p.idle = map[uint32]int64{}
	for i := range n {
		fn := uint64(1 + i%3)
		fork := now
		at := make([]uint64, p.threads)
		p.emit(1, fork, event.Event{Construct: event.Parallel, Edge: event.Fork, Fn: fn, Site: fn, Key: 0x100, Size: int32(p.threads), SP: 0x7000})
		for k := range at {
			tid := uint32(k + 1)
			at[k] = fork + p.takes(tid, 900*fn, often)
			p.emit(tid, at[k], event.Event{Construct: event.Parallel, Edge: event.Begin, Key: 0x100, Num: int32(k)})
		}
		for turn, body := range []uint64{8000, 5000} {
			last := uint64(0)
			for k := range at {
				tid := uint32(k + 1)
				at[k] += p.takes(tid, body+uint64(k)*700, often)
				switch turn {
				case 0:
					p.emit(tid, at[k], event.Event{Construct: event.Barrier, Edge: event.Wait, Site: 10 + fn, SP: 0x6000})
				default:
					p.emit(tid, at[k], event.Event{Construct: event.Parallel, Edge: event.End, SP: 0x7000})
				}
				last = max(last, at[k])
			}
			if turn == 1 {
				now = last + p.takes(1, 700, often)
				p.emit(1, now, event.Event{Construct: event.Parallel, Edge: event.Join, Num: 1})
				now += p.takes(1, 2000, often)
				continue
			}
			for k := range at {
				tid := uint32(k + 1)
				at[k] = last + p.takes(tid, 300, often)
				p.emit(tid, at[k], event.Event{Construct: event.Barrier, Edge: event.Waited})
			}
		}
	}
	slices.SortStableFunc(p.events, func(a, b event.Event) int { return cmp.Compare(a.Time, b.Time) })
}

func (p *frequent) end() uint64 { return p.events[len(p.events)-1].Time + 1000 }

// within tells whether two sums differ by 5 % at most. Sums of so many thread-regions differ by
// some interruptions, which are rare, too.
func within(exact, derived int64, slack float64) bool {
	d := float64(exact - derived)
	return max(d, -d) <= 0.05*float64(max(exact, derived))+slack
}

func TestDerivedEdges(t *testing.T) {
	const regions = 6000
	for _, often := range []float64{0, 1e-7, 1e-6} { // interruptions per ns
		for _, threads := range []int{1, 2, 4} {
			if testing.Short() && (often != 1e-6 || threads != 2) {
				continue
			}
			p := &frequent{rnd: rand.New(rand.NewPCG(uint64(threads), 7)), threads: threads}
			p.run(regions, often)
			want := measured(replay(p.events, p.end()))
			m := sparseModel{first: 64, many: 64, rare: 100e3, rnd: rand.New(rand.NewPCG(1, uint64(threads)))}
			thinned := m.thin(p.events)
			got := replay(thinned, p.end())
			if got.Meta.Edges.All == 0 || got.Meta.Edges.Derived*10 < got.Meta.Edges.All*5 {
				t.Fatalf("%d of %d edges were derived", got.Meta.Edges.Derived, got.Meta.Edges.All)
			}
			if left := len(p.events) - len(thinned); uint64(left) != got.Meta.Edges.Derived {
				t.Errorf("%d events were left out, %d edges derived", left, got.Meta.Edges.Derived)
			}
			if got.Meta.Unmatched > 0 || got.Meta.Partial > 0 {
				t.Errorf("unmatched %d, partial %d", got.Meta.Unmatched, got.Meta.Partial)
			}
			figures := measured(got)
			for at, w := range want {
				g := figures[at]
				if g == nil {
					t.Errorf("%v is missing", at)
					continue
				}
				// By so many interruptions the derived ends may differ (four standard deviations).
				slack := 0.0
				if often > 0 {
					slack = 8 * interrupted
				}
				compareDerived(t, fmt.Sprintf("%g/ns, %d threads, %v", often, threads, at), w, g, slack)
			}
		}
	}
}

func compareDerived(t *testing.T, where string, w, g *figures, slack float64) {
	t.Helper()
	for _, x := range []struct {
		name string
		w, g profile.Sum
	}{{"exec", w.Exec, g.Exec}, {"enter", w.Enter, g.Enter}, {"body", w.Body, g.Body}, {"barrier", w.Barrier, g.Barrier}, {"exit", w.Exit, g.Exit},
		{"own", profile.Sum{T: w.Own}, profile.Sum{T: g.Own}}} {
		if x.w.C != x.g.C {
			t.Errorf("%s: %s counts %d, in full %d", where, x.name, x.g.C, x.w.C)
		}
		if !within(x.w.T, x.g.T, slack) {
			t.Errorf("%s: %s is %d, in full %d", where, x.name, x.g.T, x.w.T)
		}
	}
}

// The profile does not depend on the order in which the threads are read, nor on when.
func TestDerivedEdgesInAnyOrder(t *testing.T) {
	p := &frequent{rnd: rand.New(rand.NewPCG(3, 3)), threads: 3}
	p.run(400, 1e-6)
	m := sparseModel{first: 8, many: 8, rare: 100e3, rnd: rand.New(rand.NewPCG(1, 1))}
	events := m.thin(p.events)
	want := measured(replay(events, p.end()))
	for seed := range uint64(40) {
		e := New(1, fakeFiles{})
		feedMixed(rand.New(rand.NewPCG(seed, 1)), e, events, seed%2 == 0)
		got := e.Finish(p.end())
		if d := gocmp.Diff(want, measured(got)); d != "" {
			t.Fatalf("seed %d: -in order +mixed\n%s", seed, d)
		}
	}
}

// Random programs with all constructs: counts are those of the full stream, and each time lies
// within the bounds that the neighbouring events set.
func TestDerivedEdgesModel(t *testing.T) {
	derived := uint64(0)
	for seed := range tries(uint64(800)) {
		runtime := []event.Runtime{event.Gomp, event.Kmpc}[seed%2]
		rnd := rand.New(rand.NewPCG(seed, uint64(runtime)))
		s := simulate(rnd, runtime, 30+rnd.IntN(300))
		events := sparseModel{first: int(seed % 3), many: int(seed % 5), rare: 1 << 60, rnd: rnd}.thin(s.events)
		var first map[figureKey]*figures
		for n := range 3 {
			e := New(1, fakeFiles{})
			feedMixed(rnd, e, events, n%2 == 1)
			p := e.Finish(s.now + 10)
			got := measured(p)
			derived += p.Meta.Edges.Derived
			if p.Meta.Unmatched > 0 || p.Meta.Partial > 0 {
				t.Fatalf("seed %d: unmatched %d, partial %d", seed, p.Meta.Unmatched, p.Meta.Partial)
			}
			sane(t, got)
			for at, w := range s.want {
				g := got[at]
				if g == nil {
					t.Fatalf("seed %d: %v is missing", seed, at)
				}
				for _, c := range [][2]uint64{{w.Exec.C, g.Exec.C}, {w.Enter.C, g.Enter.C}, {w.Body.C, g.Body.C}, {w.Barrier.C, g.Barrier.C}, {w.Exit.C, g.Exit.C}, {w.Tasks, g.Tasks}} {
					if c[0] != c[1] {
						t.Fatalf("seed %d: %v counts %+v, in full %+v", seed, at, *g, *w)
					}
				}
			}
			if len(got) != len(s.want) {
				t.Fatalf("seed %d: %d figures, in full %d", seed, len(got), len(s.want))
			}
			if first == nil {
				first = got
			} else if d := gocmp.Diff(first, got); d != "" {
				t.Fatalf("seed %d: -first +order %d\n%s", seed, n, d)
			}
		}
	}
	if derived < tries(uint64(500)) {
		t.Errorf("only %d edges were derived", derived)
	}
}

package advice

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"ompp-attach/event"
)

// works are regions of a library: from and to are ms, each by team threads.
type works struct {
	instance        uint16
	from, to, every uint64 // a region every so many ms; 0: one
	team, firstTID  int
}

func events(ws []works) (evs []event.Event) {
	for _, w := range ws {
		step := w.every
		if step == 0 {
			step = w.to - w.from
		}
		for at := w.from; at < w.to; at += step {
			for th := range w.team {
				ev := event.Event{Instance: w.instance, TID: uint32(w.firstTID + th), Size: int32(w.team), Construct: event.Parallel}
				ev.Edge, ev.Time = event.Begin, 1e9+at*1e6
				evs = append(evs, ev)
				ev.Edge, ev.Time = event.End, 1e9+(at+step)*1e6-1
				if w.every != 0 {
					ev.Time = 1e9 + at*1e6 + step*4e5 // 40 % of the time
				}
				evs = append(evs, ev)
			}
		}
	}
	return evs
}

func TestOversubscribed(t *testing.T) {
	gomp := func(u *Usage) { u.Add(0, event.Gomp, "/usr/lib/libgomp.so.1") }
	two := func(u *Usage) { gomp(u); u.Add(1, event.Kmpc, "/opt/libomp.so.5") }
	twins := func(u *Usage) { gomp(u); u.Add(1, event.Gomp, "/venv/libgomp-a34b3233.so.1") }
	for _, tc := range []struct {
		name  string
		libs  func(*Usage)
		cores int
		work  []works
		want  [][]string // words of each warning
	}{
		{"fits", gomp, 4, []works{{0, 0, 1000, 0, 4, 1}}, nil},
		{"too large", gomp, 2, []works{{0, 0, 1000, 0, 8, 1}}, [][]string{{"libgomp starts teams of up to 8 threads", "only 2 cores (its affinity mask)", "OMP_NUM_THREADS=2"}}},
		{"two at once", two, 2, []works{{0, 0, 1000, 0, 2, 1}, {1, 500, 1000, 0, 2, 11}},
			[][]string{{"2 OpenMP runtimes oversubscribe", "during 0.50 s of 1.00 s", "2.0 threads of libgomp (teams of up to 2) and 2.0 of libomp (teams of up to 2)", "4.0 threads on 2 cores", "OMP_NUM_THREADS=1", "let libomp serve both", "/opt/libomp.so.5"}}},
		{"two copies at once", twins, 4, []works{{0, 0, 1000, 0, 4, 1}, {1, 0, 1000, 0, 4, 11}},
			[][]string{{"libgomp libgomp.so.1 (teams of up to 4) and 4.0 of libgomp libgomp-a34b3233.so.1", "OMP_NUM_THREADS=2", "one copy"}}},
		{"two, enough cores", two, 4, []works{{0, 0, 1000, 0, 2, 1}, {1, 0, 1000, 0, 2, 11}}, nil},
		{"one after the other", two, 2, []works{{0, 0, 1000, 0, 2, 1}, {1, 1000, 2000, 0, 2, 1}}, nil},
		{"in turns", two, 2, []works{{0, 0, 1000, 5, 2, 1}, {1, 0, 1000, 5, 2, 11}},
			[][]string{{"take turns", "libgomp and libomp ran regions within 10ms", "OMP_WAIT_POLICY=passive", "KMP_BLOCKTIME=0"}}},
		{"in turns, small teams", two, 8, []works{{0, 0, 1000, 5, 2, 1}, {1, 0, 1000, 5, 2, 11}}, nil},
		{"one runtime, several teams", gomp, 2, []works{{0, 0, 1000, 0, 2, 1}, {0, 0, 1000, 0, 2, 11}},
			[][]string{{"libgomp runs several teams at once", "4.0 of its threads", "OMP_MAX_ACTIVE_LEVELS=1"}}},
		{"nested in one runtime", gomp, 2, []works{{0, 0, 1000, 0, 2, 1}, {0, 1, 999, 0, 2, 1}, {0, 1, 999, 0, 2, 11}},
			[][]string{{"libgomp runs several teams at once"}}},
		{"nested in the other", two, 2, []works{{0, 0, 1000, 0, 2, 1}, {1, 1, 999, 0, 2, 1}, {1, 1, 999, 0, 2, 11}},
			[][]string{{"regions of libgomp call regions of libomp", "starts a team of up to 2", "4.0 threads", "one thread there"}}},
		{"a moment", two, 2, []works{{0, 0, 10000, 0, 2, 1}, {1, 500, 520, 0, 2, 11}}, nil},
		{"an hour", two, 2, []works{{0, 0, 3600000, 0, 2, 1}, {1, 1800000, 3600000, 0, 2, 11}}, [][]string{{"during 1799", "of 36"}}},
		{"cores not known", gomp, 0, []works{{0, 0, 1000, 0, 8, 1}}, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			evs := events(tc.work)
			slices.SortStableFunc(evs, func(a, b event.Event) int { return cmp.Compare(a.Time, b.Time) })
			// Events of different threads come in any order, those of one thread in their own.
			rng := rand.New(rand.NewPCG(1, 2))
			order := map[uint32]int{}
			for _, ev := range evs {
				if _, ok := order[ev.TID]; !ok {
					order[ev.TID] = rng.Int()
				}
			}
			shuffled := slices.Clone(evs)
			slices.SortStableFunc(shuffled, func(a, b event.Event) int { return order[a.TID] - order[b.TID] })
			for _, evs := range [][]event.Event{evs, shuffled} {
				u := NewUsage()
				u.origin = 1e9
				tc.libs(u)
				for i := range evs {
					u.Feed(&evs[i])
				}
				u.Finish(evs[len(evs)-1].Time, func(uint32) bool { return true })
				c := Cores{mask: map[int]bool{}}
				for i := range tc.cores {
					c.mask[i] = true
				}
				got := u.Oversubscribed(&c)
				if len(got) != len(tc.want) {
					t.Fatalf("warnings %q, want %d", got, len(tc.want))
				}
				for i, words := range tc.want {
					for _, w := range words {
						if !strings.Contains(got[i], w) {
							t.Errorf("%q does not say %q", got[i], w)
						}
					}
				}
			}
		})
	}
}

// TestEndedWorkers: libgomp ends the workers of an initial thread by what looks like the beginning
// of a region. Such workers are in no region. Workers in a region that has no end yet are.
func TestEndedWorkers(t *testing.T) {
	u := NewUsage()
	u.Add(0, event.Gomp, "/libgomp.so.1")
	for tid := range uint32(20) {
		for k, edge := range []event.Edge{event.Begin, event.End, event.Begin} {
			u.Feed(&event.Event{Time: 1e9 + uint64(k)*1e6, TID: tid, Edge: edge})
		}
	}
	c := u.Copy()
	for _, u := range []*Usage{c, u} {
		u.Finish(1e9+102e6, func(tid uint32) bool { return tid < 3 })
		sum := uint64(0)
		for _, b := range u.libraries[0].busy {
			sum += b
		}
		if want := uint64(20*1e6 + 3*100e6); sum != want {
			t.Errorf("%d ns in regions, want %d", sum, want)
		}
	}
}

// TestPausedUsage: a region that is open when measurement is paused counts until then.
func TestPausedUsage(t *testing.T) {
	u := NewUsage()
	u.Add(0, event.Gomp, "/libgomp.so.1")
	feed := func(ms uint64, edge event.Edge) { u.Feed(&event.Event{Time: 1e9 + ms*1e6, TID: 7, Edge: edge}) }
	inside := func(uint32) bool { return true }
	feed(0, event.Begin)
	u.Finish(1e9+3e6, inside)
	feed(50, event.End) // of the region before the pause
	feed(60, event.Begin)
	feed(64, event.End)
	u.Finish(1e9+100e6, inside)
	sum := uint64(0)
	for _, b := range u.libraries[0].busy {
		sum += b
	}
	if sum != 7e6 {
		t.Errorf("%d ns in regions, want 3 ms before the pause and 4 ms after", sum)
	}
}

// Lost events, ends without a beginning, and regions left without an end must
// not be taken for threads at work.
func TestUsageOfBrokenStreams(t *testing.T) {
	u := NewUsage()
	u.Add(0, event.Gomp, "/libgomp.so.1")
	begin := func(at uint64, lost uint32) {
		u.Feed(&event.Event{Time: at, TID: 1, Edge: event.Begin, Lost: lost})
	}
	end := func(at uint64) { u.Feed(&event.Event{Time: at, TID: 1, Edge: event.End}) }
	end(1e9)
	begin(2e9, 0)
	begin(3e9, 5) // the end before it is lost; when, nobody knows
	end(4e9)
	end(5e9)
	for range 3 * deepestTeam {
		begin(6e9, 0)
	}
	if n := len(u.threads[1].regions); n != deepestTeam {
		t.Errorf("%d regions deep", n)
	}
	var busy uint64
	for _, b := range u.libraries[0].busy {
		busy += b
	}
	if busy != 1e9 {
		t.Errorf("%d ns in regions, want those of the one whole region", busy)
	}
	u.Feed(&event.Event{Time: 7e9, TID: 2, Edge: event.Begin, Instance: 9}) // never added
}

func TestLibraryLabels(t *testing.T) {
	for _, tc := range []struct {
		name  string
		paths []string
		want  []string
	}{
		{"one", []string{"/a/libgomp.so.1"}, []string{"libgomp"}},
		{"hashed", []string{"/a/libgomp.so.1", "/b/libgomp-a34b3233.so.1"}, []string{"libgomp libgomp.so.1", "libgomp libgomp-a34b3233.so.1"}},
		{"one name", []string{"/a/libgomp.so.1", "/b/libgomp.so.1"}, []string{"libgomp /a/libgomp.so.1", "libgomp /b/libgomp.so.1"}},
		{"same file", []string{"/a/libgomp.so.1", "/a/libgomp.so.1"}, []string{"libgomp", "libgomp"}},
	} {
		u := NewUsage()
		for i, p := range tc.paths {
			u.Add(uint16(i), event.Gomp, p)
		}
		for i, want := range tc.want {
			if got := u.label(u.libraries[uint16(i)]); got != want {
				t.Errorf("%s: %q, want %q", tc.name, got, want)
			}
		}
	}
}

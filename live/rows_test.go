package live

import (
	"cmp"
	"slices"
	"testing"
	"time"

	"ompp-attach/attribution"
	"ompp-attach/attribution/stream"
	"ompp-attach/event"
	"ompp-attach/profile"
)

// teamOfTwo returns the events of a region of a thread and its worker.
func teamOfTwo(primary uint32, from, to uint64) (events []event.Event) {
	at := func(tid uint32, time uint64, edge event.Edge, num int32) {
		events = append(events, event.Event{Time: time, PID: 1, TID: tid, Construct: event.Parallel, Edge: edge, Runtime: event.Gomp,
			Fn: 300, Key: uint64(primary) << 8, Num: num, Size: 2, Site: 90})
	}
	at(primary, from, event.Fork, 0)
	at(primary, from, event.Begin, 0)
	at(primary+1, from, event.Begin, 1)
	at(primary+1, to, event.End, 0)
	at(primary, to, event.End, 0)
	at(primary, to, event.Join, 0)
	return events
}

// TestBriefThreadsInWindows: from a number of brief threads on, their rows become one row. In the
// profile, a thread that lives on leaves that row. No two of these threads live at once. So in a
// window, no row has more time than the window is long, and none has less than 0.
func TestBriefThreadsInWindows(t *testing.T) {
	s := stream.Stream{PID: 1, Began: 0}
	s.Events = append(teamOfTwo(1, 10, 500), teamOfTwo(1, 59000, 59500)...)
	for i := range 12 {
		from := 1000 * uint64(i+1)
		s.Events = append(s.Events, teamOfTwo(uint32(10+2*i), from, from+900)...)
	}
	s.Events = append(s.Events, teamOfTwo(100, 20000, 21000)...) // brief so far
	s.Events = append(s.Events, teamOfTwo(100, 22000, 40000)...)
	s.Events = append(s.Events, teamOfTwo(120, 41000, 41500)...)
	slices.SortStableFunc(s.Events, func(a, b event.Event) int { return cmp.Compare(a.Time, b.Time) })
	var tr Tracker
	var rows []int
	sum := map[string]Times{}
	var last *Update
	for _, end := range []uint64{5950, 8950, 12950, 21500, 40500, 50000, 60000} {
		part := s
		part.End = end
		part.Events = slices.DeleteFunc(slices.Clone(s.Events), func(ev event.Event) bool { return ev.Time > end })
		p := attribution.Replay(&part)
		p.Meta.Duration = int64(end)
		last = tr.Next(time.Time{}, []*profile.Profile{p}, end == 60000)
		rows = append(rows, len(p.Threads))
		for i := range last.Threads {
			th := &last.Threads[i]
			if w := th.Window.Sum(); w < 0 || w > last.Wall {
				t.Errorf("%d: row %s: %d ns in a window of %d", end, th.Name, w, last.Wall)
			}
			all := sum[th.Name]
			all.add(th.Window)
			sum[th.Name] = all
		}
		for _, r := range last.Regions {
			var in Times
			for _, th := range r.Threads {
				in.add(th.Window)
				if th.Window.Sum() < 0 || th.Window.Sum() > last.Wall {
					t.Errorf("%d: %d ns of a thread in the region, in a window of %d", end, th.Window.Sum(), last.Wall)
				}
			}
			if in != r.Window.Times {
				t.Errorf("%d: the threads in the region add up to %+v, want %+v", end, in, r.Window.Times)
			}
		}
	}
	if want := []int{12, 18, 4, 4, 6, 6, 6}; !slices.Equal(rows, want) {
		t.Errorf("the profiles have %v rows, want %v", rows, want)
	}
	if len(last.Threads) != 4 {
		t.Errorf("%d rows at the end, want 4: %+v", len(last.Threads), last.Threads)
	}
}

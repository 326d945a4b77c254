package attribution

import (
	"cmp"
	"slices"
	"strings"
	"testing"

	"ompp-attach/attribution/build"
	"ompp-attach/attribution/seats"
	"ompp-attach/event"
	"ompp-attach/profile"
)

// briefThreads makes up a program with n threads that live for a microsecond each. Its first thread
// lives all the time, another one for half of it. All start teams of two.
func briefThreads(n int) (events []event.Event, end uint64) {
	region := func(primary, worker uint32, key, from, to uint64) {
		at := func(tid uint32, time uint64, edge event.Edge, num int32) {
			events = append(events, event.Event{Time: time, PID: 1, TID: tid, Construct: event.Parallel, Edge: edge, Runtime: event.Gomp,
				Fn: 300, Key: key, Num: num, Size: 2, Site: 90})
		}
		at(primary, from, event.Fork, 0)
		at(primary, from, event.Begin, 0)
		at(worker, from, event.Begin, 1)
		at(worker, to, event.End, 0)
		at(primary, to, event.End, 0)
		at(primary, to, event.Join, 0)
	}
	all := uint64(n)*1000 + 100000
	region(1, 2, 7, 1, all/10)
	for i := range n {
		from := 1000 * uint64(i+1)
		region(uint32(10+2*i), uint32(11+2*i), 8, from, from+1000)
	}
	region(3, 4, 9, 1000, 1000+all/4) // of a thread that is there for longer
	region(3, 4, 9, all/2-1000, all/2)
	region(1, 2, 7, all-1000, all)
	slices.SortStableFunc(events, func(a, b event.Event) int { return cmp.Compare(a.Time, b.Time) })
	return events, all
}

func TestBriefInitialThreadsShareARow(t *testing.T) {
	for _, n := range []int{build.FewBrief, 100, 2000} {
		events, end := briefThreads(n)
		p := replay(events, end)
		rows, joined, lived := len(p.Threads), 0, int64(0)
		var count uint64
		for i, th := range p.Threads {
			if joined = max(joined, th.Joined); th.Joined > 1 {
				lived = th.Lived
			}
			for _, s := range p.Nodes[1].Stats {
				if s.Thread == i {
					count += s.Exec.C
				}
			}
		}
		if want := uint64(2*n + 8); count != want {
			t.Errorf("%d brief threads: %d executions, want %d", n, count, want)
		}
		if n == build.FewBrief {
			if rows != 4+2*n || joined != 0 {
				t.Errorf("a few: %d rows, %d joined", rows, joined)
			}
			continue
		}
		if joined != n || lived != int64(n)*1000 || rows != 6 && n <= seats.ManyInitial {
			t.Errorf("%d brief threads: %d rows, %d joined that lived for %d ns", n, rows, joined, lived)
		}
		if !strings.Contains(strings.Join(p.Warnings, " "), "initial threads that lived briefly share row") {
			t.Errorf("%d brief threads: %q", n, p.Warnings)
		}
		if err := profile.Validate(p); err != nil {
			t.Error(err)
		}
	}
}

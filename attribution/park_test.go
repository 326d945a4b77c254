package attribution

import (
	"slices"
	"testing"

	"ompp-attach/attribution/queue"
	"ompp-attach/event"
)

// libomp's primary thread, which names its team when it begins, may be given no core
// for seconds, while its worker does its part.
func TestPrimaryThreadBeginsLate(t *testing.T) {
	for _, begins := range []bool{true, false} { // or is ended before
		e := New(1, fakeFiles{})
		at := uint64(1000)
		feed := func(tid uint32, c event.Construct, edge event.Edge, ev event.Event) {
			at += 10
			ev.TID, ev.Time, ev.Construct, ev.Edge, ev.Runtime = tid, at, c, edge, event.Kmpc
			e.Feed(&ev)
		}
		feed(1, event.Parallel, event.Fork, event.Event{Fn: 0x300, Loc: 0x202})
		feed(2, event.Parallel, event.Begin, event.Event{Fn: 0x300, Key: 7, Num: 1, Size: 2})
		feed(2, event.Critical, event.Enter, event.Event{Site: 0x510, Loc: 0x512, Flags: event.FreeAtOnce})
		feed(2, event.Critical, event.Release, event.Event{Flags: event.FreeAtOnce})
		feed(2, event.Parallel, event.End, event.Event{})
		for range 5 {
			at += stragglerWait
			e.Advance(at)
		}
		if begins {
			feed(1, event.Parallel, event.Begin, event.Event{Fn: 0x300, Key: 7, Size: 2})
			feed(1, event.Parallel, event.End, event.Event{})
			feed(1, event.Parallel, event.Join, event.Event{})
		}
		p := e.Finish(at)
		executions := map[event.Construct]uint64{}
		for _, n := range p.Nodes {
			for _, s := range n.Stats {
				if n.Region >= 0 && p.Threads[s.Thread].Num == 1 {
					executions[p.Regions[n.Region].Construct] += s.Exec.C
				}
			}
		}
		if executions[event.Parallel] != 1 || executions[event.Critical] != 1 || executions[event.Unknown] != 0 || begins && p.Meta.Partial != 0 {
			t.Errorf("the primary thread begins: %t: the worker's executions: %v, %d partial", begins, executions, p.Meta.Partial)
		}
	}
}

// A queue returns the events that it was given, whatever its memory held before.
func TestQueue(t *testing.T) {
	var c queue.Chunks
	var q queue.Queue
	next, first := uint64(0), uint64(0)
	counters := make([]uint64, event.MaxCounts)
	push := func(n int) {
		for range n {
			width := int(next % 4)
			for i := range width {
				counters[i] = next + uint64(i)
			}
			ev := event.Event{Time: next, Counters: counters[:width]}
			if next%3 == 0 {
				ev.Sample = &event.Sample{Stack: []uint64{next}}
			}
			q.Push(&c, &ev)
			if ev.Sample != nil {
				ev.Sample.Stack[0] = 0 // the caller's
			}
			next++
		}
	}
	check := func(ev *event.Event, at uint64) {
		t.Helper()
		want := make([]uint64, at%4)
		for i := range want {
			want[i] = at + uint64(i)
		}
		if ev.Time != at || !slices.Equal(ev.Counters, want) || (ev.Sample != nil) != (at%3 == 0) || ev.Sample != nil && ev.Sample.Stack[0] != at {
			t.Fatalf("event %d: %+v", at, *ev)
		}
	}
	pop := func(n int) {
		for range n {
			check(q.Front(), first)
			q.Pop(&c)
			first++
		}
	}
	for _, n := range []int{1, queue.ChunkEvents - 1, queue.ChunkEvents, 3*queue.ChunkEvents + 5} {
		push(n)
		pop(n / 2)
		push(n)
		pop(n + n - n/2)
		if !q.Empty() {
			t.Fatalf("not empty after all %d events", next)
		}
	}
	push(200)
	pop(20)
	at := first
	for ev := range q.All() {
		check(ev, at)
		at++
	}
	if at != next {
		t.Errorf("all: up to %d, want %d", at, next)
	}
	later := q.Cut(&c, first+100)
	if len(later) != 80 {
		t.Fatalf("%d events cut", len(later))
	}
	end := first + 100
	pop(100)
	for i := range later {
		check(&later[i], end+uint64(i))
	}
	if !q.Empty() || len(c.Free) == 0 {
		t.Errorf("empty: %t, %d chunks to use again", q.Empty(), len(c.Free))
	}
}

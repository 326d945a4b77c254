package queue

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"ompp-attach/event"
)

// timesOf lists the times of a queue's events.
func timesOf(q *Queue) (times []uint64) {
	for ev := range q.All() {
		times = append(times, ev.Time)
	}
	return times
}

// filled returns a queue of events at the times 0 to n-1.
func filled(c *Chunks, n uint64) *Queue {
	q := &Queue{}
	for at := range n {
		q.Push(c, &event.Event{Time: at, Counters: []uint64{at * 10}})
	}
	return q
}

// TestOrder: events come out in the order in which they went in, over several chunks, and the
// chunks are used again.
func TestOrder(t *testing.T) {
	const n = 3*ChunkEvents + 5
	var c Chunks
	for range 2 {
		q := filled(&c, n)
		for at := range uint64(n) {
			if q.Empty() {
				t.Fatalf("empty after %d of %d events", at, n)
			}
			if ev := q.Front(); ev.Time != at || ev.Counters[0] != at*10 {
				t.Fatalf("event %d is of time %d, with counters %v", at, ev.Time, ev.Counters)
			}
			q.Pop(&c)
		}
		if !q.Empty() || len(c.Free) != 4 {
			t.Errorf("empty: %t; %d chunks can be used again, want 4", q.Empty(), len(c.Free))
		}
	}
}

// TestCopies: what an event points to may change after it was pushed.
func TestCopies(t *testing.T) {
	var c Chunks
	var q Queue
	ev := event.Event{Counters: []uint64{1}, MPI: &event.MPICall{}, Sample: &event.Sample{Stack: []uint64{2}}, Fold: &event.Fold{Hits: 3, Counters: []uint64{4}}}
	q.Push(&c, &ev)
	mpi := *ev.MPI
	ev.Counters[0], ev.Sample.Stack[0], ev.Fold.Hits, ev.Fold.Counters[0] = 0, 0, 0, 0
	got := q.Front()
	if got.Counters[0] != 1 || got.Sample.Stack[0] != 2 || got.Fold.Hits != 3 || got.Fold.Counters[0] != 4 || got.MPI == ev.MPI {
		t.Errorf("the queue shares memory with what was pushed: %+v", got)
	}
	if d := cmp.Diff(mpi, *got.MPI, cmp.AllowUnexported(event.MPICall{})); d != "" {
		t.Error(d)
	}
}

// TestCut: the events from a time on come back, and the earlier ones stay.
func TestCut(t *testing.T) {
	const n = ChunkEvents + 10
	for _, at := range []uint64{0, 1, ChunkEvents, n - 1, n} {
		var c Chunks
		q := filled(&c, n)
		later := q.Cut(&c, at)
		if got := uint64(len(timesOf(q))); got != at || uint64(len(later)) != n-at {
			t.Errorf("cut at %d: %d events stay, %d come back", at, got, len(later))
		}
		for i, ev := range later {
			if ev.Time != at+uint64(i) || ev.Counters[0] != ev.Time*10 {
				t.Errorf("cut at %d: event %d is %+v", at, i, ev)
			}
		}
	}
}

func TestOnlySamplesFollow(t *testing.T) {
	for _, tc := range []struct {
		edges []event.Edge
		want  bool
	}{
		{[]event.Edge{event.Enter}, true},
		{[]event.Edge{event.Enter, event.Sampled, event.NoCore}, true},
		{[]event.Edge{event.Enter, event.Sampled, event.End}, false},
	} {
		var c Chunks
		var q Queue
		for _, e := range tc.edges {
			q.Push(&c, &event.Event{Edge: e})
		}
		if got := q.OnlySamplesFollow(); got != tc.want {
			t.Errorf("%v: %t", tc.edges, got)
		}
	}
}

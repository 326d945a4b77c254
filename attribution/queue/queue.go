// Package queue holds events that wait.
package queue

import (
	"iter"
	"slices"

	"ompp-attach/event"
)

// Queue holds the events of a parked thread in order, with copies of everything that they point to.
// Threads that execute tasks are parked all the time. So the queue's memory comes in chunks, which
// the next parked thread uses again.
type Queue struct {
	first, last *chunk // nil: the queue is empty
	at          int    // index of the first event in the first chunk
}

// ChunkEvents is the number of events in a chunk.
const ChunkEvents = 64

type chunk struct {
	events   [ChunkEvents]event.Event
	n        int
	width    int // number of counters that each event has room for
	counters []uint64
	more     bool // some event points to more than its counters: an MPI call, a sample, a sum
	next     *chunk
}

// Chunks holds the chunks that are not in use.
type Chunks struct {
	Free []*chunk
}

// spareChunks is how many unused chunks are kept: 6 MB, as much as two busy threads bring in one
// reading of their rings. After a burst there may be as many as fill a ring.
const spareChunks = 512

func (c *Chunks) get() *chunk {
	n := len(c.Free) - 1
	if n < 0 {
		return new(chunk)
	}
	k := c.Free[n]
	c.Free = c.Free[:n]
	return k
}

func (c *Chunks) giveBack(k *chunk) {
	if len(c.Free) >= spareChunks {
		return
	}
	if k.more {
		clear(k.events[:k.n])
	}
	k.n, k.more, k.next = 0, false, nil
	c.Free = append(c.Free, k)
}

// Empty tells whether the queue holds no events.
func (q *Queue) Empty() bool { return q.first == nil }

// Front returns the first event, which the next pop removes. The queue must not be empty.
func (q *Queue) Front() *event.Event { return &q.first.events[q.at] }

// Push appends a copy of an event.
func (q *Queue) Push(c *Chunks, ev *event.Event) {
	k := q.last
	if k == nil || k.n == ChunkEvents {
		k = c.get()
		if q.last == nil {
			q.first, q.at = k, 0
		} else {
			q.last.next = k
		}
		q.last = k
	}
	own := &k.events[k.n]
	*own = *ev
	if n := len(ev.Counters); n > 0 {
		if n > k.width { // earlier events keep their counters in the old array
			k.width, k.counters = n, make([]uint64, ChunkEvents*n)
		}
		own.Counters = k.counters[k.n*k.width:][:n:n]
		copy(own.Counters, ev.Counters)
	}
	if ev.MPI != nil || ev.Sample != nil || ev.Fold != nil || ev.OffCore != nil {
		k.more = true
		copyMore(own)
	}
	k.n++
}

// copyMore gives an event copies of everything that it points to, except its counters.
func copyMore(ev *event.Event) {
	if ev.MPI != nil {
		c := *ev.MPI
		ev.MPI = &c
	}
	if ev.Sample != nil {
		s := *ev.Sample
		s.Stack = slices.Clone(s.Stack)
		ev.Sample = &s
	}
	if ev.Fold != nil {
		f := *ev.Fold
		f.Counters = slices.Clone(f.Counters)
		ev.Fold = &f
	}
	if ev.OffCore != nil {
		a := *ev.OffCore
		ev.OffCore = &a
	}
}

// Pop removes the first event.
func (q *Queue) Pop(c *Chunks) {
	k := q.first
	if q.at++; q.at < k.n {
		return
	}
	q.first, q.at = k.next, 0
	if k.next == nil {
		q.last = nil
	}
	c.giveBack(k)
}

// All yields the events in order.
func (q *Queue) All() iter.Seq[*event.Event] {
	return func(yield func(*event.Event) bool) {
		at := q.at
		for k := q.first; k != nil; k, at = k.next, 0 {
			for i := at; i < k.n; i++ {
				if !yield(&k.events[i]) {
					return
				}
			}
		}
	}
}

// OnlySamplesFollow tells whether the events behind the first one are all samples or times off the
// core, which no hit of a probe tells.
func (q *Queue) OnlySamplesFollow() bool {
	first := q.Front()
	for ev := range q.All() {
		if ev != first && ev.Edge.IsHit() {
			return false
		}
	}
	return true
}

// Cut removes the first event that is not older than a time, and all events behind it. It returns
// copies of them.
func (q *Queue) Cut(c *Chunks, at uint64) (later []event.Event) {
	var earlier Queue
	for ev := range q.All() {
		if later == nil && ev.Time < at {
			earlier.Push(c, ev)
			continue
		}
		v := *ev
		v.Counters = slices.Clone(v.Counters)
		copyMore(&v)
		later = append(later, v)
	}
	q.Drop(c)
	*q = earlier
	return later
}

// Drop removes all events.
func (q *Queue) Drop(c *Chunks) {
	for !q.Empty() {
		q.Pop(c)
	}
}

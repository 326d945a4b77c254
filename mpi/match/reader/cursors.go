package reader

import (
	"container/heap"

	"ompp-attach/mpi/match"
	"ompp-attach/mpi/match/ranks"
)

// cursor is a thread's next call.
type cursor struct {
	from match.Calls
	rank *ranks.Rank
	call *match.Call
	// start is the call's beginning by the first rank's clock (ranks.Clocks.Common). It only
	// decides the order of reading.
	start uint64
	at    int
}

// cursors orders threads by the beginnings of their next calls.
type cursors struct {
	list   []*cursor
	first  *ranks.Rank
	clocks *ranks.Clocks
}

// add adds a thread of a rank. It reports whether the thread has calls.
func (q *cursors) add(k *ranks.Rank, from match.Calls) bool {
	c, ok := from.Next()
	if ok {
		q.list = append(q.list, &cursor{from: from, rank: k, call: c, start: q.clocks.Common(q.first, k, c.Start), at: len(q.list)})
	}
	return ok
}

// advance takes the first thread's next call. A thread without further calls is taken out; ok is
// false then.
func (q *cursors) advance() (ok bool) {
	first := q.list[0]
	c, ok := first.from.Next()
	if !ok {
		heap.Pop(q)
		return false
	}
	first.call, first.start = c, q.clocks.Common(q.first, first.rank, c.Start)
	heap.Fix(q, 0)
	return true
}

// Len implements heap.Interface.
func (q *cursors) Len() int { return len(q.list) }

// Less implements heap.Interface.
func (q *cursors) Less(i, j int) bool {
	a, b := q.list[i], q.list[j]
	return a.start < b.start || a.start == b.start && a.at < b.at
}

// Swap implements heap.Interface.
func (q *cursors) Swap(i, j int) { q.list[i], q.list[j] = q.list[j], q.list[i] }

// Push implements heap.Interface.
func (q *cursors) Push(x any) { q.list = append(q.list, x.(*cursor)) }

// Pop implements heap.Interface.
func (q *cursors) Pop() any {
	last := q.list[len(q.list)-1]
	q.list = q.list[:len(q.list)-1]
	return last
}

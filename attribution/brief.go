package attribution

import (
	"cmp"

	"ompp-attach/attribution/ledger"
)

// Initial threads that live briefly. Some programs start threads without end, and each of these
// starts teams. A row for each thread would tell no more than one row for all. Shares of the time
// of all threads that ever lived would be next to nothing.

// manyInitial bounds the initial threads that have rows of their own while events are read. All
// later ones share one row.
const manyInitial = 256

// newRoot returns the number of a new initial thread.
func (rs *rows) newRoot() int {
	if rs.sharedRoot != 0 {
		return rs.sharedRoot
	}
	r := rs.roots
	if rs.roots++; rs.roots > manyInitial {
		rs.sharedRoot = r
	}
	return r
}

// tellLives notes how long the initial threads lived, except the first one.
func (e *Engine) tellLives() {
	for i := range e.rows.list {
		e.rows.list[i].Lived, e.rows.list[i].Joined = 0, 0
	}
	for _, t := range e.threads.byID {
		if !t.initial {
			continue
		}
		if r := &e.rows.list[t.home]; r.Root > 0 && r.Num == 0 {
			r.Lived += max(1, ledger.Span(t.born, t.last))
			r.Joined++
		}
	}
	for i := range e.rows.list {
		if e.rows.list[i].Joined == 1 {
			e.rows.list[i].Joined = 0
		}
	}
}

// measured returns how long was measured until a time (ns), as far as the events tell.
func (e *Engine) measured(end uint64) int64 {
	return max(0, ledger.Span(cmp.Or(e.began, e.started), end)-e.off.T)
}

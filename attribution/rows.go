package attribution

import "ompp-attach/profile"

// Rows of the per-thread tables: to which row the figures of a thread go.

// enroll gives a new thread its row. The process's first thread is initial thread 0; other threads
// count as workers until they start a team of their own.
func (e *Engine) enroll(t *thread) {
	switch {
	case e.existing[t.tid]:
		t.waitUnsure = t.waitUnsure || e.off.C > 0
		n := e.existingAt(t)
		num := profile.UnknownNum
		if t.tid == e.pid {
			num, t.primary = 0, true
		}
		t.openUnderWay(n, e.row(0, num), e.began)
		t.row = e.row(0, num)
	case t.tid == e.pid:
		t.row, t.known, t.initial = e.row(0, 0), true, true
		t.home = t.row
		e.roots = max(e.roots, 1)
	}
}

// initial makes a thread that belongs to no team an initial thread.
func (e *Engine) initial(t *thread) {
	if t.known || len(t.stack) > 0 {
		return
	}
	e.roots = max(e.roots, 1) // 0 is the process's first thread, seen or not
	switch {
	case t.initial: // it was inside a region that was not known
		t.row = t.home
	case t.tid == e.pid:
		t.row = e.row(0, 0)
	default:
		t.row = e.row(e.newRoot(), 0)
	}
	t.num, t.known, t.initial, t.home = 0, true, true, t.row
}

func (e *Engine) row(root, num int) int {
	slot := &e.rowAt[uint(num)%uint(len(e.rowAt))]
	if i := *slot; i < len(e.rows) && e.rows[i].Root == root && e.rows[i].Num == num {
		return i
	}
	id := rowID{root, num}
	r, ok := e.rowOf[id]
	if !ok {
		r = len(e.rows)
		e.rows = append(e.rows, profile.Thread{Root: root, Num: num})
		e.rowOf[id] = r
	}
	*slot = r
	return r
}

// bear notes the operating system's id of a thread at its row.
func (e *Engine) bear(t *thread) {
	r := &e.rows[t.row]
	// A bound for programs that start threads without end: some of the ids are enough.
	const enough = 64
	for _, id := range r.TIDs {
		if id == int(t.tid) {
			return
		}
	}
	if len(r.TIDs) < enough {
		r.TIDs = append(r.TIDs, int(t.tid))
	}
}

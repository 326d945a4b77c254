package attribution

import "ompp-attach/profile"

// Rows of the per-thread tables: to which row the figures of a thread go.

// rows are those of the process.
type rows struct {
	list       []profile.Thread
	rowOf      map[rowID]int
	rowAt      [256]int // cache of rowOf, indexed by the last digits of the thread number
	roots      int      // number of initial threads
	sharedRoot int      // the root that all further initial threads share; 0: there are few enough
}

type rowID struct{ root, num int }

// enroll gives a new thread its row. The process's first thread is initial thread 0; other threads
// count as workers until they start a team of their own.
func (st *stacks) enroll(t *thread) {
	switch {
	case st.existing[t.tid]:
		t.waitUnsure = t.waitUnsure || st.off.C > 0
		n := st.existingAt(t)
		num := profile.UnknownNum
		if t.tid == st.pid {
			num, t.primary = 0, true
		}
		t.openUnderWay(n, st.row(0, num), st.began)
		t.row = st.row(0, num)
	case t.tid == st.pid:
		t.row, t.known, t.initial = st.row(0, 0), true, true
		t.home = t.row
		st.roots = max(st.roots, 1)
	}
}

// initial makes a thread that belongs to no team an initial thread.
func (st *stacks) initial(t *thread) {
	if t.known || len(t.stack) > 0 {
		return
	}
	st.roots = max(st.roots, 1) // 0 is the process's first thread, seen or not
	switch {
	case t.initial: // it was inside a region that was not known
		t.row = t.home
	case t.tid == st.pid:
		t.row = st.row(0, 0)
	default:
		t.row = st.row(st.newRoot(), 0)
	}
	t.num, t.known, t.initial, t.home = 0, true, true, t.row
}

func (rs *rows) row(root, num int) int {
	slot := &rs.rowAt[uint(num)%uint(len(rs.rowAt))]
	if i := *slot; i < len(rs.list) && rs.list[i].Root == root && rs.list[i].Num == num {
		return i
	}
	id := rowID{root, num}
	r, ok := rs.rowOf[id]
	if !ok {
		r = len(rs.list)
		rs.list = append(rs.list, profile.Thread{Root: root, Num: num})
		rs.rowOf[id] = r
	}
	*slot = r
	return r
}

// bear notes the operating system's id of a thread at its row.
func (rs *rows) bear(t *thread) {
	r := &rs.list[t.row]
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

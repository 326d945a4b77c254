package stack

import "ompp-attach/profile"

// ManyInitial bounds the initial threads that have rows of their own while events are read. All
// later ones share one row.
const ManyInitial = 256

// Rows are those of the process.
type Rows struct {
	List       []profile.Thread
	RowOf      map[RowID]int
	rowAt      [256]int // cache of rowOf, indexed by the last digits of the thread number
	Roots      int      // number of initial threads
	sharedRoot int      // the root that all further initial threads share; 0: there are few enough
}

// newRoot returns the number of a new initial thread.
func (rs *Rows) newRoot() int {
	if rs.sharedRoot != 0 {
		return rs.sharedRoot
	}
	r := rs.Roots
	if rs.Roots++; rs.Roots > ManyInitial {
		rs.sharedRoot = r
	}
	return r
}

// Row returns the index of a row, and adds the row if there is none.
func (rs *Rows) Row(root, num int) int {
	slot := &rs.rowAt[uint(num)%uint(len(rs.rowAt))]
	if i := *slot; i < len(rs.List) && rs.List[i].Root == root && rs.List[i].Num == num {
		return i
	}
	id := RowID{root, num}
	r, ok := rs.RowOf[id]
	if !ok {
		r = len(rs.List)
		rs.List = append(rs.List, profile.Thread{Root: root, Num: num})
		rs.RowOf[id] = r
	}
	*slot = r
	return r
}

// Bear notes the operating system's id of a thread at its row.
func (rs *Rows) Bear(t *Thread) {
	r := &rs.List[t.Row]
	// A bound for programs that start threads without end: some of the ids are enough.
	const enough = 64
	for _, id := range r.TIDs {
		if id == int(t.Tid) {
			return
		}
	}
	if len(r.TIDs) < enough {
		r.TIDs = append(r.TIDs, int(t.Tid))
	}
}

// RowID identifies a row: the initial thread, and the number in its team.
type RowID struct{ root, num int }

// Package seats numbers the seats of a process: OpenMP thread numbers, each under its initial
// thread.
package seats

import "ompp-attach/profile"

// ManyInitial bounds the initial threads that have seats of their own while events are read. All
// later ones share one seat.
const ManyInitial = 256

// Seats are the OpenMP thread numbers of a process, each under its initial thread.
type Seats struct {
	List       []profile.Thread
	seatOf     map[id]int
	seatAt     [256]int // cache of seatOf, indexed by the last digits of the thread number
	Roots      int      // number of initial threads
	sharedRoot int      // the root that all further initial threads share; 0: there are few enough
}

// New returns an empty list of seats.
func New() *Seats { return &Seats{seatOf: map[id]int{}} }

// NewRoot returns the number of a new initial thread.
func (rs *Seats) NewRoot() int {
	if rs.sharedRoot != 0 {
		return rs.sharedRoot
	}
	r := rs.Roots
	if rs.Roots++; rs.Roots > ManyInitial {
		rs.sharedRoot = r
	}
	return r
}

// Seat returns the index of a seat, and adds the seat if there is none.
func (rs *Seats) Seat(root, num int) int {
	slot := &rs.seatAt[uint(num)%uint(len(rs.seatAt))]
	if i := *slot; i < len(rs.List) && rs.List[i].Root == root && rs.List[i].Num == num {
		return i
	}
	k := id{root, num}
	r, ok := rs.seatOf[k]
	if !ok {
		r = len(rs.List)
		rs.List = append(rs.List, profile.Thread{Root: root, Num: num})
		rs.seatOf[k] = r
	}
	*slot = r
	return r
}

// NoteTID notes the operating system's id of a thread at its seat.
func (rs *Seats) NoteTID(seat int, tid uint32) {
	r := &rs.List[seat]
	// A bound for programs that start threads without end: some of the ids are enough.
	const enough = 64
	for _, known := range r.TIDs {
		if known == int(tid) {
			return
		}
	}
	if len(r.TIDs) < enough {
		r.TIDs = append(r.TIDs, int(tid))
	}
}

// id identifies a seat: the initial thread, and the number in its team.
type id struct{ root, num int }

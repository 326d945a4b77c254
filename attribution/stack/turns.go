package stack

// turns are the barriers of a team that not all of its threads have passed. Barriers are numbered
// in the order in which the threads come to them.
type turns struct {
	list  []turn
	first int // number of the first of them
}

// turn is one barrier that a team's threads come to.
type turn struct {
	arrived int32  // number of threads that have
	held    int32  // number of these whose end is pending
	last    uint64 // the last arrival
}

// mostTurns bounds how many barriers a thread may be read ahead of another one of its team.
const mostTurns = 1 << 16

// reach notes that a thread has come to a barrier at a time, and whether its end is pending. It
// answers false if the barrier is forgotten, or too far ahead.
func (ts *turns) reach(n int, at uint64, hold bool) bool {
	if n < ts.first || n >= ts.first+mostTurns {
		return false
	}
	for len(ts.list) <= n-ts.first {
		ts.list = append(ts.list, turn{})
	}
	came := &ts.list[n-ts.first]
	came.arrived++
	came.last = max(came.last, at)
	if hold {
		came.held++
	}
	return true
}

// at returns a barrier by its number, nil if it is forgotten.
func (ts *turns) at(n int) *turn {
	if i := n - ts.first; i >= 0 && i < len(ts.list) {
		return &ts.list[i]
	}
	return nil
}

// full tells whether all threads of a team of a size have come to a barrier.
func (ts *turns) full(n int, size int32) bool {
	came := ts.at(n)
	return came != nil && came.arrived >= size
}

// leave notes that an end of a barrier is pending no more.
func (ts *turns) leave(n int, size int32) {
	if came := ts.at(n); came != nil {
		came.held--
		ts.forget(size)
	}
}

// forget forgets the barriers that all threads have come to and that none is waiting in.
func (ts *turns) forget(size int32) {
	done := 0
	for done < len(ts.list) && ts.list[done].arrived >= size && ts.list[done].held <= 0 {
		done++
	}
	ts.list = append(ts.list[:0], ts.list[done:]...)
	ts.first += done
}

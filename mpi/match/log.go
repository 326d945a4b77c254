package match

import "ompp-attach/mpi"

// Comm is a communicator of a rank.
type Comm struct {
	Name string // the same at all members; empty: none is known
	Size int32
	Rank int32 // this rank's number in the communicator
	// Old: it was there before the rank was attached to, so messages may have been on their way.
	Old bool
}

// RankCalls holds the calls of a rank.
type RankCalls struct {
	Rank  int    // in MPI_COMM_WORLD
	Host  string // the machine's name; logs of one machine have one clock
	Comms []Comm // Comms[0] is MPI_COMM_WORLD
	// Threads yields the calls of each thread that calls MPI, by their beginnings.
	Threads []Calls
	// Until is the time (ns) at which the log ends early; 0: the log has all calls. Calls that end
	// later are left out.
	Until uint64
	// Cancels: the rank cancelled requests, so its messages cannot be counted.
	Cancels bool

	// Attached: the rank was attached to, so its calls before that are not known. Start says where
	// the log begins, if that is known (align.Starts). If Attached is not set, the log begins with
	// the first operations. Makings are in order. If MakingsUntil is not 0, they all end before it.
	// Only package align reads Makings.
	Attached     bool
	Start        Start
	Makings      []Making
	MakingsUntil uint64 // ns
	// Backlog is the same for all ranks; nil: messages on Old communicators are not matched.
	Backlog *Backlog
}

// Making is a call on MPI_COMM_WORLD that made a communicator, not a window. All ranks had to make
// such calls in one order with the collective operations.
type Making struct {
	Op  mpi.Op
	End uint64 // ns
}

// Start says with which operations on MPI_COMM_WORLD a rank's log begins.
type Start struct {
	Known   bool
	First   uint64 // number of the first collective operation
	Makings int    // number of the first call that made a communicator or window
}

// Calls yields calls. The result is valid until the next one; ok is false at the end.
type Calls interface{ Next() (c *Call, ok bool) }

// List yields the calls of a slice.
type List []Call

// Next implements Calls.
func (l *List) Next() (c *Call, ok bool) {
	if len(*l) == 0 {
		return nil, false
	}
	c, *l = &(*l)[0], (*l)[1:]
	return c, true
}

package match

import (
	"strings"

	"ompp-attach/mpi"
)

// AnyTag is MPI_ANY_TAG. It is -1 in all libraries.
const AnyTag int32 = -1

// Call is a call of a rank, or a persistent operation that a call started.
type Call struct {
	Op         mpi.Op
	Start, End uint64 // ns
	Site       int    // the caller's number of the call site, which the waits name
	Thread     int    // the caller's number of the thread, likewise
	Comm       int    // index in RankCalls.Comms; -1: not known
	// To is the destination, the root of a collective operation, or the target of a lock. From is
	// the source, also of probes. Both are ranks as in mpi.Args.
	To, From         int32
	SendTag, RecvTag int32
	// Sends, Receives: the call sends or receives a message; of a collective operation, data. Sends
	// of MPI_Win_lock: the lock is exclusive.
	Sends, Receives bool
	// Unknown: it is not known whether a collective operation moves data here.
	Unknown bool
	// Later: the call only begins the operation, and Request will complete it; 0: not known.
	Later   bool
	Request uint64
	// Completes are the requests that were complete when the call returned. If Untold, these are
	// not known. Of a persistent operation, Untold says that the call only prepares it. Of
	// MPI_Start, Untold says that it is not known what the call started. Of a call that opens an
	// epoch on a window, Completes are the other side's members (Member). Of a call that takes a
	// message (MPI_Mprobe), or receives one that was taken, Completes is the message's handle; 0:
	// the call took none.
	Completes []uint64
	Untold    bool
	// Failed: the call returned an error. Logs end there (calllog), so no call that is matched has
	// failed.
	Failed bool
	// Came are the messages that receives from any source, or of any tag, among Completes received,
	// as far as these are known. By At.
	Came []Came
}

// Came is the message that a request received.
type Came struct {
	At        int // index in Call.Completes
	From, Tag int32
}

// Everyone stands for all members of a communicator.
const Everyone int32 = -1

// Member names a process by its rank in a communicator, or Everyone in it. comm is as Call.Comm.
func Member(comm int, rank int32) uint64 { return uint64(uint32(comm))<<32 | uint64(uint32(rank)) }

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
	// Until is the time (ns) at which the log ends early; 0: the log has all calls. Calls that
	// ended later are left out.
	Until uint64
	// Cancels: the rank cancelled requests, so its messages cannot be counted.
	Cancels bool

	// Attached: the rank was attached to, so calls before that are not known. Start, if known, is
	// where the log begins (see Align); a log that is whole begins with the first operations.
	// Makings are in order, and end before MakingsUntil if that is not 0. Only Align reads them.
	Attached     bool
	Start        Start
	Makings      []Making
	MakingsUntil uint64 // ns
	// Backlog is the same for all ranks; nil: messages on communicators that are Old are not
	// matched.
	Backlog *Backlog
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

// pattern says how the ranks of an operation wait for each other.
type pattern uint8

const (
	none         pattern = iota
	message              // a send, a receive, or both
	completing           // a call that waits for requests
	barrier              // all wait for the last one
	fencing              // MPI_Win_fence
	creating             // makes an RMA window
	freeing              // MPI_Win_free
	someToSome           // all may receive from some only: MPI_Alltoallv
	allToAll             // all that receive wait for the last one
	oneToAll             // all that receive wait for the root
	allToOne             // the root waits for the first one
	prefix               // each waits for the ranks below it
	beginning            // MPI_Init
	ending               // MPI_Finalize
	unsupported          // collective, and no rule says who waits for whom
	probing              // waits for a message, and leaves it: MPI_Probe
	taking               // takes a message before a receive can: MPI_Mprobe
	matchedRecvs         // receives the message that MPI_Mprobe took
	posting              // MPI_Win_post: opens an exposure epoch
	starting             // MPI_Win_start: opens an access epoch
	closing              // MPI_Win_complete: closes the access epoch
	exposed              // MPI_Win_wait: closes the exposure epoch
	locking              // MPI_Win_lock, MPI_Win_lock_all
	unlocking            // MPI_Win_unlock, MPI_Win_unlock_all
	restarting           // MPI_Start, MPI_Startall
	// Makes a request, but its operation is not matched (MPI-IO, MPI_Rput, MPI_Comm_idup).
	making
)

func (p pattern) collective() bool { return p >= barrier && p <= ending }

var patterns = func() []pattern {
	out := make([]pattern, len(mpi.Operations))
	for i := range mpi.Operations {
		out[i] = patternOf(&mpi.Operations[i])
	}
	return out
}()

func patternOf(op *mpi.Operation) pattern {
	name := strings.TrimSuffix(op.Name, "_c")
	switch name {
	case "MPI_Init", "MPI_Init_thread":
		return beginning
	case "MPI_Finalize":
		return ending
	case "MPI_Wait", "MPI_Waitall", "MPI_Waitany", "MPI_Waitsome":
		return completing
	case "MPI_Probe":
		return probing
	case "MPI_Mprobe", "MPI_Improbe":
		return taking
	case "MPI_Mrecv", "MPI_Imrecv":
		return matchedRecvs
	case "MPI_Win_fence":
		return fencing
	case "MPI_Win_free":
		return freeing
	case "MPI_Alltoallv", "MPI_Alltoallw", "MPI_Ialltoallv", "MPI_Ialltoallw", "MPI_Alltoallv_init", "MPI_Alltoallw_init":
		return someToSome
	case "MPI_Win_post":
		return posting
	case "MPI_Win_start":
		return starting
	case "MPI_Win_complete":
		return closing
	case "MPI_Win_wait":
		return exposed
	case "MPI_Win_lock", "MPI_Win_lock_all":
		return locking
	case "MPI_Win_unlock", "MPI_Win_unlock_all":
		return unlocking
	case "MPI_Psend_init", "MPI_Precv_init", "MPI_Grequest_start", "MPI_Comm_idup", "MPI_Comm_idup_with_info":
		return making
	}
	if m, ok := op.Makes(); ok && m.Window {
		return creating
	}
	switch op.Kind {
	case mpi.Start:
		return restarting
	case mpi.PointToPoint:
		return message
	case mpi.Bcast, mpi.Scatter:
		return oneToAll
	case mpi.Reduce, mpi.Gather:
		return allToOne
	case mpi.Allreduce, mpi.ReduceScatter, mpi.Allgather, mpi.Alltoall:
		return allToAll
	case mpi.Scan:
		return prefix
	case mpi.NeighborAllgather, mpi.NeighborAlltoall:
		return unsupported
	case mpi.OneSided, mpi.FileRead, mpi.FileWrite:
		if op.Request != mpi.None {
			return making
		}
	}
	if op.Counts&mpi.CountColl != 0 {
		return barrier
	}
	return none
}

func (c *Call) pattern() pattern {
	if int(c.Op) >= len(patterns) {
		return none
	}
	return patterns[c.Op]
}

// prepares reports whether the call makes a persistent operation's request, and starts nothing.
func (c *Call) prepares() bool { return c.Untold && c.Op.Info().Persistent }

// Wanted reports whether a log should hold an operation's calls.
func Wanted(op mpi.Op) bool { return int(op) < len(patterns) && patterns[op] != none }

// Waits reports whether an operation waits for requests.
func Waits(op mpi.Op) bool { return int(op) < len(patterns) && patterns[op] == completing }

// buffered reports whether a send never waits for its receiver.
func (c *Call) buffered() bool {
	name := c.Op.String()
	return strings.HasPrefix(name, "MPI_Bsend") || strings.HasPrefix(name, "MPI_Ibsend")
}

// IsMessage reports whether a log needs the ranks and tags of an operation's calls. That is so if
// the operation sends or receives a message, takes one (MPI_Mprobe), or waits for one (MPI_Probe).
func IsMessage(op mpi.Op) bool {
	p := (&Call{Op: op}).pattern()
	return p == message || p == probing || p == taking || p == matchedRecvs
}

// IsCollective reports whether an operation is collective, also if there is no rule for it
// (NoRule).
func IsCollective(op mpi.Op) bool {
	p := (&Call{Op: op}).pattern()
	return p.collective() || p == unsupported
}

// IsEpoch reports whether an operation opens or closes an epoch on an RMA window. In an epoch, one
// group of ranks accesses memory of the window, and another group exposes that memory.
func IsEpoch(op mpi.Op) bool {
	p := (&Call{Op: op}).pattern()
	return p >= posting && p <= exposed
}

// IsLock reports whether an operation takes or gives back a lock of an RMA window.
func IsLock(op mpi.Op) bool {
	p := (&Call{Op: op}).pattern()
	return p == locking || p == unlocking
}

// TakesGroup reports whether an operation names the other side of an epoch.
func TakesGroup(op mpi.Op) bool {
	p := (&Call{Op: op}).pattern()
	return p == posting || p == starting
}

// Begins reports whether an operation makes a request that a later call completes.
func Begins(op mpi.Op) bool {
	info := op.Info()
	return info.Request != mpi.None && !Waits(op) && info.Kind != mpi.Start
}

package match

import (
	"strings"

	"ompp-attach/mpi"
	"ompp-attach/mpi/match/pattern"
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
	// Sends, Receives: the call sends or receives a message. If the operation is collective, the
	// call sends or receives data. If the call is MPI_Win_lock, Sends says that the lock is
	// exclusive.
	Sends, Receives bool
	// Unknown: it is not known whether a collective operation moves data here.
	Unknown bool
	// Later: the call only begins the operation, and Request will complete it; 0: not known.
	Later   bool
	Request uint64
	// Completes are the requests that were complete when the call returned. If Untold is set, these
	// are not known. For some calls the two fields have another meaning.
	//
	//   - A persistent operation: Untold says that the call only prepares it.
	//   - MPI_Start: Untold says that it is not known which operations the call started.
	//   - A call that opens an epoch on a window: Completes are the members of the other side
	//     (Member).
	//   - A call that takes a message (MPI_Mprobe), or receives a message that was taken: Completes
	//     is the message's handle; 0: the call took none.
	Completes []uint64
	Untold    bool
	// Failed: the call returned an error. Logs end at such a call (calllog), so no failed call is
	// matched.
	Failed bool
	// Came are the messages of requests in Completes that asked for any source, or any tag. Only
	// known messages are in it, by At.
	Came []Came
}

// Came is the message that a request received.
type Came struct {
	At        int // index in Call.Completes
	From, Tag int32
}

// Everyone stands for all members of a communicator.
const Everyone int32 = -1

// Member names a process by its rank in a communicator; Everyone: all its processes. comm is the
// communicator, as in Call.Comm.
func Member(comm int, rank int32) uint64 { return uint64(uint32(comm))<<32 | uint64(uint32(rank)) }

// Pattern says how the ranks of the call's operation wait for each other.
func (c *Call) Pattern() pattern.Pattern { return pattern.Of(c.Op) }

// Prepares reports whether the call makes a persistent operation's request, and starts nothing.
func (c *Call) Prepares() bool { return c.Untold && c.Op.Info().Persistent }

// Buffered reports whether a send never waits for its receiver.
func (c *Call) Buffered() bool {
	name := c.Op.String()
	return strings.HasPrefix(name, "MPI_Bsend") || strings.HasPrefix(name, "MPI_Ibsend")
}

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

// Pattern says how the ranks of the call's operation wait for each other.
func (c *Call) Pattern() pattern.Pattern { return pattern.Of(c.Op) }

// Prepares reports whether the call makes a persistent operation's request, and starts nothing.
func (c *Call) Prepares() bool { return c.Untold && c.Op.Info().Persistent }

// Buffered reports whether a send never waits for its receiver.
func (c *Call) Buffered() bool {
	name := c.Op.String()
	return strings.HasPrefix(name, "MPI_Bsend") || strings.HasPrefix(name, "MPI_Ibsend")
}

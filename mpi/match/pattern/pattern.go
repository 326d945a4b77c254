package pattern

import (
	"strings"

	"ompp-attach/mpi"
)

// Pattern says how the ranks of an operation wait for each other.
type Pattern uint8

// The patterns.
const (
	None         Pattern = iota
	Message              // a send, a receive, or both
	Completing           // a call that waits for requests
	Barrier              // all wait for the last one
	Fencing              // MPI_Win_fence
	Creating             // makes an RMA window
	Freeing              // MPI_Win_free
	SomeToSome           // all may receive from some only: MPI_Alltoallv
	AllToAll             // all that receive wait for the last one
	OneToAll             // all that receive wait for the root
	AllToOne             // the root waits for the first one
	Prefix               // each waits for the ranks below it
	Beginning            // MPI_Init
	Ending               // MPI_Finalize
	Unsupported          // collective, and no rule says who waits for whom
	Probing              // waits for a message, and leaves it: MPI_Probe
	Taking               // takes a message before a receive can: MPI_Mprobe
	MatchedRecvs         // receives the message that MPI_Mprobe took
	Posting              // MPI_Win_post: opens an exposure epoch
	Starting             // MPI_Win_start: opens an access epoch
	Closing              // MPI_Win_complete: closes the access epoch
	Exposed              // MPI_Win_wait: closes the exposure epoch
	Locking              // MPI_Win_lock, MPI_Win_lock_all
	Unlocking            // MPI_Win_unlock, MPI_Win_unlock_all
	Restarting           // MPI_Start, MPI_Startall
	// Making: makes a request, but the operation of the request is not matched (MPI-IO, MPI_Rput,
	// MPI_Comm_idup).
	Making
)

// Collective reports whether all members of a communicator call the operation, and a rule says who
// waits for whom.
func (p Pattern) Collective() bool { return p >= Barrier && p <= Ending }

// Rooted reports whether the operation has a root.
func (p Pattern) Rooted() bool { return p == OneToAll || p == AllToOne }

// Epoch reports whether the operation opens or closes an epoch of an RMA window.
func (p Pattern) Epoch() bool { return p >= Posting && p <= Exposed }

// Of returns the pattern of an operation.
func Of(op mpi.Op) Pattern {
	if int(op) >= len(patterns) {
		return None
	}
	return patterns[op]
}

var patterns = func() []Pattern {
	out := make([]Pattern, len(mpi.Operations))
	for i := range mpi.Operations {
		out[i] = of(&mpi.Operations[i])
	}
	return out
}()

func of(op *mpi.Operation) Pattern {
	name := strings.TrimSuffix(op.Name, "_c")
	switch name {
	case "MPI_Init", "MPI_Init_thread":
		return Beginning
	case "MPI_Finalize":
		return Ending
	case "MPI_Wait", "MPI_Waitall", "MPI_Waitany", "MPI_Waitsome":
		return Completing
	case "MPI_Probe":
		return Probing
	case "MPI_Mprobe", "MPI_Improbe":
		return Taking
	case "MPI_Mrecv", "MPI_Imrecv":
		return MatchedRecvs
	case "MPI_Win_fence":
		return Fencing
	case "MPI_Win_free":
		return Freeing
	case "MPI_Alltoallv", "MPI_Alltoallw", "MPI_Ialltoallv", "MPI_Ialltoallw", "MPI_Alltoallv_init", "MPI_Alltoallw_init":
		return SomeToSome
	case "MPI_Win_post":
		return Posting
	case "MPI_Win_start":
		return Starting
	case "MPI_Win_complete":
		return Closing
	case "MPI_Win_wait":
		return Exposed
	case "MPI_Win_lock", "MPI_Win_lock_all":
		return Locking
	case "MPI_Win_unlock", "MPI_Win_unlock_all":
		return Unlocking
	case "MPI_Psend_init", "MPI_Precv_init", "MPI_Grequest_start", "MPI_Comm_idup", "MPI_Comm_idup_with_info":
		return Making
	}
	if m, ok := op.Makes(); ok && m.Window {
		return Creating
	}
	switch op.Kind {
	case mpi.Start:
		return Restarting
	case mpi.PointToPoint:
		return Message
	case mpi.Bcast, mpi.Scatter:
		return OneToAll
	case mpi.Reduce, mpi.Gather:
		return AllToOne
	case mpi.Allreduce, mpi.ReduceScatter, mpi.Allgather, mpi.Alltoall:
		return AllToAll
	case mpi.Scan:
		return Prefix
	case mpi.NeighborAllgather, mpi.NeighborAlltoall:
		return Unsupported
	case mpi.OneSided, mpi.FileRead, mpi.FileWrite:
		if op.Request != mpi.None {
			return Making
		}
	}
	if op.Counts&mpi.CountColl != 0 {
		return Barrier
	}
	return None
}

package match

import (
	"ompp-attach/mpi"
	"ompp-attach/mpi/match/pattern"
)

// Which calls a log should hold, and which of their arguments.

// Wanted reports whether a log should hold an operation's calls.
func Wanted(op mpi.Op) bool { return pattern.Of(op) != pattern.None }

// Waits reports whether an operation waits for requests.
func Waits(op mpi.Op) bool { return pattern.Of(op) == pattern.Completing }

// IsMessage reports whether a log needs the ranks and tags of an operation's calls. That is so if
// the operation sends or receives a message, takes one (MPI_Mprobe), or waits for one (MPI_Probe).
func IsMessage(op mpi.Op) bool {
	p := pattern.Of(op)
	return p == pattern.Message || p == pattern.Probing || p == pattern.Taking || p == pattern.MatchedRecvs
}

// IsCollective reports whether an operation is collective, also if there is no rule for it
// (NoRule).
func IsCollective(op mpi.Op) bool {
	p := pattern.Of(op)
	return p.Collective() || p == pattern.Unsupported
}

// IsEpoch reports whether an operation opens or closes an epoch on an RMA window. In an epoch, one
// group of ranks accesses memory of the window, and another group exposes that memory.
func IsEpoch(op mpi.Op) bool {
	return pattern.Of(op).Epoch()
}

// IsLock reports whether an operation takes or gives back a lock of an RMA window.
func IsLock(op mpi.Op) bool {
	p := pattern.Of(op)
	return p == pattern.Locking || p == pattern.Unlocking
}

// TakesGroup reports whether an operation names the other side of an epoch.
func TakesGroup(op mpi.Op) bool {
	p := pattern.Of(op)
	return p == pattern.Posting || p == pattern.Starting
}

// Begins reports whether an operation makes a request that a later call completes.
func Begins(op mpi.Op) bool {
	info := op.Info()
	return info.Request != mpi.None && !Waits(op) && info.Kind != mpi.Start
}

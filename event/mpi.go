package event

import "ompp-attach/mpi"

// MPICall is one call of an MPI operation, reported when it returns: the
// event's Time is its end, its Site where the program called it, its Edge
// Released; or, if the call was still under way when its thread or the
// measurement ended, Enter.
type MPICall struct {
	Op    mpi.Op `json:"op"`
	Start uint64 `json:"t0,omitempty"` // CLOCK_MONOTONIC, ns
	mpi.Args
}

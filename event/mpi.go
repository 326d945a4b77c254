package event

import "ompp-attach/mpi"

// MPICall is one call of an MPI operation. It is reported when the call returns: the event's Time
// is its end, its Site the place of the call in the program, its Edge Released. If the call was
// still under way when its thread or the measurement ended, the Edge is Enter.
type MPICall struct {
	Op    mpi.Op `json:"op"`
	Start uint64 `json:"t0,omitempty"` // time of the call's entry (CLOCK_MONOTONIC, ns)
	mpi.Args
}

package event

import "ompp-attach/mpi"

// MPICall is one call of an MPI operation. It is reported when the call returns: the event's Time
// is its end, its Site the place of the call in the program, its Edge Released. If the call was
// still under way when its thread or the measurement ended, the Edge is Enter.
type MPICall struct {
	Op    mpi.Op `json:"op"`
	Start uint64 `json:"t0,omitempty"` // time of the call's entry (CLOCK_MONOTONIC, ns)
	mpi.Args
	// Made is when the communicator or window of a call with partners was made (CLOCK_MONOTONIC,
	// ns). It tells apart what had one handle at different times. 0: MPI itself made it, or that
	// was not seen.
	Made uint64  `json:"made,omitempty"`
	New  *MPINew `json:"new,omitempty"` // nil: the call makes no communicator and no window
	// More is what the waits between ranks need; nil: not asked for.
	More *MPIMore `json:"more,omitempty"`
}

// MPIMore is what is read of a call only if calls of ranks are to be matched.
type MPIMore struct {
	// RecvTag is the tag of the message received, or the tag asked for; -1: any, and which one came
	// is not known.
	RecvTag int32 `json:"rtag,omitempty"`
	// Request is the request that the call makes or starts; 0: none, or not known. Completes are
	// those that were complete when the call returned. Untold: they are not known. Of a call that
	// takes a message (MPI_Mprobe), or receives one that was taken, Completes is the message's
	// handle; 0: the call took none.
	Request   uint64   `json:"req,omitempty"`
	Completes []uint64 `json:"done,omitempty"`
	Untold    bool     `json:"untold,omitempty"`
	// Group is when the group that the call takes was made (CLOCK_MONOTONIC, ns); 0: that was not
	// seen. NewGroup is when the group that it makes was made. Completes are the ints by which the
	// call makes the group, and Made is of the second group that it takes.
	Group    uint64 `json:"group,omitempty"`
	NewGroup uint64 `json:"ngroup,omitempty"`
	// Exclusive says that the lock of a window for which the call asks is exclusive.
	Exclusive bool `json:"excl,omitempty"`
	// Failed says that the call returned an error (MPI_ERRORS_RETURN). Nobody knows then whether it
	// moved its message, or took part in its operation.
	Failed bool `json:"failed,omitempty"`
	// Came tells what some of the requests in Completes received: those of receives from any
	// source, or of any tag, as far as the call's statuses told.
	Came []MPICame `json:"came,omitempty"`
}

// MPICame is the message that a request received.
type MPICame struct {
	At     int   `json:"at"` // index in MPIMore.Completes
	Source int32 `json:"from"`
	Tag    int32 `json:"tag"`
}

// MPINew is a communicator or window that a call has made.
type MPINew struct {
	Made    uint64 `json:"made"`          // when, as later calls have it (MPICall.Made)
	Size    int32  `json:"np,omitempty"`  // processes; 0: this one is none of them, or a window
	Rank    int32  `json:"me,omitempty"`  // own rank
	Decides int32  `json:"col,omitempty"` // the argument mpi.Maker.Decides
	Inter   bool   `json:"inter,omitempty"`
}

package mpi

import "strings"

// Op is an MPI operation: its index in Operations. Recorded files have the operation's name, so
// they do not depend on the order of Operations.
type Op uint16

// Kind says by which rule of Op.Volume an operation moves data.
type Kind uint8

// The kinds. A nonblocking or large-count variant has the kind of its blocking operation. A
// persistent operation moves data when it is started.
const (
	Time Kind = iota // moves no data: only its time counts (and Barrier's call)
	PointToPoint
	Bcast
	Reduce
	Allreduce
	ReduceScatter     // and its block form
	Gather            // Gatherv: Args.Recv is the sum
	Scatter           // Scatterv: Args.Send is the sum
	Allgather         // Allgatherv: Args.Recv is the sum
	Alltoall          // Alltoallv, Alltoallw: Args.Send and Args.Recv are sums
	Scan              // and Exscan
	NeighborAllgather // neighbourhood: degrees in place of the communicator's size
	NeighborAlltoall  //
	OneSided          // Put, Get, Accumulate and theirs
	FileRead          // MPI-IO
	FileWrite         //
	Start             // starts persistent operations: each is told by a record of its own (Started)
	numKinds          //
)

// Counts says which of ompP's call counters (recvC, sendC, collC; paper, II.B and Fig. 6) a call of
// the operation adds to. MPI_Sendrecv adds to two. The counters are for communication, so one-sided
// and I/O operations add to none. Some operations are collective only because all processes must
// call them (MPI_Comm_dup, MPI_Win_fence); they add to none, either. A nonblocking operation counts
// when it is begun, a persistent one each time it is started.
type Counts uint8

// The counters.
const (
	CountSend Counts = 1 << iota
	CountRecv
	CountColl
)

// None marks an argument that an operation does not have.
const None int8 = -1

// Buffer says which arguments (from 0) describe one side of the data. If a side has a type but no
// count, it is one element (MPI_Fetch_and_op).
type Buffer struct {
	Count int8 // number of elements, or the array of them
	Type  int8 // datatype, or the array of them
	// CountArray and TypeArray: the argument is an array with an element for each process of
	// the group with which this side is exchanged. For an intercommunicator, that is the remote
	// group; for Reduce_scatter, the local group. In neighbourhoods, there is an element for
	// each neighbour.
	CountArray, TypeArray bool
	// Own: besides the sum of the array, the element for this process's own rank is needed
	// (Raw.Own).
	Own bool
	// AtRoot: these arguments have a meaning at the root only. Elsewhere they may be garbage.
	AtRoot bool
}

// Exists reports whether the operation has this side.
func (b *Buffer) Exists() bool { return b.Type != None }

// Operation is one C entry point of MPI. Its arguments are named by their positions, from 0.
type Operation struct {
	Name   string // "MPI_Send"
	Kind   Kind
	Counts Counts
	// Args is the number of arguments.
	Args int8
	// Send and Recv are the two sides of the data. A side may be missing. If the operation has one
	// count and one type for both sides, Send and Recv name the same arguments.
	Send, Recv Buffer
	// Partitions is the argument (an int) by which the count of Send or Recv is multiplied.
	Partitions int8
	// Peer is the destination, source, target or root. Peer2 is the source of MPI_Sendrecv. Tag
	// is the message's tag; if there are two tags, the one that is sent.
	Peer, Peer2, Tag int8
	// RecvTag is the tag that is received, if there are two tags.
	RecvTag int8
	// Status is the argument that points to the status, where a receive or a probe tells its
	// source.
	Status int8
	// Root: Peer is a root.
	Root bool
	// SendBuf and RecvBuf are the buffers that may be MPI_IN_PLACE. A buffer that may not is
	// None, so at least one of the two is None.
	SendBuf, RecvBuf int8
	// Comm is the communicator, window or file; Handle says which. It is a handle, never a
	// pointer to one.
	Comm   int8
	Handle HandleClass
	// Request is the argument that points to a request. The call makes this request, or starts it,
	// waits for it, tests or frees it. A persistent operation makes a request that MPI_Start names
	// later. If Requests is not None, Request points to several requests, and Requests is their
	// number (an int).
	Request, Requests int8
	// Persistent: the call moves no data. It prepares an operation that MPI_Start starts.
	Persistent bool
	// Wide: counts, and elements of arrays of counts, have 64 bits (MPI_Count). Otherwise they
	// are ints of 32 bits, and the upper half of the register is garbage.
	Wide bool
	// Query: the call looks something up in the process's own memory. It does not communicate,
	// wait, or make anything. Programs call such operations often, some in their innermost
	// loops. So the user may ask that they are not measured.
	Query bool
	// Local: the call depends on this process only. It waits for no other process, and does not
	// ask whether another process has done something (as MPI_Test does). Calls that reach a
	// file are not Local.
	Local bool
	// Begins and Ends: the call begins or ends the use of MPI. The launcher, the set-up of the
	// network and the process that starts last determine how long it takes. It is no communication.
	Begins, Ends bool
	// Communicates: the call exchanges data or messages with other processes, or waits for such an
	// exchange. Calls on files, and calls that only manage handles, do not communicate.
	Communicates bool
	// NoReturn: the call does not return (MPI_Abort).
	NoReturn bool
}

// Immediate reports whether the operation makes a request and waits for nobody, as MPI_Isend does.
// The preparation of a persistent operation is not immediate: if the operation is collective, it
// may wait.
func (o *Operation) Immediate() bool {
	return o.Request > 0 && o.Request == o.Args-1 && o.Requests == None && !o.Persistent
}

// StartEnd reports whether the operation begins or ends the use of MPI.
func (o *Operation) StartEnd() bool { return o.Begins || o.Ends }

// SpawnsProcesses reports whether the operation of that name starts processes. These have their own
// MPI_COMM_WORLD: profiles show them as a job of their own.
func SpawnsProcesses(name string) bool { return strings.HasPrefix(name, "MPI_Comm_spawn") }

// HandleClass is a class of MPI handles that a call may be made on.
type HandleClass uint8

// The classes.
const (
	NoHandle HandleClass = iota
	CommHandle
	WinHandle
	FileHandle
)

// String returns the operation's name as MPI's C binding spells it.
func (o Op) String() string {
	if int(o) < len(Operations) {
		return Operations[o].Name
	}
	return "MPI_?"
}

// Info returns the operation's row. For an invalid number, it returns an operation that moves no
// data.
func (o Op) Info() *Operation {
	if int(o) < len(Operations) {
		return &Operations[o]
	}
	return &unknown
}

var unknown = newOperation("?", Time, 0, "")

var byName = func() map[string]Op {
	m := make(map[string]Op, len(Operations))
	for i := range Operations {
		m[Operations[i].Name] = Op(i)
	}
	return m
}()

// ParseOp is the inverse of Op.String; ok is false for an unknown name.
func ParseOp(name string) (o Op, ok bool) {
	o, ok = byName[name]
	return o, ok
}

// MarshalText writes the operation's name.
func (o Op) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// UnmarshalText reads a name that MarshalText wrote. If this version does not know the name, the
// operation moves no data.
func (o *Op) UnmarshalText(b []byte) error {
	v, ok := ParseOp(string(b))
	if !ok {
		v = Op(len(Operations))
	}
	*o = v
	return nil
}

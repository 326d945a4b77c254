// Package mpi knows the operations of MPI: their names, where their arguments
// stand, and which volumes a call moves. It is a leaf: tables and arithmetic,
// nothing of a process.
package mpi

// Op is an MPI operation: its index in Operations. It is written by name, so
// that recorded files do not depend on the table's order.
type Op uint16

// Kind says by which rule of Volumes an operation moves data.
type Kind uint8

// The kinds. Nonblocking and large-count variants are of their blocking
// operation's kind; persistent ones move data when they are started.
const (
	Time Kind = iota // moves no data of its own: only its time counts
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
	Start             // starts persistent operations: their data is told by Started
	numKinds          //
)

// Counts says which of ompP's call counters (recvC, sendC, collC; paper, II.B)
// a call of the operation adds to; a Sendrecv adds to two.
type Counts uint8

// The counters.
const (
	CountSend Counts = 1 << iota
	CountRecv
	CountColl
)

// None marks an argument that an operation does not have.
const None int8 = -1

// Buffer says which arguments (from 0) describe one side of the data.
type Buffer struct {
	Count int8 // number of elements, or the array of them
	Type  int8 // datatype, or the array of them
	// CountArray and TypeArray: one element per process of the communicator.
	CountArray, TypeArray bool
}

// Operation is one C entry point.
type Operation struct {
	Name   string // "MPI_Send"
	Kind   Kind
	Counts Counts
	// Args is how many arguments it takes.
	Args int8
	// Send and Recv are the two sides; an operation with one count and type for
	// both has them in Send, and in Recv as well.
	Send, Recv Buffer
	// Peer is the destination, source, target or root; Peer2 the source of
	// Sendrecv.
	Peer, Peer2, Tag int8
	// SendBuf and RecvBuf are compared with MPI_IN_PLACE.
	SendBuf, RecvBuf int8
	// Comm is the communicator, or the window or file, as Handle says.
	Comm   int8
	Handle HandleClass
	// Request is where the call stores its request (persistent: which a later
	// Start names), or which it starts, waits for or frees; RequestArray says
	// that it is an array, whose length is argument Count of Send.
	Request      int8
	RequestArray bool
	// Root: Peer is a root, and only the root's side of the other buffer is
	// meaningful.
	Root bool
	// Persistent: the call moves nothing but prepares what Start starts.
	Persistent bool
	// Wide: counts are 64 bits (MPI_Count: the _c functions of MPI 4.0).
	Wide bool
	// NoReturn: it does not come back (MPI_Abort).
	NoReturn bool
}

// HandleClass is a class of MPI handles.
type HandleClass uint8

// The classes that a formula may be asked for.
const (
	NoHandle HandleClass = iota
	CommHandle
	TypeHandle
	GroupHandle
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

// Info returns the operation's row; of a number that is none, one that moves
// nothing.
func (o Op) Info() *Operation {
	if int(o) < len(Operations) {
		return &Operations[o]
	}
	return &unknown
}

var unknown = Operation{Name: "MPI_?"}

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

// UnmarshalText reads a name that MarshalText wrote. A name that this version
// does not know is an operation that moves nothing.
func (o *Op) UnmarshalText(b []byte) error {
	v, ok := ParseOp(string(b))
	if !ok {
		v = Op(len(Operations))
	}
	*o = v
	return nil
}

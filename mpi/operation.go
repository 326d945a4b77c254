package mpi

// Op is an MPI operation: its index in Operations. It is written by name, so
// that recorded files do not depend on the table's order.
type Op uint16

// Kind says by which rule of Volumes an operation moves data.
type Kind uint8

// The kinds. Nonblocking and large-count variants are of their blocking
// operation's kind; persistent ones move data when they are started.
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

// Counts says which of ompP's call counters (recvC, sendC, collC; paper, II.B
// and Fig. 6) a call of the operation adds to; a Sendrecv adds to two. They
// count communication: one-sided and I/O operations, and what is collective
// only in that all must call it (MPI_Comm_dup, MPI_Win_fence), add to none.
// Nonblocking operations count when they are begun, persistent ones whenever
// they are started.
type Counts uint8

// The counters.
const (
	CountSend Counts = 1 << iota
	CountRecv
	CountColl
)

// None marks an argument that an operation does not have.
const None int8 = -1

// Buffer says which arguments (from 0) describe one side of the data. A side
// that has a type but no count is of one element (MPI_Fetch_and_op).
type Buffer struct {
	Count int8 // number of elements, or the array of them
	Type  int8 // datatype, or the array of them
	// CountArray and TypeArray: one element per process of the group that the
	// side is exchanged with, an intercommunicator's remote one; of
	// Reduce_scatter, of the local one; in neighbourhoods, per neighbour.
	CountArray, TypeArray bool
	// Own: of CountArray, the element of this process's own rank is wanted
	// besides the sum (Raw.Own).
	Own bool
	// AtRoot: at other processes than the root these arguments may be garbage.
	AtRoot bool
}

// Exists reports whether the operation has this side.
func (b *Buffer) Exists() bool { return b.Type != None }

// Operation is one C entry point. Arguments are told by their positions from 0.
type Operation struct {
	Name   string // "MPI_Send"
	Kind   Kind
	Counts Counts
	// Args is how many arguments it takes.
	Args int8
	// Send and Recv are the two sides of the data, as far as it has them. An
	// operation with one count and type for both has them in both.
	Send, Recv Buffer
	// Partitions is by how many (an int) Send's or Recv's count is multiplied.
	Partitions int8
	// Peer is the destination, source, target or root; Peer2 the source of
	// Sendrecv. Tag is the one that is sent with where there are two.
	Peer, Peer2, Tag int8
	// RecvTag is the tag asked for where there are two.
	RecvTag int8
	// Status points to where a receive or a probe tells its source.
	Status int8
	// Root: Peer is a root.
	Root bool
	// SendBuf and RecvBuf are to be compared with MPI_IN_PLACE. They are None
	// where that is not allowed, so at most one of them is not.
	SendBuf, RecvBuf int8
	// Comm is the communicator, or the window or file, as Handle says. It is a
	// handle, never a pointer to one.
	Comm   int8
	Handle HandleClass
	// Request points to the request which the call makes (persistent: which a
	// later Start names) or to the one that it starts, waits for, tests or
	// frees. If Requests is not None, that is how many (an int) Request points to.
	Request, Requests int8
	// Persistent: the call moves nothing but prepares what Start starts.
	Persistent bool
	// Wide: counts, and elements of arrays of counts, are 64 bits (MPI_Count).
	// They are ints, 32 bits, otherwise; the upper half of the register is
	// garbage.
	Wide bool
	// Query: it looks something up in the process's own memory; it neither
	// communicates nor waits nor makes anything. Programs call these at will,
	// some in innermost loops, so that one may ask for them not to be measured.
	Query bool
	// Local: what it does depends on this process only. It waits for no other process, and asks for
	// nothing that another one does, as MPI_Test does. Calls that reach a file are not Local.
	Local bool
	// Begins and Ends: it begins or ends the use of MPI. Its time is that of the
	// launcher, the network's setup and the slowest start: no communication.
	Begins, Ends bool
	// Communicates: it exchanges data or messages with other processes, or waits
	// for that. Files and the management of handles are left out.
	Communicates bool
	// NoReturn: it does not come back (MPI_Abort).
	NoReturn bool
}

// Immediate reports whether the operation makes a request and waits for nobody, as MPI_Isend. The
// preparation of a persistent operation is none: that of a collective one may wait.
func (o *Operation) Immediate() bool {
	return o.Request > 0 && o.Request == o.Args-1 && o.Requests == None && !o.Persistent
}

// StartEnd reports whether the operation begins or ends the use of MPI.
func (o *Operation) StartEnd() bool { return o.Begins || o.Ends }

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

// Info returns the operation's row; of a number that is none, one that moves
// nothing.
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

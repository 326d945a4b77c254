package mpi

// Accounting is one of the two ways to tell volumes of collective operations
// (Fürlinger and Moore, OpenMP-centric Performance Analysis of Hybrid
// Applications, II.B.2 and Fig. 4).
type Accounting uint8

// The accountings, and how many there are.
const (
	Minimal Accounting = iota // what must leave or reach the process, however it is implemented
	Naive                     // as if by one message per pair of processes
	NumAccountings
)

// Special values of Args.Peer. The libraries' own numbers differ; these are
// what they are translated to.
const (
	ProcNull  int32 = -1
	AnySource int32 = -2
	RootHere  int32 = -3 // MPI_ROOT: this process is the root of an intercommunicator's operation
	NoPeer    int32 = -4 // the operation has none
)

// ArgFlag qualifies Args.
type ArgFlag uint8

const (
	// InPlaceSend and InPlaceRecv: the buffer is MPI_IN_PLACE.
	InPlaceSend ArgFlag = 1 << iota
	InPlaceRecv
	// Inter: the communicator connects two groups; Size is the remote one's.
	Inter
	// UnknownVolume: a size could not be told, so neither can the volumes.
	UnknownVolume
	// Started: no call of its own, but an operation that a Start or Startall
	// has started: it moves data and takes no time.
	Started
)

// Args is what a call's volumes follow from, as the kernel side has read it
// when the call began.
type Args struct {
	Send  uint64  `json:"s,omitempty"`  // bytes of the send side: count times type size; the sum where there is an array of counts
	Recv  uint64  `json:"r,omitempty"`  // bytes of the receive side
	Size  int32   `json:"np,omitempty"` // processes in the communicator; neighbourhoods: out-degree
	In    int32   `json:"in,omitempty"` // neighbourhoods: in-degree
	Rank  int32   `json:"me,omitempty"` // this process's rank in the communicator
	Peer  int32   `json:"to,omitempty"` // destination, source or root (ProcNull and so on)
	Peer2 int32   `json:"from,omitempty"`
	Tag   int32   `json:"tag,omitempty"`
	Comm  uint64  `json:"comm,omitempty"` // the handle, as the library has it
	Flags ArgFlag `json:"fl,omitempty"`
}

// Volume is what one call moves, in bytes.
type Volume struct {
	Out, In       uint64 // sent and received
	Read, Written uint64 // by MPI-IO
}

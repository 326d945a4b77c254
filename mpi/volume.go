package mpi

// Accounting is one of the two ways to count the volumes of collective operations (Fürlinger and
// Moore, OpenMP-centric Performance Analysis of Hybrid Applications, II.B.2 and Fig. 4).
// docs/mpi-volumes.md lists the volumes of each operation.
type Accounting uint8

// The accountings, and how many there are.
const (
	Minimal Accounting = iota // data that must leave or reach the process in any case
	Naive                     // as if by one message per pair of processes
	NumAccountings
)

// Special values of Args.Peer. The libraries have other numbers for these; Op.Args translates them.
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
	// Inter: the communicator is an intercommunicator, which connects two groups. Size is the
	// size of the remote group.
	Inter
	// UnknownVolume: some size is not known. So the volumes are not known either.
	UnknownVolume
	// Started: this is no call. It is an operation that MPI_Start or MPI_Startall has started. It
	// moves data and takes no time. Its Op is the operation that prepared the request
	// (MPI_Send_init).
	Started
	// World, Self: the communicator is MPI_COMM_WORLD, MPI_COMM_SELF.
	World
	Self
)

// Args holds the arguments from which a call's volumes follow, as they were when the call began.
// Op.Args makes them of the arguments that were read.
//
// If the operation has one count for all processes, Send and Recv are one process's part: count
// times type size. If it has an array of counts, they are the sum over the processes. A side is 0
// if the operation does not have it. It is also 0 if it has no meaning at this process, such as the
// receive side of MPI_Gather elsewhere than at the root. For Reduce_scatter, Send is the sum of all
// parts except this process's own part, and Recv is that own part. If a side is MPI_IN_PLACE, it is
// the data that its buffer would otherwise hold: this process's part of the other side.
//
// The bytes of a receive are those that the call asked for, not those that came. The paper counts
// in the same way. Only the completion of the request would tell how many came.
type Args struct {
	Send uint64 `json:"s,omitempty"`
	Recv uint64 `json:"r,omitempty"`
	Size int32  `json:"np,omitempty"` // processes in the communicator; neighbourhoods: out-degree
	// Neighbourhoods: in-degree; intercommunicator's Reduce_scatter: size of the local group.
	In    int32   `json:"in,omitempty"`
	Rank  int32   `json:"me,omitempty"` // this process's rank in the communicator
	Peer  int32   `json:"to,omitempty"` // destination, source or root (ProcNull and so on)
	Peer2 int32   `json:"from,omitempty"`
	Tag   int32   `json:"tag,omitempty"`
	Comm  uint64  `json:"comm,omitempty"` // the handle, as the library has it
	Flags ArgFlag `json:"fl,omitempty"`
}

// Volume is how many bytes one call moves.
type Volume struct {
	Out, In       uint64 // sent and received
	Read, Written uint64 // by MPI-IO
}

// Volume returns how many bytes a call with these arguments moves. It returns 0 bytes if that is
// not known.
//
// The paper's Fig. 4 does not have these operations:
//
//   - Exscan counts like Scan.
//   - Neighbourhood operations count like their collective operation, with degrees in place of np.
//   - One-sided operations send the data that go to the target, and receive the data that come
//     back. Compare_and_swap sends the new value and receives the old one.
//   - MPI-IO reads and writes.
//   - For intercommunicators, np is the size of the remote group, and no process of that group is
//     left out.
//   - In a communicator of one process, no data must leave the process. So minimal is never more
//     than naive there.
//
// An operation with MPI_NO_OP counts like any other. So do edges of a grid that lead to
// MPI_PROC_NULL.
//
// Our text of Fig. 4 lacks a cell for the last rank of Scan. Here this cell is 0 in both
// accountings, because then as much is sent as is received.
func (o Op) Volume(a *Args, by Accounting) Volume {
	op := o.Info()
	if op.prepares(a) || a.Flags&UnknownVolume != 0 {
		return Volume{}
	}
	send, recv := op.sides(a)
	s, r := keep(a.Send, send), keep(a.Recv, recv)
	np := count(a.Size)
	sources := np
	if op.Kind == NeighborAllgather || op.Kind == NeighborAlltoall {
		sources = count(a.In)
	}
	others := np
	if a.Flags&Inter == 0 && np > 0 {
		others--
	}
	// times returns how many messages count. Naive counts one for each process. Minimal counts one
	// if there is any process to exchange with.
	times := func(n uint64) uint64 {
		if by == Minimal {
			return min(n, 1)
		}
		return n
	}
	switch op.Kind {
	case PointToPoint, OneSided:
		return Volume{Out: s, In: r}
	case FileRead:
		return Volume{Read: r}
	case FileWrite:
		return Volume{Written: s}
	case Bcast:
		return Volume{Out: s * times(others), In: r}
	case Reduce:
		return Volume{Out: s, In: r * times(others)}
	case Allreduce:
		return Volume{Out: s * others, In: r * others}
	case ReduceScatter:
		if !op.Send.CountArray {
			s *= parts(a, others)
		}
		return Volume{Out: s, In: r * times(others)}
	case Gather:
		return Volume{Out: s, In: op.Recv.total(r, np)}
	case Scatter:
		return Volume{Out: op.Send.total(s, np), In: r}
	case Allgather, NeighborAllgather:
		return Volume{Out: s * times(np), In: op.Recv.total(r, sources)}
	case Alltoall, NeighborAlltoall:
		return Volume{Out: op.Send.total(s, np), In: op.Recv.total(r, sources)}
	case Scan:
		last := a.Rank == a.Size-1 // of the chain: each passes its result to the next
		return Volume{Out: keep(s, !last), In: keep(r, a.Rank > 0)}
	}
	return Volume{}
}

// Counted returns how much a call adds to ompP's sendC, recvC and collC. A call with MPI_PROC_NULL
// counts; a call that only prepares an operation does not.
func (o Op) Counted(a *Args) (sends, recvs, colls uint64) {
	op := o.Info()
	if op.prepares(a) {
		return 0, 0, 0
	}
	one := func(c Counts) uint64 {
		if op.Counts&c != 0 {
			return 1
		}
		return 0
	}
	return one(CountSend), one(CountRecv), one(CountColl)
}

// prepares reports whether the call only makes a request for an operation that is started later.
func (op *Operation) prepares(a *Args) bool {
	return op.Persistent && a.Flags&Started == 0
}

// sides reports which sides of the data the call has at this process.
func (op *Operation) sides(a *Args) (send, recv bool) {
	inter := a.Flags&Inter != 0
	root := a.Peer == RootHere || !inter && a.Peer == a.Rank
	switch {
	case op.Peer != None && op.Peer2 != None:
		return a.Peer != ProcNull, a.Peer2 != ProcNull
	case op.Peer != None && a.Peer == ProcNull:
		return false, false // no partner; or the root is in this process's own group
	case op.Kind == Bcast:
		return root, !root
	case op.Kind == Reduce:
		return !root, root
	case op.Kind == Gather:
		return !(root && inter), root
	case op.Kind == Scatter:
		return root, !(root && inter)
	}
	return op.Send.Exists(), op.Recv.Exists()
}

// total returns the bytes of this side for n processes together.
func (b *Buffer) total(bytes, n uint64) uint64 {
	if b.CountArray {
		return bytes
	}
	return bytes * n
}

// parts returns how many parts of Reduce_scatter_block's vector leave this process: all except its
// own part. For an intercommunicator, the whole vector leaves. It has one part for each process of
// the local group.
func parts(a *Args, others uint64) uint64 {
	if a.Flags&Inter != 0 {
		return count(a.In)
	}
	return others
}

// keep returns the bytes if ok is set, and 0 otherwise.
func keep(bytes uint64, ok bool) uint64 {
	if ok {
		return bytes
	}
	return 0
}

// count returns a number of processes; 0 if the argument is negative: only garbage is.
func count(n int32) uint64 { return uint64(max(n, 0)) }

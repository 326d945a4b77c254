package mpi

// Accounting is one of the two ways to tell volumes of collective operations
// (Fürlinger and Moore, OpenMP-centric Performance Analysis of Hybrid
// Applications, II.B.2 and Fig. 4). docs/mpi-volumes.md lists what follows.
type Accounting uint8

// The accountings, and how many there are.
const (
	Minimal Accounting = iota // what must leave or reach the process, however it is implemented
	Naive                     // as if by one message per pair of processes
	NumAccountings
)

// Special values of Args.Peer. The libraries' own numbers differ; these are
// what they are translated to (Op.Args).
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
	// has started: it moves data and takes no time. The operation is the one
	// that prepared it (MPI_Send_init).
	Started
	// World, Self: the communicator is MPI_COMM_WORLD, MPI_COMM_SELF.
	World
	Self
)

// Args is what a call's volumes follow from, as it was when the call began. It
// is what Op.Args makes of what was read.
//
// Send and Recv are of one process's part, count times type size, where the
// operation has one count for all; the sum over the processes where it has an
// array of counts. A side that the operation has not, or that means nothing at
// this process (Gather's receive side elsewhere than at the root), is 0. Of
// Reduce_scatter, Send is the sum of all parts but this process's own, and Recv
// is its own. A side that is MPI_IN_PLACE is what its buffer would have held
// otherwise: this process's part of the other side.
//
// Of a receive, the bytes are those that were asked for, not those that came:
// so the paper has it, and only the request's completion would tell.
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

// Volume is what one call moves, in bytes.
type Volume struct {
	Out, In       uint64 // sent and received
	Read, Written uint64 // by MPI-IO
}

// Volume returns what a call with these arguments moves; nothing if that is
// not known.
//
// Beyond the paper's Fig. 4 are: Exscan (as Scan), neighbourhoods (as their
// collective, with degrees in place of np), one-sided operations (what goes to
// the target and what comes back; of Compare_and_swap, the new value and the
// old), MPI-IO, intercommunicators (np is the remote group's, and nobody is
// left out of it), and communicators of one process, of which nothing must
// leave: there, minimal is not more than naive. An operation of MPI_NO_OP, and
// edges of a grid that lead to MPI_PROC_NULL, count like any other.
//
// Of Scan, the text of Fig. 4 that we have lacks a cell of the last rank. It is
// taken for 0 in both accountings: what is sent and received then agree.
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
	// Where naive counts a message per process, minimal counts one, if there is
	// anyone to exchange it with.
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
		last := a.Rank == a.Size-1 // of the chain in which each passes its result on
		return Volume{Out: keep(s, !last), In: keep(r, a.Rank > 0)}
	}
	return Volume{}
}

// Counted returns by how much a call adds to ompP's sendC, recvC and collC. A
// call with MPI_PROC_NULL is a call; one that only prepares is none.
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

// prepares reports whether the call only makes a request that is to be started.
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
		return false, false // of a root: this process is in its group, and not concerned
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

// total is what n processes' parts of this side make.
func (b *Buffer) total(bytes, n uint64) uint64 {
	if b.CountArray {
		return bytes
	}
	return bytes * n
}

// parts is how many processes' parts of Reduce_scatter_block's vector leave this
// process: all but its own; of an intercommunicator, all of the vector, which
// has one part for each process of the local group.
func parts(a *Args, others uint64) uint64 {
	if a.Flags&Inter != 0 {
		return count(a.In)
	}
	return others
}

// keep is bytes if they are moved at all.
func keep(bytes uint64, ok bool) uint64 {
	if ok {
		return bytes
	}
	return 0
}

// count is a number of processes, which is not negative unless it is garbage.
func count(n int32) uint64 { return uint64(max(n, 0)) }

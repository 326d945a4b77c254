package mpi

// Constants are numbers of mpi.h that differ between libraries.
type Constants struct {
	ProcNull, AnySource, Root int32
	InPlace                   uint64
	// StatusIgnore is the address that stands for no status, or for no array of statuses.
	// StatusSource is the offset of the source in a status, and StatusSize is the size of a
	// status, in bytes. The tag follows the source.
	StatusIgnore, StatusSource, StatusSize uint64
	LockExclusive                          int32 // MPI_LOCK_EXCLUSIVE
}

// The constants of the two families of libraries. MPI_ANY_TAG is -1 in both.
var (
	OpenMPIConstants = Constants{ProcNull: -2, AnySource: -1, Root: -4, InPlace: 1, StatusIgnore: 0, StatusSource: 0, StatusSize: 24, LockExclusive: 1}
	// MPICHConstants are also those of MPICH's ABI: Intel MPI, MVAPICH, Cray MPICH.
	MPICHConstants = Constants{ProcNull: -1, AnySource: -2, Root: -3, InPlace: ^uint64(0), StatusIgnore: 1, StatusSource: 8, StatusSize: 20, LockExclusive: 234}
)

// Unread says which parts of a Raw could not be read.
type Unread uint8

// The parts that may be unread.
const (
	UnreadSend Unread = 1 << iota // the send side's count or type
	UnreadRecv                    // the receive side's
	UnreadComm                    // Size, Rank or In
)

// Raw holds the arguments that the kernel side reads when a call begins. It reads all arguments,
// also those that MPI ignores at this process. Such arguments may be garbage, or may be unreadable.
type Raw struct {
	// Send and Recv are count times type size. For an array of counts, they are the sum of these
	// products over the array. The array has Size elements: one for each process of the group at
	// the other side. Reduce_scatter's array has one for each process of the local group. An array
	// of a neighbourhood has Size or In elements. Peer and Peer2 are the library's numbers. Of
	// Flags, only Inter and Started are set. The InPlace flags may be set, too, in place of SendBuf
	// and RecvBuf.
	Args
	// Own is the element for this process's rank in the array of counts whose Buffer.Own is
	// set, times the type size.
	Own uint64
	// SendBuf and RecvBuf are the arguments that Operation.SendBuf and RecvBuf name. 0: the
	// operation has no such argument, or it was not read.
	SendBuf, RecvBuf uint64
	Unread           Unread
}

// Args returns the arguments from which a call's volumes follow (see Args), from the raw arguments.
func (o Op) Args(raw *Raw, c *Constants) Args {
	op := o.Info()
	a, unread := raw.Args, raw.Unread
	a.Flags &^= UnknownVolume
	a.Peer = c.rank(op.Peer, raw.Peer)
	a.Peer2 = c.rank(op.Peer2, raw.Peer2)
	if op.Tag == None {
		a.Tag = 0
	}
	if op.SendBuf != None && raw.SendBuf == c.InPlace {
		a.Flags |= InPlaceSend
	}
	if op.RecvBuf != None && raw.RecvBuf == c.InPlace {
		a.Flags |= InPlaceRecv
	}
	switch {
	case op.Kind == ReduceScatter && op.Recv.Own:
		if a.Flags&InPlaceSend != 0 { // both sides have one array of counts
			a.Send = a.Recv
			unread = unread.like(UnreadSend, UnreadRecv)
		}
		a.Recv = raw.Own
		if a.Flags&Inter == 0 {
			a.Send -= min(a.Send, raw.Own)
		}
	case a.Flags&InPlaceSend != 0:
		a.Send = op.Recv.part(a.Recv, raw.Own)
		unread = unread.like(UnreadSend, UnreadRecv)
	case a.Flags&InPlaceRecv != 0:
		a.Recv = op.Send.part(a.Send, raw.Own)
		unread = unread.like(UnreadRecv, UnreadSend)
	}
	send, recv := op.sides(&a)
	if !send {
		a.Send = 0
		unread &^= UnreadSend
	}
	if !recv {
		a.Recv = 0
		unread &^= UnreadRecv
	}
	if !op.needsComm() {
		unread &^= UnreadComm
	}
	if unread != 0 && !op.prepares(&a) {
		a.Flags |= UnknownVolume
	}
	return a
}

// part returns the bytes of this side that belong to this process itself.
func (b *Buffer) part(bytes, own uint64) uint64 {
	if b.Own {
		return own
	}
	return bytes
}

// like gives one side the mark of another: whether it is unread.
func (u Unread) like(side, other Unread) Unread {
	if u&other != 0 {
		return u | side
	}
	return u &^ side
}

// needsComm reports whether volumes depend on the communicator.
func (op *Operation) needsComm() bool {
	switch op.Kind {
	case Time, Start, PointToPoint, OneSided, FileRead, FileWrite:
		return false
	}
	return true
}

// rank translates an argument that is a rank from the library's numbers to those of Args.Peer.
func (c *Constants) rank(position int8, r int32) int32 {
	switch {
	case position == None:
		return NoPeer
	case r == c.ProcNull:
		return ProcNull
	case r == c.AnySource:
		return AnySource
	case r == c.Root:
		return RootHere
	}
	return r
}

package mpi

import (
	"slices"
	"strings"
)

// Operations are the C entry points of MPI 3.1 and 4.0, and those of MPI-1 that libraries still
// have. MPI_T is left out, because it measures MPI itself. Conversions of handles and statuses
// (MPI_Comm_f2c and so on) are left out, too: Open MPI's Fortran bindings call them for every
// argument, so the program itself has rarely made such a call.
var Operations = slices.Concat(
	slices.Concat(pointToPoint, collective, neighbourhood, oneSided).with(communicates),
	files.operations(),
	waits.with(func(op *Operation) {
		op.Communicates, op.Local = true, strings.Contains(localOnRequests, op.Name+" ")
	}),
	queries.with(func(op *Operation) { op.Query, op.Local = true, true }),
	beginnings.with(func(op *Operation) { op.Begins = true }),
	endings.with(func(op *Operation) { op.Ends = true }),
	local.with(func(op *Operation) { op.Local = true; synchronises(op) }),
	management.with(synchronises),
)

func communicates(op *Operation) { op.Communicates = true }

func synchronises(op *Operation) {
	op.Communicates = strings.Contains(synchronisation, op.Name+" ")
}

// variant is a form of an operation beside the plain one.
type variant uint8

const (
	nonblocking     variant = 1 << iota // MPI_Isend: a request in place of the status
	requestBased                        // MPI_Rput: the same
	persistent                          // MPI_Send_init: the same
	persistentColl                      // MPI_Bcast_init: an info and a request
	extensionColl                       // MPIX_Bcast_init: the same in Open MPI 4
	large                               // MPI_Send_c: 64-bit counts; of every form above, too
	splitCollective                     // MPI_File_read_all_begin and _end
	partitioned                         // the row itself is persistent, and its count 64 bits

	immediate  = nonblocking | large
	anyColl    = immediate | persistentColl | extensionColl
	pointForms = immediate | persistent
)

// row is an operation with its variants. Its arguments are words:
//
//	buf                       a buffer that cannot be MPI_IN_PLACE
//	sbuf rbuf                 one that can, of the send and the receive side
//	scount stype rcount rtype count and datatype of one side
//	count type                of both
//	scounts ... types         arrays of them
//	partitions                what the count is multiplied by
//	peer from root tag rtag   see Operation.Peer, Peer2, Tag, RecvTag
//	comm win file             the handle
//	req, nreqs reqs           pointer to a request; number of and pointer to several
//	status                    what a request replaces in nonblocking variants
//	_                         anything else
type row struct {
	name     string // without MPI_
	kind     Kind
	counts   Counts
	args     string
	variants variant
}

type rows []row

// operations returns the operations of the rows, with all variants.
func (rs rows) operations() (ops []Operation) {
	for i := range rs {
		ops = append(ops, rs[i].operations()...)
	}
	return ops
}

// with returns the list's operations, and calls set for each.
func (rs rows) with(set func(*Operation)) []Operation {
	ops := rs.operations()
	for i := range ops {
		set(&ops[i])
	}
	return ops
}

func (r *row) operations() []Operation {
	var ops []Operation
	add := func(name, args string) *Operation {
		ops = append(ops, newOperation(name, r.kind, r.counts, args))
		return &ops[len(ops)-1]
	}
	begun := strings.TrimSuffix(r.args, " status")
	plain := add(r.name, r.args)
	plain.Persistent = r.variants&partitioned != 0
	plain.Wide = plain.Persistent
	if r.variants&nonblocking != 0 {
		add(immediateName(r.name, "I"), begun+" req")
	}
	if r.variants&requestBased != 0 {
		add(immediateName(r.name, "R"), begun+" req")
	}
	if r.variants&persistent != 0 {
		add(r.name+"_init", begun+" req").Persistent = true
	}
	if r.variants&persistentColl != 0 {
		add(r.name+"_init", begun+" _ req").Persistent = true
	}
	if r.variants&splitCollective != 0 {
		add(r.name+"_begin", begun)
	}
	if r.variants&large != 0 {
		for _, op := range ops {
			op.Name += "_c"
			op.Wide = true
			ops = append(ops, op)
		}
	}
	if r.variants&splitCollective != 0 {
		// MPI_File_*_begin moves the data, like the call that begins a nonblocking operation.
		ops = append(ops, newOperation(r.name+"_end", Time, 0, "file _ _"))
	}
	if r.variants&extensionColl != 0 {
		op := add(r.name+"_init", begun+" _ req")
		op.Name = "MPIX" + strings.TrimPrefix(op.Name, "MPI")
		op.Persistent = true
	}
	return ops
}

// immediateName returns the name of a variant, with the variant's letter where MPI has it:
// MPI_Isend, MPI_File_iread.
func immediateName(name, letter string) string {
	if file, ok := strings.CutPrefix(name, "File_"); ok {
		return "File_" + strings.ToLower(letter) + file
	}
	return letter + strings.ToLower(name[:1]) + name[1:]
}

// newOperation makes an operation. args are its argument words (see row).
func newOperation(name string, kind Kind, counts Counts, args string) Operation {
	no := Buffer{Count: None, Type: None}
	op := Operation{Name: "MPI_" + name, Kind: kind, Counts: counts,
		Send: no, Recv: no, Partitions: None, Peer: None, Peer2: None, Tag: None, RecvTag: None, Status: None,
		SendBuf: None, RecvBuf: None, Comm: None, Request: None, Requests: None}
	for i, word := range strings.Fields(args) {
		op.Args++
		op.argument(int8(i), word)
	}
	own := kind == Gather || kind == Scatter || kind == Allgather || kind == ReduceScatter
	op.Send.Own = own && op.Send.CountArray
	op.Recv.Own = own && op.Recv.CountArray
	op.Send.AtRoot = kind == Scatter
	op.Recv.AtRoot = kind == Gather
	op.NoReturn = name == "Abort"
	return op
}

// argument notes the meaning of the argument at position i.
func (op *Operation) argument(i int8, word string) {
	switch word {
	case "_", "buf":
	case "status":
		op.Status = i
	case "sbuf":
		op.SendBuf = i
	case "rbuf":
		op.RecvBuf = i
	case "partitions":
		op.Partitions = i
	case "peer":
		op.Peer = i
	case "root":
		op.Peer, op.Root = i, true
	case "from":
		op.Peer2 = i
	case "tag":
		op.Tag = i
	case "rtag":
		op.RecvTag = i
	case "comm":
		op.Comm, op.Handle = i, CommHandle
	case "win":
		op.Comm, op.Handle = i, WinHandle
	case "file":
		op.Comm, op.Handle = i, FileHandle
	case "req", "reqs":
		op.Request = i
	case "nreqs":
		op.Requests = i
	default:
		op.dataArgument(i, word)
	}
}

// dataArgument notes an argument that is a count or type of one side, or of both.
func (op *Operation) dataArgument(i int8, word string) {
	sides := []*Buffer{&op.Send, &op.Recv}
	what := word
	switch word[0] {
	case 's':
		sides, what = sides[:1], word[1:]
	case 'r':
		sides, what = sides[1:], word[1:]
	}
	for _, b := range sides {
		switch what {
		case "count", "counts":
			b.Count, b.CountArray = i, what == "counts"
		case "type", "types":
			b.Type, b.TypeArray = i, what == "types"
		default:
			panic("mpi: " + op.Name + ": unknown argument " + word)
		}
	}
}

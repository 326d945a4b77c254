// Package mpilib knows MPI libraries: which library a file is, how its operations are probed, and
// how the records of their calls become events. An MPI library's C entry points are found by what
// the library defines. Each is probed once.
package mpilib

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"ompp-attach/bpf"
	"ompp-attach/mpi"
	"ompp-attach/mpi/match"
	"ompp-attach/probes/disasm"
	"ompp-attach/probes/disasm/points"
	"ompp-attach/symbols"
)

// Plan is how one MPI library is probed.
type Plan struct {
	Object     *symbols.Object
	Library    Library
	Placements []Placement
	Missing    []string // entry points without a probe, each with the reason
	matched    bool
}

// Probed returns the virtual addresses of the probed instructions.
func (p *Plan) Probed() (vaddrs []uint64) {
	for i := range p.Placements {
		vaddrs = append(vaddrs, p.Placements[i].VAddr)
	}
	return vaddrs
}

// Placement is one probe at the entry of an MPI operation, and at its
// return.
type Placement struct {
	Op     mpi.Op
	Symbol string
	VAddr  uint64 // probed instruction
	Offset uint64 // the same as an offset in the file
	Cost   points.Cost

	row bpf.MPIRow
}

// NewPlan finds the cheapest safe place for a probe in every entry point of an MPI library. MPI_X
// and PMPI_X nearly always have one address. If not, both are probed, and the kernel side leaves
// out the inner one of two nested calls. matched says that calls of ranks are to be matched. Then
// more arguments of each call are read.
func NewPlan(o *symbols.Object, matched bool) (*Plan, error) {
	p := &Plan{Object: o, Library: identify(o), matched: matched}
	placed := map[uint64]bool{}
	o.Symbols(func(name string, vaddr, _ uint64) {
		op, ok := mpi.ParseOp(strings.TrimPrefix(name, "P"))
		if !ok || placed[vaddr] {
			return
		}
		placed[vaddr] = true
		if err := p.place(name, op, vaddr); err != nil {
			p.Missing = append(p.Missing, fmt.Sprintf("%s: %v", name, err))
		}
	})
	if len(p.Placements) == 0 {
		return nil, fmt.Errorf("no MPI operation can be probed in it: %s", strings.Join(p.Missing, "; "))
	}
	slices.SortFunc(p.Placements, func(a, b Placement) int { return cmp.Compare(a.VAddr, b.VAddr) })
	return p, nil
}

// Keep removes the probes of operations that are not wanted. It keeps those without which other
// figures would be wrong. Some tell the rank. Some make requests, communicators and topologies.
// Some are known to call other operations, whose calls would otherwise count as the program's
// (MPI-IO in MPICH, MPI_Finalize).
func (p *Plan) Keep(wanted func(mpi.Op) bool) {
	any := slices.ContainsFunc(p.Placements, func(pl Placement) bool { return wanted(pl.Op) })
	const telling = bpf.MPIKeep | bpf.MPIForget | bpf.MPIGrid | bpf.MPIGraph | bpf.MPIComm | bpf.MPIWindow | bpf.MPIMakesGroup
	p.Placements = slices.DeleteFunc(p.Placements, func(pl Placement) bool {
		nests := strings.HasPrefix(pl.Op.String(), "MPI_File_") && !pl.Op.Info().Query || pl.Op.String() == "MPI_Finalize"
		needed := pl.row.Flags&bpf.MPIBegins != 0 || any && (nests || pl.row.Flags&telling != 0)
		return !needed && !wanted(pl.Op)
	})
}

func (p *Plan) place(name string, op mpi.Op, vaddr uint64) error {
	r := reading{arch: p.Object.Arch(), matched: p.matched}
	row := r.of(op.Info())
	if r.err != nil {
		return r.err
	}
	sp, err := points.SafePoint(p.Object, vaddr, points.Need{Args: r.args})
	if err != nil {
		return err
	}
	off, ok := p.Object.FileOffset(sp.VAddr)
	if !ok {
		return fmt.Errorf("its address %#x is not in the file", sp.VAddr)
	}
	row.Vaddr = sp.VAddr
	p.Placements = append(p.Placements, Placement{Op: op, Symbol: name, VAddr: sp.VAddr, Offset: off, Cost: sp.Cost, row: row})
	return nil
}

// reading makes the row of an operation, which says what the kernel side reads of its calls.
type reading struct {
	arch    string
	args    disasm.ArgSet // registers that are read
	stack   bool          // arguments on the stack are read
	matched bool
	err     error
}

// words says, by architecture, how many arguments are in registers. It also says at which index the
// kernel side's array (bpf/arch.h, mpi_args.h) has the first argument on the stack. On amd64 the
// return address stands between the two.
var words = map[string]struct{ registers, stack int8 }{"amd64": {6, 7}, "arm64": {8, 8}}

const lastWord = 14

// at returns where the kernel side finds the argument at a position.
func (r *reading) at(position int8) uint8 {
	w := words[r.arch]
	switch {
	case position == mpi.None:
		return bpf.MPINoArg
	case position < w.registers:
		r.args |= disasm.Args(int(position))
		return uint8(position)
	}
	r.stack = true
	return r.onStack(position)
}

// onStack is at for an argument on the stack.
func (r *reading) onStack(position int8) uint8 {
	w := words[r.arch]
	word := position - w.registers + w.stack
	if word > lastWord && r.err == nil {
		r.err = fmt.Errorf("argument %d is not read", position+1)
	}
	return uint8(word)
}

// status returns where a receive's status is. Most receives name their source. Then nobody asks for
// the status, and the kernel side does not read the stack for it.
func (r *reading) status(position int8) uint8 {
	if position == mpi.None || position < words[r.arch].registers {
		return r.at(position)
	}
	return r.onStack(position)
}

// of returns what the kernel side reads at calls of an operation.
func (r *reading) of(op *mpi.Operation) bpf.MPIRow {
	row := bpf.MPIRow{
		SendCount: r.at(op.Send.Count), SendType: r.at(op.Send.Type),
		RecvCount: r.at(op.Recv.Count), RecvType: r.at(op.Recv.Type),
		Peer: r.at(op.Peer), Peer2: r.at(op.Peer2), Tag: r.at(op.Tag), Comm: r.at(op.Comm),
		SendBuf: r.at(op.SendBuf), RecvBuf: r.at(op.RecvBuf), Partitions: r.at(op.Partitions),
		Request: bpf.MPINoArg, Requests: bpf.MPINoArg, Status: r.status(op.Status), RecvTag: bpf.MPINoArg, Statuses: bpf.MPINoArg,
	}
	set := func(when bool, flag uint32) {
		if when {
			row.Flags |= flag
		}
	}
	r.special(op, &row)
	if m, ok := op.Makes(); ok {
		row.Flags |= bpf.MPIBirth | bpf.MPIComm
		if m.Window {
			row.Flags ^= bpf.MPIComm | bpf.MPIWindow
		}
		row.Request, row.Tag = r.at(m.Result), r.at(m.Decides)
	}
	set(op.Persistent, bpf.MPIKeep)
	set(op.Kind == mpi.Start && op.Requests == mpi.None, bpf.MPIStart)
	set(op.Kind == mpi.Start && op.Requests != mpi.None, bpf.MPIStartAll)
	if op.Request != mpi.None && row.Flags&(bpf.MPIKeep|bpf.MPIStart|bpf.MPIStartAll|bpf.MPIForget) != 0 {
		row.Request, row.Requests = r.at(op.Request), r.at(op.Requests)
	}
	switch op.Kind {
	case mpi.NeighborAllgather, mpi.NeighborAlltoall:
		row.Flags |= bpf.MPINeighbors
	case mpi.Bcast, mpi.Reduce, mpi.Allreduce, mpi.ReduceScatter, mpi.Gather, mpi.Scatter, mpi.Allgather, mpi.Alltoall, mpi.Scan:
		row.Flags |= bpf.MPISizes
	}
	set((op.Kind == mpi.PointToPoint || op.Kind == mpi.OneSided) && op.Comm != mpi.None, bpf.MPIBirth)
	set(op.NoReturn, bpf.MPINoReturn|bpf.MPISite)
	set(op.Kind == mpi.Start, bpf.MPISite)
	set(op.Wide, bpf.MPIWide)
	set(op.Kind == mpi.ReduceScatter, bpf.MPILocal)
	set(op.Send.AtRoot, bpf.MPISendAtRoot)
	set(op.Send.CountArray, bpf.MPISendCounts)
	set(op.Send.TypeArray, bpf.MPISendTypes)
	set(op.Send.Own, bpf.MPISendOwn)
	set(op.Recv.AtRoot, bpf.MPIRecvAtRoot)
	set(op.Recv.CountArray, bpf.MPIRecvCounts)
	set(op.Recv.TypeArray, bpf.MPIRecvTypes)
	set(op.Recv.Own, bpf.MPIRecvOwn)
	if r.matched {
		r.more(op, &row)
	}
	set(r.stack, bpf.MPIOnStack)
	return row
}

// special adds what only some operations have.
func (r *reading) special(op *mpi.Operation, row *bpf.MPIRow) {
	switch op.Name {
	case "MPI_Init", "MPI_Init_thread":
		row.Flags |= bpf.MPIBegins
		if op.Name == "MPI_Init_thread" {
			const provided = 3
			row.Request = r.at(provided)
		}
	case "MPI_Request_free":
		row.Flags |= bpf.MPIForget
	case "MPI_Comm_free", "MPI_Comm_disconnect", "MPI_Win_free":
		row.Flags |= bpf.MPIForget
		row.Request = r.at(0)
	case "MPI_Cart_create": // comm, ndims, dims, periods, reorder, newcomm
		row.Flags |= bpf.MPIGrid
		row.SendCount = r.at(1)
	// comm, indegree, .., .., outdegree, .., .., info, reorder, newcomm
	case "MPI_Dist_graph_create_adjacent":
		row.Flags |= bpf.MPIGraph
		row.RecvCount, row.SendCount = r.at(1), r.at(4)
	}
}

const winLock = "MPI_Win_lock"

// more adds what is read only if calls of ranks are to be matched.
func (r *reading) more(op *mpi.Operation, row *bpf.MPIRow) {
	o, _ := mpi.ParseOp(op.Name)
	if op.Kind == mpi.Start {
		row.Flags |= bpf.MPIMatched
	}
	group, takes := op.Groups()
	if !match.Wanted(o) && !takes {
		return
	}
	row.Flags |= bpf.MPIMatched
	if takes {
		r.group(op, &group, row)
		return
	}
	if row.RecvTag = r.at(op.RecvTag); op.RecvTag == mpi.None {
		row.RecvTag = r.at(op.Tag)
	}
	r.message(strings.TrimSuffix(op.Name, "_c"), row)
	switch {
	case op.Name == winLock:
		row.RecvTag = r.at(0) // the type of the lock
	case match.Waits(o):
		row.Flags |= bpf.MPIWaits
		row.Request, row.Requests = r.at(op.Request), r.at(op.Requests)
		switch op.Name {
		case "MPI_Wait": // request, status
			row.Statuses = r.at(1)
		case "MPI_Waitall": // count, requests, statuses
			row.Statuses = r.at(2)
		case "MPI_Waitany": // count, requests, index, status
			row.Flags |= bpf.MPISome
			row.RecvTag, row.Statuses = r.at(2), r.at(3)
		case "MPI_Waitsome": // count, requests, number, indices, statuses
			row.Flags |= bpf.MPISome
			row.Status, row.RecvTag, row.Statuses = r.at(2), r.at(3), r.at(4)
		}
	case match.Begins(o):
		row.Flags |= bpf.MPIBegun
		if at := r.at(op.Request); row.Flags&bpf.MPIComm != 0 {
			row.Status = at // Request is the communicator
		} else {
			row.Request = at
		}
	}
}

// message adds where a call finds the handle of a message that MPI_Mprobe took.
func (r *reading) message(name string, row *bpf.MPIRow) {
	switch name {
	case "MPI_Mprobe": // source, tag, comm, message, status
		row.Statuses, row.Status = r.at(3), r.status(4)
	case "MPI_Improbe": // source, tag, comm, flag, message, status
		row.Requests, row.Statuses, row.Status = r.at(3), r.at(4), r.status(5)
	case "MPI_Mrecv", "MPI_Imrecv": // buf, count, datatype, message, status or request
		row.Statuses = r.at(3)
	default:
		return
	}
	row.Flags |= bpf.MPIMessage
}

// group adds what is read of a call that makes or takes a group of processes.
func (r *reading) group(op *mpi.Operation, g *mpi.Grouping, row *bpf.MPIRow) {
	if g.Of != mpi.None {
		row.Flags |= bpf.MPIGroup
		row.RecvTag = r.at(g.Of)
	}
	if g.Result == mpi.None {
		return
	}
	row.Flags |= bpf.MPIMakesGroup
	row.Status, row.Request, row.Requests, row.Ints = r.at(g.Result), r.at(g.List), r.at(g.Number), uint8(g.Ints())
	if g.With != mpi.None {
		row.Comm = r.at(g.With)
	}
	if g.Rule == mpi.Everyone && op.Handle == mpi.CommHandle {
		row.Flags |= bpf.MPISizes
	}
}

// arrays reports whether a call's probe reads arrays.
func (pl *Placement) arrays() bool {
	return pl.row.Flags&(bpf.MPISendCounts|bpf.MPIRecvCounts|bpf.MPIStartAll) != 0 || pl.row.Flags&(bpf.MPIWaits|bpf.MPIMakesGroup) != 0 && pl.row.Requests != bpf.MPINoArg
}

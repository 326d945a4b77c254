package mpilib

import (
	"fmt"
	"slices"

	"ompp-attach/bpf"
	"ompp-attach/event"
	"ompp-attach/mpi"
	"ompp-attach/mpi/match"
	"ompp-attach/probes"
)

// Attached is a plan whose rows are stored in the kernel, so that it can be
// attached to any number of processes.
type Attached struct {
	Plan   *Plan
	points []bpf.MPIPoint
}

// Points returns the plan's probes in the form that the kernel side takes.
func (a *Attached) Points() []bpf.MPIPoint { return a.points }

// Imported returns the points whose operation is imported, as MPI_X or as PMPI_X.
func (a *Attached) Imported(imported func(string) bool) (points []bpf.MPIPoint) {
	for i := range a.Plan.Placements {
		if name := a.Plan.Placements[i].Op.String(); imported(name) || imported("P"+name) {
			points = append(points, a.points[i])
		}
	}
	return points
}

// Decoder knows all stored MPI rows and turns their records into events.
type Decoder struct {
	rows  []decoded
	asked map[uint32]*requests // by thread: those that its next call waits for
}

type decoded struct {
	op        mpi.Op
	birth     bool // bpf.MPIBirth
	flags     uint32
	constants *mpi.Constants
	begins    bool
	probe     event.Probe // the kind of the hits at its entry
}

// World is a process's place in its job.
type World struct {
	Rank, Size int // if Size is 0, neither could be read
	Level      int // MPI_THREAD_SINGLE and so on, from 0
	Handle     uint64
}

// Store stores a plan's library and rows and returns their indices: the kernel side (bpf.MPI).
type Store interface {
	AddLibrary(*bpf.MPILibrary) (uint32, error)
	AddRow(*bpf.MPIRow) (uint32, error)
}

// Store puts a plan's library and rows into the kernel and registers them for
// decoding.
func (d *Decoder) Store(k Store, p *Plan) (*Attached, error) {
	library, err := k.AddLibrary(p.Library.kernelSide())
	if err != nil {
		return nil, err
	}
	a := &Attached{Plan: p}
	for i := range p.Placements {
		pl := &p.Placements[i]
		r := pl.row
		r.Library = library
		row, err := k.AddRow(&r)
		if err != nil {
			return nil, fmt.Errorf("probe %s: %w", pl.Symbol, err)
		}
		for len(d.rows) <= int(row) {
			d.rows = append(d.rows, decoded{})
		}
		d.rows[row] = decoded{pl.Op, r.Flags&bpf.MPIBirth != 0, r.Flags, p.Library.Constants, r.Flags&bpf.MPIBegins != 0, probes.ProbeOf(pl.Cost)}
		a.points = append(a.points, bpf.MPIPoint{Arrays: pl.arrays(),
			Point: bpf.Point{Offset: pl.Offset, Row: row, Return: !pl.Op.Info().NoReturn}})
	}
	return a, nil
}

// Neighbors reports whether a record is of a neighbourhood collective for which the kernel side did
// not know the numbers of neighbours.
func (d *Decoder) Neighbors(r *bpf.MPIRecord) bool {
	if r.Flags&bpf.MPIUnreadComm == 0 || int(r.Row) >= len(d.rows) {
		return false
	}
	kind := d.rows[r.Row].op.Info().Kind
	return kind == mpi.NeighborAllgather || kind == mpi.NeighborAlltoall
}

// Event translates a record into ev. ok is false for a row that was never stored. world is not nil
// if the call was the one after which MPI_COMM_WORLD exists.
func (d *Decoder) Event(r *bpf.MPIRecord, ev *event.Event) (world *World, ok bool) {
	if int(r.Row) >= len(d.rows) || d.rows[r.Row].constants == nil {
		return nil, false
	}
	row := &d.rows[r.Row]
	raw := mpi.Raw{
		Args: mpi.Args{Send: r.Send, Recv: r.Recv, Size: r.Np, In: r.In, Rank: r.Rank,
			Peer: r.Peer, Peer2: r.Peer2, Tag: r.Tag, Comm: r.Comm},
		Own: r.Own,
	}
	for _, f := range []struct {
		record uint16
		flag   mpi.ArgFlag
		unread mpi.Unread
	}{
		{bpf.MPIInter, mpi.Inter, 0}, {bpf.MPIStarted, mpi.Started, 0},
		{bpf.MPIUnreadSend, 0, mpi.UnreadSend}, {bpf.MPIUnreadRecv, 0, mpi.UnreadRecv}, {bpf.MPIUnreadComm, 0, mpi.UnreadComm},
	} {
		if r.Flags&f.record != 0 {
			raw.Flags |= f.flag
			raw.Unread |= f.unread
		}
	}
	if r.Flags&bpf.MPIInPlaceSend != 0 {
		raw.SendBuf = row.constants.InPlace
	}
	if r.Flags&bpf.MPIInPlaceRecv != 0 {
		raw.RecvBuf = row.constants.InPlace
	}
	*ev = event.Event{
		Time: r.Time, PID: r.Pid, TID: r.Tid, Construct: event.MPI, Edge: event.Released,
		Lost: r.Lost, SP: r.Sp, Site: r.Site,
		MPI: &event.MPICall{Op: row.op, Start: r.Start, Args: row.op.Args(&raw, row.constants)},
	}
	if row.birth {
		ev.MPI.Made = r.Own
	}
	if row.flags&bpf.MPIMatched != 0 {
		ev.MPI.More = d.more(r, row, ev.MPI)
	}
	if _, makes := row.op.Info().Makes(); makes {
		ev.MPI.New = madeBy(r, ev.MPI)
	}
	if r.Flags&bpf.MPIStarted == 0 {
		ev.Probe = row.probe
	}
	if r.Flags&bpf.MPIUnfinished != 0 {
		ev.Edge = event.Enter
	}
	if !row.begins || r.Flags&bpf.MPIUnfinished != 0 {
		return nil, true
	}
	ev.MPI.Size, ev.MPI.Rank, ev.MPI.Comm = 0, 0, 0
	if r.Np < 0 || r.Rank < 0 {
		return &World{Rank: -1, Level: int(r.Tag)}, true
	}
	return &World{Rank: int(r.Rank), Size: int(r.Np), Level: int(r.Tag), Handle: r.Comm}, true
}

// madeBy takes what a call has made out of its arguments. It is nil if the call did not end.
func madeBy(r *bpf.MPIRecord, c *event.MPICall) *event.MPINew {
	c.Size, c.Rank, c.In, c.Flags = 0, 0, 0, c.Flags&^mpi.Inter
	if r.Flags&bpf.MPIUnfinished != 0 {
		return nil
	}
	n := &event.MPINew{Made: r.Time, Decides: r.Tag, Inter: r.Flags&bpf.MPIInter != 0}
	if r.Np > 0 {
		n.Size, n.Rank = r.Np, r.Rank
	}
	return n
}

// Asked reports whether a record is no call, but a request that the thread's next call waits for,
// or what such a request received. The decoder keeps it for that call.
func (d *Decoder) Asked(r *bpf.MPIRecord) bool {
	if r.Flags&bpf.MPIAsked == 0 {
		return false
	}
	if d.asked == nil {
		d.asked = map[uint32]*requests{}
	}
	q := d.asked[r.Tid]
	if q == nil {
		q = &requests{}
		d.asked[r.Tid] = q
	}
	q.add(r)
	return true
}

// requests holds the handles of the requests that a call waits for, and what some of them received.
type requests struct {
	handles []uint64
	came    []event.MPICame
}

func (q *requests) add(r *bpf.MPIRecord) {
	if r.Flags&bpf.MPICame == 0 {
		q.handles = append(q.handles, r.Request)
		return
	}
	if at := slices.Index(q.handles, r.Request); at >= 0 {
		q.came = append(q.came, event.MPICame{At: at, Source: r.Peer, Tag: r.RecvTag})
	}
}

// ofMessage takes the handle of a message: of the one that the call took, or of the one that the
// call receives.
func ofMessage(r *bpf.MPIRecord, c *event.MPICall, x *event.MPIMore) *event.MPIMore {
	handle := r.Birth
	if c.Op.Info().Comm != mpi.None { // MPI_Mprobe, MPI_Improbe
		handle, x.Request = r.Request, 0
		x.Untold = r.Flags&(bpf.MPIUnasked|bpf.MPIUnfinished) != 0
	} else {
		c.Made = 0
	}
	if !x.Untold {
		x.Completes = []uint64{handle}
	}
	return x
}

// more takes what calls of ranks are matched by.
func (d *Decoder) more(r *bpf.MPIRecord, row *decoded, c *event.MPICall) *event.MPIMore {
	x := &event.MPIMore{RecvTag: r.RecvTag, Request: r.Request, Failed: r.Flags&bpf.MPIFailed != 0}
	if !row.birth {
		c.Made = r.Birth
	}
	if row.flags&bpf.MPIGroup != 0 {
		x.Group = r.Own
	}
	if row.op.String() == winLock {
		x.Exclusive, x.RecvTag = x.RecvTag == row.constants.LockExclusive, 0
	}
	if row.flags&bpf.MPIMessage != 0 {
		return ofMessage(r, c, x)
	}
	makes := row.flags&bpf.MPIMakesGroup != 0
	if !match.Waits(row.op) && !makes {
		return x
	}
	x.Request = 0
	asked := d.asked[r.Tid]
	delete(d.asked, r.Tid)
	unfinished := r.Flags&bpf.MPIUnfinished != 0
	if row.flags&(bpf.MPIWaits|bpf.MPIMakesGroup) == 0 || r.Flags&bpf.MPIUnasked != 0 || unfinished || r.Lost > 0 {
		x.Untold = true
	} else if asked != nil {
		x.Completes, x.Came = asked.handles, asked.came
	}
	if makes && !unfinished {
		x.NewGroup = r.Time
	}
	return x
}

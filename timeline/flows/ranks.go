package flows

import (
	"slices"
	"strings"

	"ompp-attach/event"
	"ompp-attach/mpi"
	"ompp-attach/timeline"
)

// call is a send, or a receive, in MPI_COMM_WORLD.
type call struct {
	id       spanID
	peer     int32 // rank, or mpi.AnySource
	tag      int32 // below 0: any, or not known
	bytes    uint64
	known    bool   // bytes is known
	returns  bool   // of a receive: the call returns with its message
	from, to uint64 // CLOCK_MONOTONIC, ns
}

// rank is a process with its point-to-point calls.
type rank struct {
	file         int
	of           *timeline.File
	size         int    // of MPI_COMM_WORLD
	until        uint64 // all calls that began before this time are there (engine's clock, ns)
	sends, recvs []call // by thread, and within a thread by their begins
	// unsure says why nothing can be told of the rank's messages; empty: something can.
	unsure string
	// uses: the rank sends or receives.
	uses bool
}

func newRank(index int, file *timeline.File) *rank {
	r := &rank{file: index, of: file, until: 1<<64 - 1, unsure: incomplete(file, event.SetOf(event.MPI))}
	m := &file.Dictionary.Meta
	if m.MPI == nil || m.MPI.Rank < 0 || m.MPI.Rank >= m.MPI.Size {
		r.unsure = "the process's rank is not known"
		return r
	}
	r.size = m.MPI.Size
	if m.Attached && r.unsure == "" {
		r.unsure = "measurement began after the program"
	}
	for _, left := range m.LeftOut {
		if hidesMessages(left) && r.unsure == "" {
			r.unsure = "calls were left out"
		}
	}
	for _, g := range file.Gaps {
		r.until = min(r.until, g.From)
	}
	if r.until <= file.First() && r.unsure == "" {
		r.unsure = "the begin of the timeline is not there"
	}
	return r
}

// hidesMessages tells whether what the user left out (profile.Meta.LeftOut) may hide calls that
// send or receive.
func hidesMessages(left string) bool {
	left = strings.ToLower(left)
	return left == "mpi" || strings.HasPrefix(left, "mpi_") || strings.HasPrefix(left, "all but ")
}

// take notes a call. It returns the number of sends and receives that were added.
func (r *rank) take(id spanID, s *timeline.Span) (n int) {
	c := &s.Call
	op := c.Op.Info()
	if why := obscure(c.Op, op); why != "" {
		r.doubt(why)
		return 0
	}
	if op.Kind != mpi.PointToPoint {
		return 0
	}
	r.uses = true
	switch {
	case r.unsure != "" || c.Flags&mpi.World == 0 && c.Comm != 0 || s.From >= r.until:
		// Nothing is sure of this rank, or the call has another communicator.
		return 0
	case c.Flags&mpi.World == 0:
		r.doubt("the communicator of a call is not known")
		return 0
	}
	m := c.Op.Messages(&mpi.Args{Send: c.Out, Recv: c.In, Size: c.Size, Rank: c.Rank, Peer: c.Peer, Peer2: c.Peer2, Tag: c.Tag, Comm: c.Comm, Flags: c.Flags})
	at := r.of.Dictionary.Monotonic
	x := call{id: id, known: m.Known, from: at(s.From), to: at(s.To)}
	if m.Sends {
		x.peer, x.tag, x.bytes = m.To, c.Tag, c.Out
		r.sends = append(r.sends, x)
		n++
	}
	if m.Recvs {
		x.peer, x.tag, x.bytes = m.From, c.Tag, c.In
		if op.Peer2 != mpi.None { // the recorded tag is the one that is sent with
			x.tag = -1
		}
		x.returns = op.Request == mpi.None && s.Flags == 0
		r.recvs = append(r.recvs, x)
		n++
	}
	return n
}

// obscure says why it cannot be told what a call sends or receives.
func obscure(o mpi.Op, op *mpi.Operation) string {
	name := o.String()
	switch {
	case op.Kind == mpi.Start || op.Kind == mpi.PointToPoint && op.Persistent:
		return "it uses persistent operations"
	case name == "MPI_Cancel":
		return "it cancels operations"
	case slices.Contains([]string{"MPI_Mprobe", "MPI_Improbe", "MPI_Mrecv", "MPI_Imrecv"}, name):
		return "it takes messages by matched probes"
	}
	return ""
}

// doubt notes why nothing can be told of the rank's messages.
func (r *rank) doubt(why string) {
	if r.uses = true; r.unsure == "" {
		r.unsure = why
	}
	r.sends, r.recvs = nil, nil
}

// alone tells whether one thread made all calls.
func alone(calls []call) bool {
	for i := range calls {
		if calls[i].id.tid != calls[0].id.tid {
			return false
		}
	}
	return true
}

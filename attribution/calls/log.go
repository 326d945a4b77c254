package calls

import (
	"ompp-attach/attribution/mpicall"
	"ompp-attach/attribution/stack"
	"ompp-attach/attribution/tree"
	"ompp-attach/event"
	"ompp-attach/mpi"
	"ompp-attach/mpi/calllog"
	"ompp-attach/mpi/match"
	"ompp-attach/profile"
	"ompp-attach/timeline"
)

// Log records MPI calls one by one, for the waits between ranks. A nil *Log records nothing.
type Log struct {
	*calllog.Recorder
	nodes int32 // number of nodes that were numbered here
}

// NewLog returns a log without calls.
func NewLog() *Log { return &Log{Recorder: calllog.NewRecorder()} }

// record records a call at a leaf region in the log. end is when the call ended by the engine's
// clock.
func (ca *MPI) record(t *stack.Thread, leaf *tree.Node, seat int, ev *event.Event, end uint64) {
	l := ca.Log
	if ev.MPI.Op == cancel {
		l.Cancels = true
	}
	if !match.Wanted(ev.MPI.Op) {
		return
	}
	if leaf.Number == 0 && ca.Spans == nil { // otherwise a timeline has numbered it
		l.nodes++
		leaf.Number = l.nodes
	}
	c := matched(&ca.Comms, ev.MPI)
	c.End = max(end, c.Start)
	l.Add(t.Tid, calllog.Site{Node: int(leaf.Number), Thread: seat}, &c)
}

var (
	cancel, _     = mpi.ParseOp("MPI_Cancel")
	windowFree, _ = mpi.ParseOp("MPI_Win_free")
)

// Lost notes that records of a thread were lost after a time.
func (l *Log) Lost(since uint64) {
	if l != nil {
		l.Lose(since)
	}
}

// matched returns an MPI call as package match takes it.
func matched(cs *mpicall.Comms, c *event.MPICall) match.Call {
	m := c.Op.Messages(&c.Args)
	v := c.Op.Volume(&c.Args, mpi.Minimal)
	info := c.Op.Info()
	out := match.Call{Op: c.Op, Start: c.Start, Comm: -1, To: mpi.NoPeer, From: mpi.NoPeer, SendTag: c.Tag, RecvTag: c.Tag,
		Later: match.Begins(c.Op)}
	switch {
	case match.IsCollective(c.Op):
		out.Sends, out.Receives, out.Unknown = v.Out > 0, v.In > 0, c.Flags&mpi.UnknownVolume != 0
		if info.Root {
			out.To = c.Peer
		}
	case m.Sends || m.Recvs:
		out.Sends, out.Receives, out.To, out.From = m.Sends, m.Recvs, m.To, m.From
		if info.Peer2 != mpi.None {
			out.RecvTag = match.AnyTag // unless c.More has the tag
		}
	case match.IsMessage(c.Op):
		out.From = c.Peer // of a probe
	}
	switch {
	case c.Flags&mpi.Inter != 0:
	case info.Handle == mpi.CommHandle, info.Handle == mpi.WinHandle, c.Op == windowFree:
		// MPI_Win_free takes a pointer to the window.
		out.Comm = cs.Of(c)
	}
	switch x := c.More; {
	case x != nil:
		out.Request, out.Completes, out.Untold, out.Failed = x.Request, x.Completes, x.Untold, x.Failed
		for _, m := range x.Came {
			out.Came = append(out.Came, match.Came{At: m.At, From: m.Source, Tag: m.Tag})
		}
		if m.Recvs || !m.Sends && match.IsMessage(c.Op) {
			out.RecvTag = x.RecvTag
		}
	case match.Waits(c.Op):
		out.Untold = true
	}
	if match.IsLock(c.Op) {
		out.To, out.Sends = c.Peer, c.More != nil && c.More.Exclusive
	}
	if match.TakesGroup(c.Op) {
		members, known := cs.Members(c)
		out.Completes, out.Untold = members, !known
	}
	if info.Persistent && c.Flags&mpi.Started == 0 {
		out.Untold = true // it starts nothing
	}
	return out
}

// Tell puts the log into a profile. d translates the engine's nodes and seats to the profile's.
func (l *Log) Tell(p *profile.Profile, d *timeline.Dictionary, stops []event.Stop) {
	if l == nil || l.Calls+l.Left == 0 {
		return
	}
	c := l.Log
	c.Sites = nil
	for _, s := range l.Sites {
		at := calllog.Site{Node: -1, Thread: -1}
		if s.Node < len(d.NodeOf) && s.Thread < len(d.SeatOf) {
			at = calllog.Site{Node: int(d.NodeOf[s.Node]), Thread: int(d.SeatOf[s.Thread])}
		}
		c.Sites = append(c.Sites, at)
	}
	c.Stops = append(c.Stops, stops...)
	p.Calls = &c
}

// logStarted records a persistent operation that MPI_Start or MPI_Startall has started; the event
// of that call comes next. The operation has no call site of its own: waits are charged to the call
// that waits for its request.
func (ca *MPI) logStarted(t *stack.Thread, ev *event.Event) {
	if ca.Log == nil || !match.Wanted(ev.MPI.Op) {
		return
	}
	c := matched(&ca.Comms, ev.MPI)
	c.End = c.Start
	if c.Op.Info().Kind == mpi.Start { // of the operation that it started nothing is known
		c.Later, c.Untold = true, true
	}
	ca.Log.Add(t.Tid, calllog.Site{Node: 0, Thread: t.Seat}, &c)
}

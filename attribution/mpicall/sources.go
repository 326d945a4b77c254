package mpicall

import (
	"slices"

	"ompp-attach/attribution/tree"
	"ompp-attach/event"
	"ompp-attach/mpi"
	"ompp-attach/mpi/match"
	"ompp-attach/profile"
)

// Sources finds out from whom receives from any source received. A nonblocking receive tells the
// source when it is complete, and MPI_Mrecv names its message by a handle that MPI_Mprobe has
// given. If such calls are recorded one by one (event.MPIMore), the messages are charged to their
// senders, at the call that began the receive. The zero value holds no receives.
type Sources struct {
	receives map[uint64]receive // by request
	messages map[uint64]message // by handle
	started  map[uint32]started // by thread, until MPI_Start returns
	// The program cancels requests. Of one that is cancelled a status may tell any source.
	cancels bool
}

// receive is a receive from any source. Its messages are in the traffic of a leaf region.
type receive struct {
	leaf *tree.Node
	seat int
	from profile.Partner // as it stands in the traffic
}

type started struct {
	requests []uint64
	from     []profile.Partner
}

// message is a message that a call has taken.
type message struct {
	comm   int
	source int32
}

var cancel, _ = mpi.ParseOp("MPI_Cancel")

// mostAwaited bounds the receives, messages and started operations that are held. Beyond, they
// stay with any source.
const mostAwaited = 1 << 16

func put[K comparable, V any](m *map[K]V, k K, v V) {
	if *m == nil || len(*m) >= mostAwaited {
		*m = map[K]V{}
	}
	(*m)[k] = v
}

// asks returns how a receive from any source stands in a traffic; ok is false for other calls.
func (cs *Comms) asks(c *event.MPICall) (from profile.Partner, ok bool) {
	m := c.Op.Messages(&c.Args)
	if !m.Recvs || m.From != mpi.AnySource {
		return from, false
	}
	return profile.Partner{Comm: cs.Of(c), Rank: m.From, Exchange: profile.Exchange{Recvs: 1, In: m.In}}, true
}

// Starts notes an operation that a call has started. Its leaf region is known when that returns.
func (s *Sources) Starts(cs *Comms, tid uint32, c *event.MPICall) {
	if c.More == nil || c.More.Request == 0 {
		return
	}
	delete(s.receives, c.More.Request)
	if from, ok := cs.asks(c); ok {
		all := s.started[tid]
		if len(all.requests) < mostAwaited {
			all.requests, all.from = append(all.requests, c.More.Request), append(all.from, from)
		}
		put(&s.started, tid, all)
	}
}

// Called takes a call at a leaf region. Its own messages are in the region's traffic.
func (s *Sources) Called(cs *Comms, tid uint32, leaf *tree.Node, seat int, c *event.MPICall) {
	if all, ok := s.started[tid]; ok {
		delete(s.started, tid)
		for i, request := range all.requests {
			put(&s.receives, request, receive{leaf, seat, all.from[i]})
		}
	}
	x := c.More
	if s.cancels = s.cancels || c.Op == cancel; s.cancels || x == nil {
		return
	}
	info := c.Op.Info()
	ofMessage := slices.Contains([]string{"MPI_Mprobe", "MPI_Improbe", "MPI_Mrecv", "MPI_Mrecv_c", "MPI_Imrecv", "MPI_Imrecv_c"}, info.Name)
	switch {
	case ofMessage && (x.Untold || len(x.Completes) != 1 || x.Completes[0] == 0):
	case ofMessage && info.Comm != mpi.None:
		delete(s.messages, x.Completes[0])
		if c.Peer >= 0 {
			put(&s.messages, x.Completes[0], message{cs.Of(c), c.Peer})
		}
	case ofMessage:
		m, known := s.messages[x.Completes[0]]
		delete(s.messages, x.Completes[0])
		if from, ok := cs.asks(c); ok && known {
			leaf.Stat(seat).Traffic.Move(from, m.comm, m.source)
		}
	case x.Request != 0: // the handle is new, or of another operation
		delete(s.receives, x.Request)
		if from, ok := cs.asks(c); ok {
			put(&s.receives, x.Request, receive{leaf, seat, from})
		}
	}
	s.completed(c.Op, x)
}

// completed takes what a call has completed.
func (s *Sources) completed(op mpi.Op, x *event.MPIMore) {
	for _, m := range x.Came {
		if m.At < 0 || m.At >= len(x.Completes) || m.Source < 0 {
			continue
		}
		if r, ok := s.receives[x.Completes[m.At]]; ok {
			r.leaf.Stat(r.seat).Traffic.Move(r.from, r.from.Comm, m.Source)
		}
	}
	if !match.Waits(op) {
		return
	}
	for _, request := range x.Completes {
		delete(s.receives, request)
	}
}

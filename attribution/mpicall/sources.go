package mpicall

import (
	"cmp"
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
//
// Threads are read one after the other, and one may use a handle that another one was given. So
// steps wait until all calls before them have been read (Settle). The library gives a handle before
// a call returns, and takes it back while a call is under way. So a call that gives a handle counts
// by its end, and one that takes it by its beginning.
type Sources struct {
	receives map[uint64]receive // by request
	messages map[uint64]message // by handle
	started  map[uint32][]step  // by thread, until MPI_Start returns
	later    []step             // since the latest Settle
	waiting  int                // requests and messages in later
	settled  uint64             // steps before this time have been made, or are left out (ns)
	thread   uint32             // the first one that made a step; 0: none did
	several  bool               // others did, too
	// When the program first cancelled a request (ns); 0: it did not. The status of such a request
	// may tell any source. So calls that ended later tell nothing.
	cancelled uint64
}

// receive is a receive from any source. Its messages are in the traffic of a leaf region.
type receive struct {
	leaf *tree.Node
	seat int
	from profile.Partner // as it stands in the traffic
	made uint64          // when its request, or its message's handle, was given (ns)
}

// message is a message that a call has taken.
type message struct {
	comm   int
	source int32
	made   uint64 // ns
}

// step is what a call does with a request, or with the handle of a message.
type step struct {
	at     uint64 // ns
	end    uint64 // of the call (ns)
	kind   stepKind
	handle uint64
	is     receive
	what   message
	known  bool           // is, or what, is known
	more   *event.MPIMore // of completes
}

type stepKind uint8

const (
	begins    stepKind = iota // the handle is a new request
	completes                 // requests are complete
	takes                     // the handle is a new message
	fetches                   // the message is received
)

var cancel, _ = mpi.ParseOp("MPI_Cancel")

// mostAwaited bounds the receives, messages and steps that are held. Beyond, they stay with any
// source.
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
	if c.More == nil || c.More.Request == 0 || len(s.started[tid]) >= mostAwaited {
		return
	}
	from, ok := cs.asks(c)
	put(&s.started, tid, append(s.started[tid], step{at: c.Start, end: c.Start, handle: c.More.Request, is: receive{from: from}, known: ok}))
}

// Called takes a call at a leaf region, which ended at a time (ns). Its own messages are in the
// region's traffic.
func (s *Sources) Called(cs *Comms, tid uint32, leaf *tree.Node, seat int, c *event.MPICall, end uint64) {
	for _, x := range s.started[tid] {
		x.is.leaf, x.is.seat = leaf, seat
		s.add(tid, x)
	}
	delete(s.started, tid)
	if c.Op == cancel && (s.cancelled == 0 || c.Start < s.cancelled) {
		s.cancelled = c.Start
	}
	x := c.More
	if x == nil {
		return
	}
	info := c.Op.Info()
	from, ok := cs.asks(c)
	is := receive{leaf: leaf, seat: seat, from: from}
	switch ofMessage := slices.Contains(ofMessages, info.Name); {
	case ofMessage && (x.Untold || len(x.Completes) != 1 || x.Completes[0] == 0):
	case ofMessage && info.Comm != mpi.None:
		s.add(tid, step{at: end, end: end, kind: takes, handle: x.Completes[0], what: message{comm: cs.Of(c), source: c.Peer}, known: c.Peer >= 0})
	case ofMessage:
		s.add(tid, step{at: c.Start, end: end, kind: fetches, handle: x.Completes[0], is: is, known: ok})
	case x.Request != 0: // the handle is new, or of another operation
		s.add(tid, step{at: end, end: end, handle: x.Request, is: is, known: ok})
	case len(x.Completes) > 0 && match.Waits(c.Op):
		s.add(tid, step{at: c.Start, end: end, kind: completes, more: x})
	}
}

var ofMessages = []string{"MPI_Mprobe", "MPI_Improbe", "MPI_Mrecv", "MPI_Mrecv_c", "MPI_Imrecv", "MPI_Imrecv_c"}

// add notes a step of a thread.
func (s *Sources) add(tid uint32, x step) {
	if s.thread == 0 {
		s.thread = tid
	}
	s.several = s.several || tid != s.thread
	s.later, s.waiting = append(s.later, x), s.waiting+1
	if x.more != nil {
		s.waiting += len(x.more.Completes)
	}
	if s.waiting <= 2*mostAwaited {
		return
	}
	for _, x := range s.later {
		s.settled = max(s.settled, x.at+1)
	}
	s.later, s.waiting, s.receives, s.messages = nil, 0, nil, nil
}

// Settle makes the steps before a time (ns). All calls that ended before it have been read, but for
// some of other threads, which may come so much later (ns).
func (s *Sources) Settle(to, straggling uint64) {
	if s.several && s.waiting <= mostAwaited {
		to -= min(to, straggling)
	}
	slices.SortStableFunc(s.later, func(a, b step) int { return cmp.Compare(a.at, b.at) })
	n := 0
	for ; n < len(s.later) && s.later[n].at < to; n++ {
		s.make(&s.later[n])
		if s.later[n].more != nil {
			s.waiting -= len(s.later[n].more.Completes)
		}
	}
	s.waiting -= n
	s.later = slices.Delete(s.later, 0, n)
	s.settled = max(s.settled, to)
}

// Back says that the program's clock has gone back to a time (ns), since it was stopped meanwhile.
// No call began or ended while it was.
func (s *Sources) Back(to uint64) { s.settled = min(s.settled, to) }

// make makes a step. It may be late, as that of a call which began long ago. Then it takes no
// handle that was given since, and what it gives may have been used.
func (s *Sources) make(x *step) {
	if s.cancelled != 0 && x.end > s.cancelled {
		return
	}
	late := x.at < s.settled
	switch x.kind {
	case begins:
		if r, held := s.receives[x.handle]; held && r.made < x.at {
			delete(s.receives, x.handle)
		}
		if x.is.made = x.at; x.known && !late {
			put(&s.receives, x.handle, x.is)
		}
	case completes:
		s.completed(x)
	case takes:
		if m, held := s.messages[x.handle]; held && m.made < x.at {
			delete(s.messages, x.handle)
		}
		if x.what.made = x.at; x.known && !late {
			put(&s.messages, x.handle, x.what)
		}
	case fetches:
		m, held := s.messages[x.handle]
		if !held || m.made >= x.at {
			return
		}
		delete(s.messages, x.handle)
		if x.known {
			x.is.leaf.Stat(x.is.seat).Traffic.Move(x.is.from, m.comm, m.source)
		}
	}
}

// completed takes what a call has completed.
func (s *Sources) completed(x *step) {
	for _, m := range x.more.Came {
		if m.At < 0 || m.At >= len(x.more.Completes) || m.Source < 0 {
			continue
		}
		if r, ok := s.receives[x.more.Completes[m.At]]; ok && r.made < x.at {
			r.leaf.Stat(r.seat).Traffic.Move(r.from, r.from.Comm, m.Source)
		}
	}
	for _, request := range x.more.Completes {
		if r, ok := s.receives[request]; ok && r.made < x.at {
			delete(s.receives, request)
		}
	}
}

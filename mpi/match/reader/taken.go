package reader

import (
	"ompp-attach/mpi/match"
	"ompp-attach/mpi/match/handles"
)

// MPI_Mprobe waits for a message and takes it, as a receive would at that place in the order. So it
// is the receive for a send, and waits for a late sender. MPI_Mrecv receives the message later: it
// names the message by a handle. A sender that needs its receiver may wait until then. MPI_Improbe
// takes a message if there is one, and never waits.

// handleOf returns the handle of the message that a call takes, or receives; 0: it takes none.
func handleOf(c *match.Call) (handle uint64, told bool) {
	if c.Untold || len(c.Completes) != 1 {
		return 0, false
	}
	return c.Completes[0], true
}

// taken takes a call that takes a message (MPI_Mprobe), or may take one (MPI_Improbe).
func (r *run) taken(k *rank, c *match.Call) {
	handle, told := handleOf(c)
	switch {
	case !told:
		r.mayTake(k, c)
		return
	case handle == 0:
		return
	}
	at := handles.GivenAt(k.log, c)
	r.unfetched(k.messages.Give(handle, nil, at, c.Start))
	if isNobody(c.From) {
		return
	}
	s := &side{rank: k, call: k.call, at: k.place(c), start: c.Start, end: c.End, blocking: true, takes: true}
	k.messages.Name(handle, s, at)
	if c.Op == mprobe {
		s.by = &waiter{rank: k, call: k.call, at: s.at, start: c.Start, end: c.End, open: 1}
		r.pending(k)
	}
	r.post(k, c, s)
}

// mayTake takes a call of which it is not known which message it took.
func (r *run) mayTake(k *rank, c *match.Call) {
	if c.Op == mprobe {
		r.astray(k, c)
	}
	at, own, ok := r.in(k, c)
	if !ok || isNobody(c.From) || r.groups[at].old && !r.counts(k, at) {
		return
	}
	b := r.inbox(at, own)
	r.cleanse(b.group, b, c.Start)
	r.hold(b, &held{key: queueKey{c.From, c.RecvTag}, never: true, start: c.Start})
	b.asked(&side{blocking: c.Op == mprobe, end: c.End})
}

// receiveTaken takes a call that receives a message which was taken.
func (r *run) receiveTaken(k *rank, c *match.Call) {
	handle, told := handleOf(c)
	t, known, gone := k.messages.Take(handle, c.Start)
	r.unfetched(gone)
	if !told || !known {
		why := match.NoRule
		if told && k.log.Attached {
			why = match.OldRequest
		}
		r.result.Receives.Leave(why)
		k.unknown(c, why)
		r.astray(k, c)
		return
	}
	if t == nil { // there is no message, and the handle says so for ever
		k.messages.Give(handle, nil, c.Start, c.Start)
		return
	}
	s := &side{rank: k, call: k.call, at: k.place(c), start: c.Start, end: c.End, blocking: !c.Later, fetches: true}
	switch {
	case !c.Later:
		s.by = &waiter{rank: k, call: k.call, at: s.at, start: c.Start, end: c.End, open: 1}
		r.pending(k)
	case c.Request != 0:
		k.begin(c, s)
	}
	t.fetched = s
	r.fetch(t)
}

// fetch tells the receive of a message that was taken of the message's send, and the send of it.
func (r *run) fetch(t *side) {
	s := t.fetched
	switch {
	case s == nil:
	case t.gone:
		if s.gone, s.why = true, t.why; s.by != nil {
			r.fail(s.by, t.why)
		}
	case t.peer != nil:
		if s.peer = t.peer; s.by != nil {
			r.findWait(s)
		}
		if t.peer.defers {
			t.peer.defers = false
			r.findWait(t.peer)
		}
	}
}

// awaited returns the call for which a rank had to wait: the other side of a message. For a send,
// it is the call that took the message. If the send went on until the message was received, it is
// the receive. nil: the call is not known, or not known yet.
func (r *run) awaited(s *side) *side {
	t := s.peer
	if !s.send || !t.takes || s.buffered {
		return t
	}
	if took, bound := r.seen(s.rank, t.rank, t.end); int64(s.by.end) <= int64(took)-bound {
		return t
	}
	switch {
	case t.left:
		r.fail(s.by, match.NoPartner)
		return nil
	case t.fetched == nil:
		s.defers = true
		return nil
	}
	if at, bound := r.seen(s.rank, t.rank, t.fetched.start); int64(at)-bound < int64(s.by.end) {
		return t.fetched // or it waited for t: findWait makes the bound wide enough
	}
	return t
}

// unfetched notes that a rank receives none of some messages that it has taken.
func (r *run) unfetched(taken []*side) {
	for _, t := range taken {
		if t == nil {
			continue
		}
		t.left = true
		if t.peer != nil && t.peer.defers {
			t.peer.defers = false
			r.findWait(t.peer)
		}
	}
}

// leaveTaken notes that a rank receives none of the messages any more that it has taken.
func (r *run) leaveTaken(k *rank) {
	r.unfetched(k.messages.All())
}

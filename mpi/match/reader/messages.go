package reader

import (
	"ompp-attach/mpi"
	"ompp-attach/mpi/match"
)

// side is a send or a receive.
type side struct {
	rank       *rank
	call       int // number of the call that begins it
	at         match.Place
	start, end uint64
	send       bool
	buffered   bool
	blocking   bool
	probes     bool   // neither: MPI_Probe, which waits for a message and leaves it
	takes      bool   // MPI_Mprobe, which takes a message for fetched
	fetches    bool   // MPI_Mrecv: the message had been taken before
	box        *inbox // of a receive
	// A receive from any source, or of any tag, that may tell later what it received.
	held      *held
	late      bool    // a receive was held
	by        *waiter // the call in which its rank waits for it; nil: none yet
	peer      *side
	gone      bool         // the side will not be matched
	why       match.Reason // if gone: why
	overtakes bool         // of a send: when it was received, an older one still waited

	fetched *side // of one that takes: what receives the message; nil: nothing so far
	left    bool  // of one that takes: nothing will
	defers  bool  // of a send: the call for which it waited is not known yet
}

// inboxKey names the messages to one rank with one communicator.
type inboxKey struct {
	group int
	to    int32
}

// inbox holds the sends to a rank, and its receives, that have no partner yet.
type inbox struct {
	group  *group
	to     int32
	queues map[queueKey]*queue
	most   int // length of queues at which those that are done are taken out
	// Calls that may have taken any message with such a sender and tag (poison).
	taken  map[queueKey]struct{}
	closed bool // there were too many closed queues: none is told apart any more
	// Receives, in the order in which they were posted, that are not placed yet.
	held []*held
	wild map[queueKey]struct{} // of held, those that are not told

	// All messages sent to the rank so far, its receives, and those of them that are complete.
	// latest is when the latest of these was complete (ns).
	sent, receives, complete, latest uint64
}

type queueKey struct{ from, tag int32 }

// matches reports whether a receive that asks for k may take a message of m.
func (k queueKey) matches(m queueKey) bool {
	return (k.from == mpi.AnySource || k.from == m.from) && (k.tag == match.AnyTag || k.tag == m.tag)
}

// queue holds sends, or receives, of one sender and tag that have no partner yet.
type queue struct {
	waiting []*side
	closed  bool
	last    [2]struct { // of the last receive and the last send
		end    uint64
		thread int
	}
}

func (r *run) inbox(group int, to int32) *inbox {
	k := inboxKey{group, to}
	b := r.inboxes[k]
	if b == nil {
		b = &inbox{group: r.groups[group], to: to, queues: map[queueKey]*queue{}, taken: map[queueKey]struct{}{}, wild: map[queueKey]struct{}{}}
		r.inboxes[k] = b
	}
	return b
}

func (r *run) counted(s *side) *match.Count {
	switch {
	case s.send:
		return &r.result.Sends
	case s.probes:
		return &r.result.Probes
	}
	return &r.result.Receives
}

// message takes a call that sends, receives, or both.
func (r *run) message(k *rank, c *match.Call) {
	sends, receives := c.Sends && !isNobody(c.To), c.Receives && !isNobody(c.From)
	w := &waiter{rank: k, call: k.call, at: k.place(c), start: c.Start, end: c.End}
	new := func(send bool) *side {
		s := &side{rank: k, call: k.call, at: w.at, start: c.Start, end: c.End, send: send, buffered: c.Buffered(), blocking: !c.Later}
		if !c.Later {
			s.by = w
			w.open++
		}
		return s
	}
	var out, in *side
	if sends {
		out = new(true)
	}
	if receives {
		in = new(false)
		if !c.Later {
			r.pending(k)
		}
	}
	if c.Later && c.Request != 0 {
		switch {
		case out != nil && in != nil: // MPI_Isendrecv
			k.begin(c, both{out, in})
		case out != nil:
			k.begin(c, out)
		case in != nil:
			k.begin(c, in)
		}
	}
	if in != nil { // the receive first: a rank may send to itself in one call
		r.post(k, c, in)
	}
	if out != nil {
		r.post(k, c, out)
	}
}

// both are the sides of a nonblocking call that sends and receives.
type both struct{ out, in *side }

func (b both) completedBy(r *run, w *waiter) {
	w.open++
	b.out.completedBy(r, w)
	b.in.completedBy(r, w)
}

// post looks for a side's partner.
func (r *run) post(k *rank, c *match.Call, s *side) {
	at, own, ok := r.in(k, c)
	switch {
	case !ok:
		r.drop(s, k.unnamed())
		return
	case r.groups[at].old && !r.counts(k, at):
		r.drop(s, match.OldComm)
		return
	}
	if !s.send {
		r.receive(r.inbox(at, own), c, s)
		return
	}
	if r.groups[at].members[c.To] == nil {
		r.drop(s, match.NoLog)
		return
	}
	b := r.inbox(at, c.To)
	r.cleanse(b.group, b, s.start)
	r.place(b, s, queueKey{own, c.SendTag})
}

// place pairs a side with the first one of a sender and tag that waits, or lets the side wait.
func (r *run) place(b *inbox, s *side, key queueKey) {
	g := b.group
	other := g.members[key.from]
	if s.send {
		other = g.members[b.to]
	}
	switch {
	case other == nil || g.doubted:
		r.drop(s, match.NoLog)
		return
	case !r.comparable(s.rank, other):
		r.drop(s, match.Unaligned)
		return
	case other.log.Cancels || s.rank.log.Cancels:
		r.drop(s, match.Cancelled)
		return
	}
	early, out := r.older(g, match.Route{From: key.from, To: b.to, Tag: key.tag}, s)
	if out {
		return
	}
	if s.send {
		b.sent++
	}
	if b.closed {
		r.drop(s, match.Threads)
		return
	}
	q := r.queue(g, b, key, b.to)
	if !s.probes && q.concurrent(s) {
		r.flush(q, match.Threads)
		q.closed = true
	}
	if s.send && !early {
		r.look(q, s)
	}
	switch {
	case q.closed:
		r.drop(s, match.Threads)
	case early:
		r.drop(s, match.NotYet)
	case s.probes && len(q.waiting) > 0 && q.waiting[0].send:
		r.find(s, q.waiting[0])
	case len(q.waiting) > 0 && q.waiting[0].send != s.send:
		first := q.waiting[0]
		q.waiting = q.waiting[1:]
		r.pair(s, first)
	case b.taking(key):
		r.drop(s, match.Wildcard)
	case other.over:
		r.drop(s, match.NoPartner)
	default:
		if q.waiting = append(q.waiting, s); s.send {
			r.outbox(s.rank, other).add(s)
		}
	}
}

// concurrent reports whether another thread made such a call at the same time, and notes this one.
func (q *queue) concurrent(s *side) bool {
	l := &q.last[0]
	if s.send {
		l = &q.last[1]
	}
	is := l.thread != s.at.Thread && s.start < l.end
	l.thread, l.end = s.at.Thread, max(l.end, s.end)
	return is
}

// flush drops the sends, or receives, that wait in a queue.
func (r *run) flush(q *queue, why match.Reason) {
	for _, s := range q.waiting {
		r.drop(s, why)
	}
	q.waiting = nil
}

// drop notes that a side will not be matched, and why.
func (r *run) drop(s *side, why match.Reason) {
	r.counted(s).Leave(why)
	s.gone, s.why = true, why
	if s.by != nil {
		r.fail(s.by, why)
	}
	r.fetch(s)
}

// pair matches two sides.
func (r *run) pair(a, b *side) {
	a.peer, b.peer = b, a
	for _, s := range []*side{a, b} {
		n := r.counted(s)
		n.Calls, n.Matched = n.Calls+1, n.Matched+1
	}
	out, in := a, b
	if b.send {
		out, in = b, a
	}
	// Receives that are held may take some of the waiting messages first.
	out.overtakes = !in.late && in.rank.held == 0 && r.outbox(out.rank, in.rank).holds(out.start)
	if r.paired != nil {
		r.paired(out.at, in.at)
	}
	for _, s := range []*side{a, b} {
		if s.by != nil {
			r.findWait(s)
		}
	}
	r.fetch(in)
}

// completedBy says in which call the rank waited for a message.
func (s *side) completedBy(r *run, w *waiter) {
	s.by = w
	s.box.got(w.end)
	switch {
	case s.gone:
		r.fail(w, s.why)
	case s.peer != nil:
		r.findWait(s)
	}
}

// findWait finds how long a rank waited for the other side of a message.
func (r *run) findWait(s *side) {
	w, o := s.by, r.awaited(s)
	if o == nil {
		return
	}
	start, bound := r.seen(s.rank, o.rank, o.start)
	l := longest{property: match.LateSender, after: match.LateSenderDone, due: o.at, sent: o.start, from: o.rank, bound: bound}
	l.wait, l.last = int64(start)-int64(w.start), s.begun(o, start, bound, w)
	if s.send {
		l.property, l.after = match.LateReceiver, match.LateReceiverDone
		l.onlyIf(int64(w.end)-int64(start), bound)
		if s.buffered {
			l.wait, l.bound = 0, 0
		}
		l.overtakes = s.overtakes
	} else {
		r.tell(o.rank, o.start, s.rank, w.end)
		if r.checking && s.box != nil && s.box.group.old && int64(w.end)+bound < int64(start) {
			r.backlog.Contrary(o.rank.log.Comms[0].Rank, s.box.to)
		}
		if !s.probes && !s.fetches {
			r.wrongOrder(s.rank, o.rank, w.start, o.start)
		}
	}
	if l.wait > 0 && (o.blocking || !s.send) {
		end, more := r.seen(s.rank, o.rank, o.end)
		l.rest, l.restBound = int64(w.end)-int64(max(end, start)), max(bound, more)
	}
	r.offer(w, l)
}

// endMessages drops the sends and receives that wait for a rank which has no more calls.
func (r *run) endMessages(k *rank) {
	for i, at := range k.comms {
		if at < 0 {
			continue
		}
		own := k.log.Comms[i].Rank
		if b := r.inboxes[inboxKey{at, own}]; b != nil {
			r.giveUp(b)
		}
		for to := range r.groups[at].members {
			b := r.inboxes[inboxKey{at, to}]
			if b == nil {
				continue
			}
			for key, q := range b.queues {
				if len(q.waiting) > 0 && (to == own && q.waiting[0].send || key.from == own && !q.waiting[0].send) {
					r.flush(q, match.NoPartner)
				}
			}
		}
	}
}

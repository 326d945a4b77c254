package messages

import (
	"ompp-attach/mpi"
	"ompp-attach/mpi/match"
	"ompp-attach/mpi/match/ranks"
)

// inbox holds the sends to a rank, and its receives, that have no partner yet.
type inbox struct {
	group  *ranks.Group
	to     int32
	queues map[queueKey]*queue
	most   int // number of queues at which empty ones are taken out
	// taken has the keys of calls that may have taken any message that the key matches
	// (line.poison).
	taken  map[queueKey]struct{}
	closed bool // too many queues were closed: tags are no longer told apart
	// held are receives, in the order in which they were posted, that have no place in a queue yet.
	held []*held
	wild map[queueKey]struct{} // keys of held receives that have not told their message

	// Counts so far: messages sent to the rank, its receives, and those of its receives that are
	// complete. latest is when the last one of these was complete (ns).
	sent, receives, complete, latest uint64
}

const mostTaken = 4096 // of inbox.taken

// take notes that a call may have taken any message that k matches. It returns the noted key, which
// is more general than k if there are too many keys.
func (b *inbox) take(k queueKey) queueKey {
	if len(b.taken) >= mostTaken {
		k = queueKey{mpi.AnySource, match.AnyTag}
		clear(b.taken)
	}
	b.taken[k] = struct{}{}
	return k
}

// taking reports whether a call may have taken any message that k matches.
func (b *inbox) taking(k queueKey) bool { return covered(b.taken, k) }

// asked notes a receive.
func (b *inbox) asked(s *side) {
	s.box = b
	if b.receives++; s.blocking {
		b.got(s.End)
	}
}

// got notes that a receive was complete at a time (ns). b may be nil.
func (b *inbox) got(at uint64) {
	if b != nil {
		b.complete, b.latest = b.complete+1, max(b.latest, at)
	}
}

// inboxKey names the messages to one rank with one communicator.
type inboxKey struct {
	group *ranks.Group
	to    int32
}

// boxes holds the inboxes and outboxes of all ranks.
type boxes struct {
	*pairs
	older    older
	inboxes  map[inboxKey]*inbox
	outboxes map[[2]*ranks.Rank]*outbox // by sender and receiver
	held     []int                      // by rank: receives in its inboxes that are held
}

// inbox returns the inbox of a group's member.
func (x *boxes) inbox(g *ranks.Group, to int32) *inbox {
	k := inboxKey{g, to}
	b := x.inboxes[k]
	if b == nil {
		b = &inbox{group: g, to: to, queues: map[queueKey]*queue{}, taken: map[queueKey]struct{}{}, wild: map[queueKey]struct{}{}}
		x.inboxes[k] = b
	}
	return b
}

func (x *boxes) outbox(from, to *ranks.Rank) *outbox {
	k := [2]*ranks.Rank{from, to}
	o := x.outboxes[k]
	if o == nil {
		o = &outbox{}
		x.outboxes[k] = o
	}
	return o
}

// place pairs a side with the first waiting side of the same sender and tag. If there is none, the
// side waits.
func (x *boxes) place(b *inbox, s *side, key queueKey) {
	other := b.group.Members[key.from]
	if s.send {
		other = b.group.Members[b.to]
	}
	if why, is := x.unmatched(b, s, other); is {
		x.drop(s, why)
		return
	}
	early, why, out := x.older.of(b.group, match.Route{From: key.from, To: b.to, Tag: key.tag}, s)
	if out {
		x.drop(s, why)
		return
	}
	if s.send {
		b.sent++
	}
	if b.closed {
		x.drop(s, match.Threads)
		return
	}
	q := x.queue(b, key)
	if !s.probes && q.concurrent(s) {
		x.flush(q, match.Threads)
		q.closed = true
	}
	if s.send && !early {
		x.look(q, s)
	}
	switch {
	case q.closed:
		x.drop(s, match.Threads)
	case early:
		x.drop(s, match.NotYet)
	case s.probes && len(q.waiting) > 0 && q.waiting[0].send:
		x.find(s, q.waiting[0])
	case len(q.waiting) > 0 && q.waiting[0].send != s.send:
		first := q.waiting[0]
		q.waiting = q.waiting[1:]
		x.pair(s, first)
	case b.taking(key):
		x.drop(s, match.Wildcard)
	case other.Over:
		x.drop(s, match.NoPartner)
	default:
		if q.waiting = append(q.waiting, s); s.send {
			x.outbox(s.Rank, other).add(s)
		}
	}
}

// unmatched says whether, and why, messages between the rank of a side and another rank are not
// matched at all.
func (x *boxes) unmatched(b *inbox, s *side, other *ranks.Rank) (why match.Reason, is bool) {
	switch {
	case other == nil || b.group.Doubted:
		return match.NoLog, true
	case !x.clocks.Comparable(s.Rank, other):
		return match.Unaligned, true
	case other.Log.Cancels || s.Rank.Log.Cancels:
		return match.Cancelled, true
	}
	return 0, false
}

// pair matches two sides.
func (x *boxes) pair(a, b *side) {
	a.peer, b.peer = b, a
	out, in := a, b
	if b.send {
		out, in = b, a
	}
	// A held receive may take an older message first: then nothing is known of overtaking.
	out.overtakes = x.held[in.Rank.Index] == 0 && x.outbox(out.Rank, in.Rank).holds(out.Start)
	x.matched(a, b)
}

// look lets the probes at the front of a queue find a send. The send stays for a receive.
func (x *boxes) look(q *queue, send *side) {
	for len(q.waiting) > 0 && q.waiting[0].probes {
		s := q.waiting[0]
		q.waiting = q.waiting[1:]
		x.find(s, send)
	}
}

// flush drops the sends, or receives, that wait in a queue.
func (x *boxes) flush(q *queue, why match.Reason) {
	for _, s := range q.waiting {
		x.drop(s, why)
	}
	q.waiting = nil
}

// cleanse empties taken if no message can be left that such calls may have taken. This is so if as
// many receives were complete by the given time (ns) as messages had been sent. Then each receive
// has taken one message, and it does not matter which one.
func (x *boxes) cleanse(b *inbox, at uint64) {
	if len(b.taken) == 0 || b.sent != b.receives || b.receives != b.complete || b.latest > at || !countable(b.group) {
		return
	}
	clear(b.taken)
	for _, q := range b.queues {
		x.flush(q, match.Wildcard)
	}
}

// countable reports whether all messages in the group are known, and the order of their times, too.
func countable(g *ranks.Group) bool {
	if g.Doubted || g.Old || len(g.Members) != int(g.Size) {
		return false
	}
	host := ""
	for _, k := range g.Members {
		if host == "" {
			host = k.Log.Host
		}
		if k.Log.Host != host || k.Log.Cancels || k.Log.Until != 0 {
			return false
		}
	}
	return true
}

// end drops the sends and receives that wait for a rank which has no more calls. own is the rank's
// number in the group.
func (x *boxes) end(g *ranks.Group, own int32) {
	for to := range g.Members {
		b := x.inboxes[inboxKey{g, to}]
		if b == nil {
			continue
		}
		for key, q := range b.queues {
			if len(q.waiting) > 0 && (to == own && q.waiting[0].send || key.from == own && !q.waiting[0].send) {
				x.flush(q, match.NoPartner)
			}
		}
	}
}

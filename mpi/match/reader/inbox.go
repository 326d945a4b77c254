package reader

import (
	"ompp-attach/mpi"
	"ompp-attach/mpi/match"
)

// Programs may use each tag once. So queues that are done are taken out, and the number of the
// other queues is bounded. Beyond the bound an inbox no longer tells tags apart, and its messages
// are left out.
const (
	fewQueues  = 64
	mostClosed = 4096 // closed queues of an inbox
	mostTaken  = 4096 // of inbox.taken
)

// queue returns the queue of a sender and tag in the inbox of a group's member.
func (r *run) queue(g *group, b *inbox, k queueKey, to int32) *queue {
	q := b.queues[k]
	if q != nil {
		return q
	}
	if len(b.queues) >= max(fewQueues, b.most) {
		r.sweep(g, b, to)
		b.most = 2 * len(b.queues)
	}
	q = &queue{}
	b.queues[k] = q
	return q
}

// sweep takes out the queues in which nothing waits, and of which no later call can be concurrent
// with an earlier one. Calls of a rank come in the order of their beginnings, but for receives that
// were held.
func (r *run) sweep(g *group, b *inbox, to int32) {
	closed := 0
	for k, q := range b.queues {
		receiver, sender := g.members[to], g.members[k.from]
		switch {
		case q.closed:
			closed++
		case len(q.waiting) == 0 && !covered(b.wild, k) && receiver != nil && sender != nil && q.last[0].end <= receiver.now && q.last[1].end <= sender.now:
			delete(b.queues, k)
		}
	}
	if closed <= mostClosed {
		return
	}
	b.closed = true
	for k, q := range b.queues {
		r.flush(q, match.Threads)
		delete(b.queues, k)
	}
}

// take notes that a call may have taken any message that k matches. It returns the key that is
// noted: a more general one if there are too many keys.
func (b *inbox) take(k queueKey) queueKey {
	if len(b.taken) >= mostTaken {
		k = queueKey{mpi.AnySource, match.AnyTag}
		clear(b.taken)
	}
	b.taken[k] = struct{}{}
	return k
}

// taking reports whether a call may have taken any message that k matches.
func (b *inbox) taking(k queueKey) bool {
	return covered(b.taken, k)
}

// asked notes a receive.
func (b *inbox) asked(s *side) {
	s.box = b
	if b.receives++; s.blocking {
		b.got(s.end)
	}
}

// got notes that a receive was complete at a time (ns). b may be nil.
func (b *inbox) got(at uint64) {
	if b != nil {
		b.complete, b.latest = b.complete+1, max(b.latest, at)
	}
}

// cleanse forgets which messages may have been taken, if by a time (ns) as many receives were
// complete as messages had been sent: each receive has taken one. So none of the messages is left,
// whichever receive took it.
func (r *run) cleanse(g *group, b *inbox, at uint64) {
	if len(b.taken) == 0 || b.sent != b.receives || b.receives != b.complete || b.latest > at || !g.countable() {
		return
	}
	clear(b.taken)
	for _, q := range b.queues {
		r.flush(q, match.Wildcard)
	}
}

// countable reports whether all messages in the group are known, with the order of their times.
func (g *group) countable() bool {
	if g.doubted || g.old || len(g.members) != int(g.size) {
		return false
	}
	host := ""
	for _, k := range g.members {
		if host == "" {
			host = k.log.Host
		}
		if k.log.Host != host || k.log.Cancels || k.log.Until != 0 {
			return false
		}
	}
	return true
}

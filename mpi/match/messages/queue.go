package messages

import (
	"ompp-attach/mpi"
	"ompp-attach/mpi/match"
)

// Programs may use each tag only once. So empty queues are taken out, and the number of the other
// queues is bounded. Beyond the bound, an inbox no longer tells tags apart, and its messages are
// left out.
const (
	fewQueues  = 64
	mostClosed = 4096 // closed queues of an inbox
)

// queueKey names messages to a rank by sender and tag, or what a receive asks for.
type queueKey struct{ from, tag int32 }

// matches reports whether a receive that asks for k may take a message of m.
func (k queueKey) matches(m queueKey) bool {
	return (k.from == mpi.AnySource || k.from == m.from) && (k.tag == match.AnyTag || k.tag == m.tag)
}

// wildcard reports whether a key does not name one sender and one tag.
func (k queueKey) wildcard() bool { return !partner(k.from) || k.tag == match.AnyTag }

// covered reports whether a set has the key k, or a more general one.
func covered[V any](set map[queueKey]V, k queueKey) bool {
	if len(set) == 0 {
		return false
	}
	for _, t := range [...]queueKey{k, {mpi.AnySource, k.tag}, {k.from, match.AnyTag}, {mpi.AnySource, match.AnyTag}} {
		if _, ok := set[t]; ok {
			return true
		}
	}
	return false
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

// concurrent reports whether another thread made a call of the same kind at the same time. It notes
// this call, too.
func (q *queue) concurrent(s *side) bool {
	l := &q.last[0]
	if s.send {
		l = &q.last[1]
	}
	is := l.thread != s.At.Thread && s.Start < l.end
	l.thread, l.end = s.At.Thread, max(l.end, s.End)
	return is
}

// queue returns the queue of a sender and tag in an inbox.
func (x *boxes) queue(b *inbox, k queueKey) *queue {
	q := b.queues[k]
	if q != nil {
		return q
	}
	if len(b.queues) >= max(fewQueues, b.most) {
		x.sweep(b)
		b.most = 2 * len(b.queues)
	}
	q = &queue{}
	b.queues[k] = q
	return q
}

// sweep takes out empty queues for which no later call can be concurrent with an earlier one. Calls
// of a rank come in the order of their beginnings, except receives that were held.
func (x *boxes) sweep(b *inbox) {
	closed := 0
	for k, q := range b.queues {
		receiver, sender := b.group.Members[b.to], b.group.Members[k.from]
		switch {
		case q.closed:
			closed++
		case len(q.waiting) == 0 && !covered(b.wild, k) && receiver != nil && sender != nil && q.last[0].end <= receiver.Now && q.last[1].end <= sender.Now:
			delete(b.queues, k)
		}
	}
	if closed <= mostClosed {
		return
	}
	b.closed = true
	for k, q := range b.queues {
		x.flush(q, match.Threads)
		delete(b.queues, k)
	}
}

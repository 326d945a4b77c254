package match

import "ompp-attach/mpi"

// Programs may use each tag once. So queues that are done are taken out, and what remains of other
// tags is bounded: where there is more, an inbox no longer tells tags apart, and its messages are
// left out.
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
// with an earlier one. Calls of a rank come in the order of their beginnings.
func (r *run) sweep(g *group, b *inbox, to int32) {
	closed := 0
	for k, q := range b.queues {
		receiver, sender := g.members[to], g.members[k.from]
		switch {
		case q.closed:
			closed++
		case len(q.waiting) == 0 && receiver != nil && sender != nil && q.last[0].end <= receiver.now && q.last[1].end <= sender.now:
			delete(b.queues, k)
		}
	}
	if closed <= mostClosed {
		return
	}
	b.closed = true
	for k, q := range b.queues {
		r.flush(q, Threads)
		delete(b.queues, k)
	}
}

// take notes that a call may have taken any message that k matches. It returns what is noted, which
// is more if there is too much to be told apart.
func (b *inbox) take(k queueKey) queueKey {
	if len(b.taken) >= mostTaken {
		k = queueKey{mpi.AnySource, AnyTag}
		clear(b.taken)
	}
	b.taken[k] = struct{}{}
	return k
}

// taking reports whether a call may have taken any message that k matches.
func (b *inbox) taking(k queueKey) bool {
	for _, t := range [...]queueKey{k, {mpi.AnySource, k.tag}, {k.from, AnyTag}, {mpi.AnySource, AnyTag}} {
		if _, ok := b.taken[t]; ok {
			return true
		}
	}
	return false
}

package reader

import (
	"ompp-attach/mpi"
	"ompp-attach/mpi/match"
	"ompp-attach/mpi/match/handles"
)

// A nonblocking receive from any source, or of any tag, tells what it received when it is complete.
// Until then it is held, at its place in the order of receives. Receives that were posted later and
// may take the same messages are held behind it. If more than mostHeld are held, no held receive
// tells any more.
const mostHeld = 4096

// held is a receive that waits until an earlier receive tells what it took, or a call that took a
// message without telling which one.
type held struct {
	key   queueKey // what it asks for; once it is told, what it received
	told  bool     // key names one sender and one tag
	never bool     // it will not be told
	side  *side    // nil: not a receive, but a call that may have taken a message
	start uint64
}

// wildcard reports whether a key does not name one sender and one tag.
func (k queueKey) wildcard() bool { return !partner(k.from) || k.tag == match.AnyTag }

// covered reports whether a key of a set is the same as k, or more general.
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

// receive takes a receive of the rank to which an inbox belongs.
func (r *run) receive(b *inbox, c *match.Call, s *side) {
	key := queueKey{c.From, c.RecvTag}
	told := !key.wildcard()
	r.cleanse(b.group, b, s.start)
	b.asked(s)
	if told && !covered(b.wild, key) {
		r.place(b, s, key)
		return
	}
	h := &held{key: key, told: told, never: !told && (s.blocking || c.Request == 0), side: s, start: s.start}
	if !told && !h.never {
		s.held = h
	}
	r.hold(b, h)
}

// hold puts a receive at the end of those that are held.
func (r *run) hold(b *inbox, h *held) {
	if len(b.held) == 0 && h.never {
		r.poison(b, h)
		return
	}
	h.keep(b)
	b.held = append(b.held, h)
	if h.side != nil {
		h.side.rank.held++
	}
	if len(b.held) <= mostHeld {
		return
	}
	for _, h := range b.held {
		h.never = !h.told
	}
	r.goOn(b)
}

// keep notes which messages later receives must not take yet.
func (h *held) keep(b *inbox) {
	if !h.told {
		b.wild[h.key] = struct{}{}
	}
}

// came says what a receive that is held received. Without m it will not be told.
func (s *side) came(m *match.Came) {
	h := s.held
	if h == nil || h.told || h.never {
		return
	}
	if m != nil && h.key.matches(queueKey{m.From, m.Tag}) && partner(m.From) && m.Tag != match.AnyTag {
		h.key, h.told = queueKey{m.From, m.Tag}, true
		return
	}
	h.never = true
}

// goOn takes up those receives of an inbox that need not wait any more, in the order in which they
// were posted.
func (r *run) goOn(b *inbox) {
	all := b.held
	b.held = all[:0]
	clear(b.wild)
	for i, h := range all {
		all[i] = nil
		switch {
		case h.told && !covered(b.wild, h.key), h.never && len(b.held) == 0:
		default:
			b.held = append(b.held, h)
			h.keep(b)
			continue
		}
		if h.told {
			h.side.late = true
			r.place(b, h.side, h.key)
		} else {
			r.poison(b, h)
		}
		if h.side != nil {
			h.side.rank.held--
		}
	}
}

// poison notes a call that may have taken any message that its key matches. It is not known which
// message the call took. Receives that were begun before stay in order.
func (r *run) poison(b *inbox, h *held) {
	r.cleanse(b.group, b, h.start)
	if r.counting && b.group.old {
		r.backlog.Vague(b.to)
	}
	if !b.taking(h.key) { // otherwise no such message waits
		any := b.take(h.key)
		for key, q := range b.queues {
			if any.matches(key) && len(q.waiting) > 0 && q.waiting[0].send {
				r.flush(q, match.Wildcard)
			}
		}
	}
	if h.side != nil {
		r.drop(h.side, match.Wildcard)
	}
}

// receiver returns the receive of an operation; nil: it has none.
func receiver(op operation) *side {
	switch op := op.(type) {
	case *side:
		if !op.send {
			return op
		}
	case both:
		return op.in
	}
	return nil
}

// renew notes that a call makes, or starts, a request. Its handle may be that of an earlier one.
func (r *run) renew(k *rank, c *match.Call) {
	r.untold(k.requests.Give(c.Request, nil, handles.GivenAt(k.log, c), c.Start))
}

// begin says which operation the request is of that a call makes.
func (k *rank) begin(c *match.Call, op operation) {
	k.requests.Name(c.Request, op, handles.GivenAt(k.log, c))
}

// untold takes operations that no call waits for any more: tests completed them, and did not tell
// what came.
func (r *run) untold(ops []operation) {
	for _, op := range ops {
		if s := receiver(op); s != nil && s.held != nil {
			s.came(nil)
			r.goOn(s.box)
		}
	}
}

// arrived takes what the operations received that a call completes. ops are the operations of
// c.Completes, at the same indexes; nil: there is none.
func (r *run) arrived(c *match.Call, ops []operation) {
	told := c.Came
	var boxes []*inbox
	for at, op := range ops {
		var m *match.Came
		for len(told) > 0 && told[0].At <= at {
			if told[0].At == at {
				m = &told[0]
			}
			told = told[1:]
		}
		if s := receiver(op); s != nil && s.held != nil {
			s.came(m)
			if len(boxes) == 0 || boxes[len(boxes)-1] != s.box {
				boxes = append(boxes, s.box)
			}
		}
	}
	for _, b := range boxes {
		r.goOn(b)
	}
}

// giveUp notes that no receive of an inbox will tell any more what it received.
func (r *run) giveUp(b *inbox) {
	for _, h := range b.held {
		h.never = h.never || !h.told
	}
	r.goOn(b)
}

package messages

import "ompp-attach/mpi/match"

// A nonblocking receive from any source, or of any tag, tells which message it received when it is
// complete. Until then the receive is held, at its place in the order of receives. Later receives
// that may take the same messages are held behind it. If more than mostHeld are held, those that
// have not told yet count as if they never told.
const mostHeld = 4096

// held is a receive without a place so far: this receive, or an earlier one, has not told which
// message it took. It can also be a call that took a message without telling which one.
type held struct {
	key   queueKey // what the receive asks for; once it has told, the message that it received
	told  bool     // key names one sender and one tag
	never bool     // it will never tell
	side  *side    // nil: not a receive, but a call that may have taken a message
	start uint64
}

// keep notes the messages that later receives must not take yet.
func (h *held) keep(b *inbox) {
	if !h.told {
		b.wild[h.key] = struct{}{}
	}
}

// came says which message a held receive received. nil: the receive will never tell.
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

// line lets receives into their inboxes in the order in which they were posted.
type line struct{ *boxes }

// receive takes a receive of the rank that the inbox belongs to.
func (r line) receive(b *inbox, c *match.Call, s *side) {
	key := queueKey{c.From, c.RecvTag}
	told := !key.wildcard()
	r.cleanse(b, s.Start)
	b.asked(s)
	if told && !covered(b.wild, key) {
		r.place(b, s, key)
		return
	}
	h := &held{key: key, told: told, never: !told && (s.blocking || c.Request == 0), side: s, start: s.Start}
	if !told && !h.never {
		s.held = h
	}
	r.hold(b, h)
}

// hold puts a receive at the end of the held ones.
func (r line) hold(b *inbox, h *held) {
	if len(b.held) == 0 && h.never {
		r.poison(b, h)
		return
	}
	h.keep(b)
	b.held = append(b.held, h)
	if h.side != nil {
		r.held[h.side.Rank.Index]++
	}
	if len(b.held) <= mostHeld {
		return
	}
	for _, h := range b.held {
		h.never = !h.told
	}
	r.goOn(b)
}

// goOn lets in those held receives of an inbox that need not wait any more, in the order in which
// they were posted.
func (r line) goOn(b *inbox) {
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
			r.place(b, h.side, h.key)
		} else {
			r.poison(b, h)
		}
		if h.side != nil {
			r.held[h.side.Rank.Index]--
		}
	}
}

// poison notes a call that may have taken any message that its key matches, but does not tell which
// one. Receives that were begun before it stay in order.
func (r line) poison(b *inbox, h *held) {
	r.cleanse(b, h.start)
	if r.older.counting && b.group.Old {
		r.older.backlog.Vague(match.Route{From: h.key.from, To: b.to, Tag: h.key.tag})
	}
	if !b.taking(h.key) { // otherwise the queues hold no such message
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

// giveUp notes that no held receive of an inbox will tell its message any more.
func (r line) giveUp(b *inbox) {
	for _, h := range b.held {
		h.never = h.never || !h.told
	}
	r.goOn(b)
}

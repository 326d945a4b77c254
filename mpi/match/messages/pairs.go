package messages

import (
	"ompp-attach/mpi/match"
	"ompp-attach/mpi/match/ranks"
	"ompp-attach/mpi/match/waits"
)

// pairs finds the waits of the two sides of a message, once both are known.
type pairs struct {
	clocks  *ranks.Clocks
	ledger  *waits.Ledger
	counts  *Counts
	tell    func(send, receive match.Place) // nil: not wanted
	checked *match.Backlog                  // gets messages that contradict it; nil: not wanted
}

// Counts says how many sends, receives and calls of MPI_Probe were matched.
type Counts struct{ Sends, Receives, Probes match.Count }

func (n *Counts) of(s *side) *match.Count {
	switch {
	case s.send:
		return &n.Sends
	case s.probes:
		return &n.Probes
	}
	return &n.Receives
}

// drop notes that a side will not be matched, and why.
func (p *pairs) drop(s *side, why match.Reason) {
	p.counts.of(s).Leave(why)
	s.gone, s.why = true, why
	if s.by != nil {
		p.ledger.Fail(s.by, why)
	}
	p.fetch(s)
}

// matched takes the two sides of a message. Each is the other's peer already.
func (p *pairs) matched(a, b *side) {
	for _, s := range [...]*side{a, b} {
		p.counts.of(s).Match(1)
	}
	out, in := a, b
	if b.send {
		out, in = b, a
	}
	if p.tell != nil {
		p.tell(out.At, in.At)
	}
	for _, s := range [...]*side{a, b} {
		if s.by != nil {
			p.findWait(s)
		}
	}
	p.fetch(in)
}

// find matches a probe with the send that it found.
func (p *pairs) find(s, send *side) {
	s.peer = send
	p.counts.of(s).Match(1)
	p.findWait(s)
}

// findWait finds how long a rank waited for the other side of a message.
func (p *pairs) findWait(s *side) {
	w, o := s.by, p.awaited(s)
	if o == nil {
		return
	}
	start, bound := p.clocks.Seen(s.Rank, o.Rank, o.Start)
	l := waits.One{Property: match.LateSender, After: match.LateSenderDone, Due: o.At, Sent: o.Start, From: o.Rank, Bound: bound}
	l.Wait, l.Last = int64(start)-int64(w.Start), s.begun(o, start, bound)
	if s.send {
		l.Property, l.After = match.LateReceiver, match.LateReceiverDone
		l.OnlyIf(int64(w.End)-int64(start), bound)
		if s.buffered {
			l.Wait, l.Bound = 0, 0
		}
		l.Overtakes = s.overtakes
	} else {
		p.clocks.Tell(o.Rank, o.Start, s.Rank, w.End)
		if p.checked != nil && s.box != nil && s.box.group.Old && int64(w.End)+bound < int64(start) {
			p.checked.Contrary(o.Rank.Log.Comms[0].Rank, s.box.to)
		}
		if !s.probes && !s.fetches {
			p.ledger.WrongOrder(s.Rank, o.Rank, w.Start, o.Start)
		}
	}
	if l.Wait > 0 && (o.blocking || !s.send) {
		end, more := p.clocks.Seen(s.Rank, o.Rank, o.End)
		l.Rest, l.RestBound = int64(w.End)-int64(max(end, start)), max(bound, more)
	}
	p.ledger.Offer(w, l)
}

// begun returns the event that let the rank's side of a message go on: the other side o began. at
// is the time of this event by the clock of the rank.
func (s *side) begun(o *side, at uint64, bound int64) match.Origin {
	if s.send && (s.buffered || int64(at) >= int64(s.by.End)) {
		return match.Origin{} // the send went on before
	}
	return match.Origin{Rank: o.Rank.Index, Call: o.Call, At: at, Bound: bound}
}

// awaited returns the side for which a rank had to wait. For a receive, this is the send. For a
// send it is the call that took the message (MPI_Mprobe), or the receive if the send lasted until
// the message was received. nil: the side is not known, or not known yet.
func (p *pairs) awaited(s *side) *side {
	t := s.peer
	if !s.send || !t.takes || s.buffered {
		return t
	}
	if took, bound := p.clocks.Seen(s.Rank, t.Rank, t.End); int64(s.by.End) <= int64(took)-bound {
		return t
	}
	switch {
	case t.left:
		p.ledger.Fail(s.by, match.NoPartner)
		return nil
	case t.fetched == nil:
		s.defers = true
		return nil
	}
	if at, bound := p.clocks.Seen(s.Rank, t.Rank, t.fetched.Start); int64(at)-bound < int64(s.by.End) {
		return t.fetched // or the send waited for t; findWait makes the bound wide enough for both
	}
	return t
}

// fetch joins a message that was taken (t) with the call that receives it: the receive learns of
// the send, and the send of the receive.
func (p *pairs) fetch(t *side) {
	s := t.fetched
	switch {
	case s == nil:
	case t.gone:
		if s.gone, s.why = true, t.why; s.by != nil {
			p.ledger.Fail(s.by, t.why)
		}
	case t.peer != nil:
		if s.peer = t.peer; s.by != nil {
			p.findWait(s)
		}
		p.undefer(t.peer)
	}
}

// undefer finds the wait of a send, which could not be found before the receiving call was known.
func (p *pairs) undefer(send *side) {
	if send.defers {
		send.defers = false
		p.findWait(send)
	}
}

// unfetched notes that a rank will not receive these messages, which it has taken.
func (p *pairs) unfetched(taken []*side) {
	for _, t := range taken {
		if t == nil {
			continue
		}
		t.left = true
		if t.peer != nil {
			p.undefer(t.peer)
		}
	}
}

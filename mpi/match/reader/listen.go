package reader

import (
	"ompp-attach/mpi/match"
	"ompp-attach/mpi/match/pattern"
)

// RunWith is RunAcross, and tells l of the calls.
func RunWith(logs []*match.RankCalls, clocks match.Clocks, l match.Listener) *match.Result {
	return (&run{waits: sums{}, clocks: clocks, listener: l}).all(logs)
}

// took tells of a rank's next call.
func (r *run) took(k *rank, c *match.Call) {
	k.call++
	if r.listener != nil {
		r.listener.Took(k.index, c)
	}
}

// pending tells that a call waits for another rank's.
func (r *run) pending(k *rank) {
	if r.listener != nil {
		r.listener.Pending(k.index, k.call)
	}
}

// astray tells that it is not known for what the latest call of a rank waited, if it waited.
func (r *run) astray(k *rank, c *match.Call) {
	if r.listener != nil && !c.Later {
		r.listener.Known(k.index, k.call, match.Origin{Unknown: true})
	}
}

// known tells for what a call waited.
func (r *run) known(w *waiter) {
	if r.listener == nil {
		return
	}
	last := w.last
	switch {
	case w.dead:
		last = match.Origin{Unknown: true}
	case last.At <= w.start:
		last = match.Origin{}
	}
	r.listener.Known(w.rank.index, w.call, last)
}

// entered is the origin that a moment names.
func (o moment) entered() match.Origin {
	if o.of == nil {
		return match.Origin{}
	}
	return match.Origin{Rank: o.of.rank.index, Call: o.of.call, At: o.at, Bound: o.bound, Unsure: o.unsure}
}

// begun returns the moment from which on a message could come, or go on: the call o of its other
// side.
func (s *side) begun(o *side, at uint64, bound int64, w *waiter) match.Origin {
	if s.send && (s.buffered || int64(at) >= int64(w.end)) {
		return match.Origin{} // it went on before
	}
	return match.Origin{Rank: o.rank.index, Call: o.call, At: at, Bound: bound}
}

// awaited returns the last event that a member's call in an instance had to wait for.
func (m *member) awaited(r *run) match.Origin {
	i := m.of
	switch i.pattern {
	case pattern.Barrier:
		return i.seenBy(r, m.rank).latest.entered()
	case pattern.AllToAll:
		if v := i.seenBy(r, m.rank); m.needs(v.latest.of) {
			return v.latest.entered()
		}
	case pattern.Prefix:
		if m.receives && !m.unknown {
			return r.pick(m.rank, i.latestUpTo(m), 1, entering).entered()
		}
		return match.Origin{}
	case pattern.Beginning, pattern.Ending, pattern.Fencing, pattern.Creating, pattern.Freeing, pattern.SomeToSome:
		if v := i.seenBy(r, m.rank); !i.later && v.left.at >= v.latest.at {
			return v.latest.entered()
		}
		return match.Origin{}
	}
	var needed []*member
	for at := range i.camps {
		if o := i.camps[at].neededBy(m); o != nil {
			needed = append(needed, o)
		}
	}
	return r.pick(m.rank, needed, 1, entering).entered()
}

// together tells of an instance that no rank of the job left before the last one had come.
func (r *run) together(i *instance) {
	if r.listener == nil || len(i.members) != len(r.ranks) || i.later {
		return
	}
	v := i.seenBy(r, r.ranks[0])
	switch i.pattern {
	case pattern.Barrier:
	case pattern.AllToAll:
		for _, m := range i.members {
			if !m.sends || !m.receives || m.unknown {
				return
			}
		}
	case pattern.Beginning, pattern.Ending, pattern.Fencing, pattern.Creating, pattern.Freeing, pattern.SomeToSome:
		if int64(v.left.at)-v.left.bound < int64(v.latest.at)+v.latest.bound {
			return
		}
	default:
		return
	}
	calls := make([]int, len(r.ranks))
	for _, m := range i.members {
		calls[m.rank.index] = m.call
	}
	r.listener.Together(calls, v.latest.entered())
}

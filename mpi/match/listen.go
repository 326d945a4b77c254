package match

// Listener is told of the calls of ranks while they are matched. Ranks are named by the index of
// their logs. Calls of a rank are numbered from 0, by their beginnings.
type Listener interface {
	// Took tells a rank's next call. c is valid until Took returns.
	Took(rank int, c *Call)
	// Pending tells that a call waits for others. Known follows once they are known.
	Pending(rank, call int)
	// Known tells for what a call had to wait.
	Known(rank, call int, last Origin)
	// Together tells that no rank left its call, given by rank, before the last rank had come to
	// its own.
	Together(calls []int, last Origin)
}

// Origin is the last one of the events for which a call had to wait: a rank entered a call.
type Origin struct {
	Rank, Call int
	// When, by the clock of the rank that waited (ns); 0: the call waited for nobody.
	At      uint64
	Bound   int64 // how wrong At may be, as clocks of machines were compared (ns)
	Unsure  bool  // another event may have been the last one, within Bound
	Unknown bool  // it is not known for what the call waited
}

// RunWith is RunAcross, and tells l of the calls.
func RunWith(logs []*RankCalls, clocks Clocks, l Listener) *Result {
	return (&run{waits: sums{}, clocks: clocks, listener: l}).all(logs)
}

// took tells of a rank's next call.
func (r *run) took(k *rank, c *Call) {
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
func (r *run) astray(k *rank, c *Call) {
	if r.listener != nil && !c.Later {
		r.listener.Known(k.index, k.call, Origin{Unknown: true})
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
		last = Origin{Unknown: true}
	case last.At <= w.start:
		last = Origin{}
	}
	r.listener.Known(w.rank.index, w.call, last)
}

// entered is the origin that a moment names.
func (o moment) entered() Origin {
	if o.of == nil {
		return Origin{}
	}
	return Origin{Rank: o.of.rank.index, Call: o.of.call, At: o.at, Bound: o.bound, Unsure: o.unsure}
}

// begun returns the moment from which on a message could come, or go on: the call o of its other
// side.
func (s *side) begun(o *side, at uint64, bound int64, w *waiter) Origin {
	if s.send && (s.buffered || int64(at) >= int64(w.end)) {
		return Origin{} // it went on before
	}
	return Origin{Rank: o.rank.index, Call: o.call, At: at, Bound: bound}
}

// awaited returns the last event that a member's call in an instance had to wait for.
func (m *member) awaited(r *run) Origin {
	i := m.of
	switch i.pattern {
	case barrier:
		return i.seenBy(r, m.rank).latest.entered()
	case allToAll:
		if v := i.seenBy(r, m.rank); m.needs(v.latest.of) {
			return v.latest.entered()
		}
	case prefix:
		if m.receives && !m.unknown {
			return r.pick(m.rank, i.latestUpTo(m), 1, entering).entered()
		}
		return Origin{}
	case beginning, ending, fencing, creating, freeing, someToSome:
		if v := i.seenBy(r, m.rank); !i.later && v.left.at >= v.latest.at {
			return v.latest.entered()
		}
		return Origin{}
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
	case barrier:
	case allToAll:
		for _, m := range i.members {
			if !m.sends || !m.receives || m.unknown {
				return
			}
		}
	case beginning, ending, fencing, creating, freeing, someToSome:
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

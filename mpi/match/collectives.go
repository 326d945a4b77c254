package match

import (
	"cmp"
	"slices"
)

// group is a communicator.
type group struct {
	size    int32
	members map[int32]*rank
	doubted bool // two ranks claim to be one member
	judged  bool // partial is known
	partial bool // some member has no log
	placed  bool // near is known
	near    bool // all members ran on one machine
	apart   bool // the clocks of some members' machines cannot be compared
	next    map[int32]uint64
	open    map[uint64]*instance
	limit   uint64 // instances from this one on lack a member
	from    uint64 // and so do those before this one: a member was not attached to yet
	old     bool   // it was there before a member was attached to
	lost    bool   // it is not known with which instance a member's log begins
	// prepared is how many requests of persistent collective operations each member has made.
	prepared map[int32]int
	broken   bool // members called different operations
}

func (g *group) join(own int32, k *rank) {
	if g.members[own] != nil && g.members[own] != k {
		g.doubted = true
	}
	g.members[own] = k
}

// begin notes with which instance a member's log begins.
func (g *group) begin(own int32, s Start) {
	g.next[own], g.from = s.First, max(g.from, s.First)
	g.lost = g.lost || !s.Known
}

// lacks reports whether, and why, the group's operations cannot be matched.
func (g *group) lacks(r *run) (why Reason, lacks bool) {
	if !g.judged {
		g.judged, g.partial = true, g.doubted || len(g.members) != int(g.size)
		g.apart = r.apart(g)
	}
	if g.partial {
		return NoLog, true
	}
	if g.lost {
		return NoOrder, true
	}
	return Unaligned, g.apart
}

// instance is one execution of a collective operation by the members of a communicator.
type instance struct {
	pattern pattern
	root    int32
	members []*member

	// The fields below are set when all members have come (complete).
	whole  bool
	camps  []camp
	rooted *member // the root; nil: there is none
	later  bool    // some members' calls are nonblocking, so it is not known when these left
	views  []view
}

// member is one rank's call in an instance.
type member struct {
	of         *instance
	rank       *rank
	call       int   // number of the call that begins it
	in         int32 // rank in the communicator
	at         Place
	start, end uint64
	later      bool
	sends      bool
	receives   bool
	unknown    bool
	by         *waiter // the call in which the rank waits for the operation; nil: none yet
	gone       bool    // the call will not be matched
	why        Reason  // if gone: why
}

// collective takes a call of a collective operation.
func (r *run) collective(k *rank, c *Call, p pattern) {
	at, own, ok := r.in(k, c)
	switch p {
	case beginning:
		at, own, ok = k.start, int32(k.log.Rank), k.start >= 0
	case ending:
		at, own, ok = k.end, int32(k.log.Rank), k.end >= 0
	}
	why := k.unnamed()
	if ok && c.Op.Info().Persistent {
		at, why, ok = k.started(c)
	}
	if !ok {
		r.result.Collectives.leave(why)
		k.unknown(c, why)
		r.astray(k, c)
		return
	}
	g := r.groups[at]
	number := g.next[own]
	g.next[own]++
	m := &member{rank: k, call: k.call, in: own, at: k.place(c), start: c.Start, end: c.End, later: c.Later, sends: c.Sends, receives: c.Receives, unknown: c.Unknown}
	if c.Later && c.Request != 0 {
		k.begin(c, m)
	}
	if !c.Later {
		m.by = &waiter{rank: k, call: k.call, at: m.at, start: c.Start, end: c.End, open: 1}
		r.pending(k)
	}
	why, lacks := g.lacks(r)
	switch {
	case lacks:
		r.dropMember(m, why)
	case g.broken:
		r.dropMember(m, Contrary)
	case number < g.from:
		r.dropMember(m, NotYet)
	case number >= g.limit:
		r.dropMember(m, NoPartner)
	default:
		r.join(g, number, m, p, c.To)
	}
}

// join adds a call to its instance.
func (r *run) join(g *group, number uint64, m *member, p pattern, root int32) {
	i := g.open[number]
	if i == nil {
		i = &instance{pattern: p, root: root}
		g.open[number] = i
	}
	m.of = i
	i.members = append(i.members, m)
	if i.pattern != p || p.rooted() && i.root != root {
		g.broken = true
		for n, i := range g.open {
			r.dropInstance(i, Contrary)
			delete(g.open, n)
		}
		return
	}
	if len(i.members) < int(g.size) {
		return
	}
	delete(g.open, number)
	r.result.Collectives.Calls += uint64(g.size)
	r.result.Collectives.Matched += uint64(g.size)
	i.complete()
	r.tellAll(i)
	for _, m := range i.members {
		if m.by != nil {
			r.offer(m.by, m.told(r))
		}
	}
	r.together(i)
}

// complete sets the fields that need all members.
func (i *instance) complete() {
	slices.SortFunc(i.members, func(a, b *member) int { return cmp.Compare(a.in, b.in) })
	i.whole = true
	for _, m := range i.members {
		i.camp(m).add(m)
		if m.in == i.root {
			i.rooted = m
		}
		i.later = i.later || m.later
	}
}

func (p pattern) rooted() bool { return p == oneToAll || p == allToOne }

func (r *run) dropInstance(i *instance, why Reason) {
	for _, m := range i.members {
		r.dropMember(m, why)
	}
}

func (r *run) dropMember(m *member, why Reason) {
	r.result.Collectives.leave(why)
	m.gone, m.why = true, why
	if m.by != nil {
		r.fail(m.by, why)
	}
}

// completedBy says in which call the rank waited for a nonblocking operation.
func (m *member) completedBy(r *run, w *waiter) {
	m.by = w
	switch {
	case m.gone:
		r.fail(w, m.why)
	case m.of.whole:
		r.tellOne(m)
		r.offer(w, m.told(r))
	}
}

// told returns the wait, and names the event that the call had to wait for if somebody listens.
func (m *member) told(r *run) longest {
	l := m.wait(r)
	if r.listener != nil {
		l.last = m.awaited(r)
	}
	return l
}

// wait returns how long a member waited for others.
func (m *member) wait(r *run) (l longest) {
	switch m.of.pattern {
	case barrier:
		return m.forAll(r, WaitAtBarrier, BarrierCompletion)
	case beginning:
		return m.together(r, WaitAtInit, InitCompletion)
	case ending:
		return m.together(r, WaitAtFinalize, WaitAtFinalize)
	case fencing:
		return m.together(r, WaitAtFence, WaitAtFence)
	case someToSome:
		if m.receives && !m.unknown {
			return m.together(r, WaitAtNxN, NxNCompletion)
		}
		return l
	case creating:
		return m.together(r, WaitAtCreate, WaitAtCreate)
	case freeing:
		return m.together(r, WaitAtFree, WaitAtFree)
	case allToAll:
		if m.unknown || !m.receives {
			return l
		}
		if l = m.forAll(r, WaitAtNxN, NxNCompletion); !m.sends {
			l.rest = 0
		}
		return l
	case oneToAll:
		l.property = LateBroadcast
		if root := m.of.rooted; root != nil && root != m && m.receives && !m.unknown {
			l.since(m, r.pick(m.rank, []*member{root}, 1, entering))
		}
	case allToOne:
		l.property = EarlyReduce
		if m.in == m.of.root && m.receives && !m.unknown {
			l.since(m, r.pick(m.rank, m.of.firstBut(m), -1, entering))
		}
	case prefix:
		l.property = EarlyScan
		l.since(m, r.pick(m.rank, m.of.latestUpTo(m), 1, entering))
	}
	l.after = l.property
	return l
}

// since sets the wait: a member waited until the moment o at which another one began.
func (l *longest) since(m *member, o moment) {
	if o.of != nil {
		l.wait, l.bound, l.due, l.unsure = int64(o.at)-int64(m.by.start), o.bound, o.of.at, o.unsure
	}
}

// forAll returns the wait for the last of all members.
func (m *member) forAll(r *run, wait, rest Property) longest {
	v := m.of.seenBy(r, m.rank)
	l := longest{property: wait, after: rest}
	l.since(m, v.latest)
	if !m.of.later {
		l.rest, l.restBound = int64(m.end)-int64(max(v.left.at, v.latest.at)), max(v.left.bound, v.latest.bound)
	}
	return l
}

// together is forAll for operations that need not wait for all members. If one member left before
// the last one came, nobody is known to have waited.
func (m *member) together(r *run, wait, rest Property) longest {
	l := m.forAll(r, wait, rest)
	if m.of.later {
		l.wait = 0
	} else {
		v := m.of.seenBy(r, m.rank)
		l.onlyIf(int64(v.left.at)-int64(v.latest.at), v.left.bound+v.latest.bound)
	}
	if rest == wait { // the operation has no property of its completion
		l.rest = 0
	}
	return l
}

// endCollectives drops the instances that still lack a call of a rank which has no more calls.
func (r *run) endCollectives(k *rank) {
	for _, at := range slices.Concat([]int{k.start, k.end}, k.comms, k.persistent) {
		if at < 0 {
			continue
		}
		g := r.groups[at]
		for own, o := range g.members {
			if o == k {
				g.limit = min(g.limit, g.next[own])
			}
		}
		for n, i := range g.open {
			if n >= g.limit {
				r.dropInstance(i, NoPartner)
				delete(g.open, n)
			}
		}
	}
}

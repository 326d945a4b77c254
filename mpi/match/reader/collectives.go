package reader

import (
	"cmp"
	"slices"

	"ompp-attach/mpi/match"
	"ompp-attach/mpi/match/pattern"
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
func (g *group) begin(own int32, s match.Start) {
	g.next[own], g.from = s.First, max(g.from, s.First)
	g.lost = g.lost || !s.Known
}

// lacks reports whether, and why, the group's operations cannot be matched.
func (g *group) lacks(r *run) (why match.Reason, lacks bool) {
	if !g.judged {
		g.judged, g.partial = true, g.doubted || len(g.members) != int(g.size)
		g.apart = r.apart(g)
	}
	if g.partial {
		return match.NoLog, true
	}
	if g.lost {
		return match.NoOrder, true
	}
	return match.Unaligned, g.apart
}

// instance is one execution of a collective operation by the members of a communicator.
type instance struct {
	pattern pattern.Pattern
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
	at         match.Place
	start, end uint64
	later      bool
	sends      bool
	receives   bool
	unknown    bool
	by         *waiter      // the call in which the rank waits for the operation; nil: none yet
	gone       bool         // the call will not be matched
	why        match.Reason // if gone: why
}

// collective takes a call of a collective operation.
func (r *run) collective(k *rank, c *match.Call, p pattern.Pattern) {
	at, own, ok := r.in(k, c)
	switch p {
	case pattern.Beginning:
		at, own, ok = k.start, int32(k.log.Rank), k.start >= 0
	case pattern.Ending:
		at, own, ok = k.end, int32(k.log.Rank), k.end >= 0
	}
	why := k.unnamed()
	if ok && c.Op.Info().Persistent {
		at, why, ok = k.started(c)
	}
	if !ok {
		r.result.Collectives.Leave(why)
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
		r.dropMember(m, match.Contrary)
	case number < g.from:
		r.dropMember(m, match.NotYet)
	case number >= g.limit:
		r.dropMember(m, match.NoPartner)
	default:
		r.join(g, number, m, p, c.To)
	}
}

// join adds a call to its instance.
func (r *run) join(g *group, number uint64, m *member, p pattern.Pattern, root int32) {
	i := g.open[number]
	if i == nil {
		i = &instance{pattern: p, root: root}
		g.open[number] = i
	}
	m.of = i
	i.members = append(i.members, m)
	if i.pattern != p || p.Rooted() && i.root != root {
		g.broken = true
		for n, i := range g.open {
			r.dropInstance(i, match.Contrary)
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

func (r *run) dropInstance(i *instance, why match.Reason) {
	for _, m := range i.members {
		r.dropMember(m, why)
	}
}

func (r *run) dropMember(m *member, why match.Reason) {
	r.result.Collectives.Leave(why)
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
	case pattern.Barrier:
		return m.forAll(r, match.WaitAtBarrier, match.BarrierCompletion)
	case pattern.Beginning:
		return m.together(r, match.WaitAtInit, match.InitCompletion)
	case pattern.Ending:
		return m.together(r, match.WaitAtFinalize, match.WaitAtFinalize)
	case pattern.Fencing:
		return m.together(r, match.WaitAtFence, match.WaitAtFence)
	case pattern.SomeToSome:
		if m.receives && !m.unknown {
			return m.together(r, match.WaitAtNxN, match.NxNCompletion)
		}
		return l
	case pattern.Creating:
		return m.together(r, match.WaitAtCreate, match.WaitAtCreate)
	case pattern.Freeing:
		return m.together(r, match.WaitAtFree, match.WaitAtFree)
	case pattern.AllToAll:
		if m.unknown || !m.receives {
			return l
		}
		if l = m.forAll(r, match.WaitAtNxN, match.NxNCompletion); !m.sends {
			l.rest = 0
		}
		return l
	case pattern.OneToAll:
		l.property = match.LateBroadcast
		if root := m.of.rooted; root != nil && root != m && m.receives && !m.unknown {
			l.since(m, r.pick(m.rank, []*member{root}, 1, entering))
		}
	case pattern.AllToOne:
		l.property = match.EarlyReduce
		if m.in == m.of.root && m.receives && !m.unknown {
			l.since(m, r.pick(m.rank, m.of.firstBut(m), -1, entering))
		}
	case pattern.Prefix:
		l.property = match.EarlyScan
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
func (m *member) forAll(r *run, wait, rest match.Property) longest {
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
func (m *member) together(r *run, wait, rest match.Property) longest {
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
				r.dropInstance(i, match.NoPartner)
				delete(g.open, n)
			}
		}
	}
}

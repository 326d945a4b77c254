package collectives

import (
	"slices"

	"ompp-attach/mpi/match"
	"ompp-attach/mpi/match/pattern"
	"ompp-attach/mpi/match/ranks"
	"ompp-attach/mpi/match/waits"
)

// Room matches the calls of collective operations.
type Room struct {
	Count      match.Count
	ranks      []*ranks.Rank
	clocks     *ranks.Clocks
	ledger     *waits.Ledger
	orders     []*order // by group
	persistent []persistent
	requests   map[request]*order // orders of persistent operations
}

// New returns a Room for ranks of which no call has been read yet.
func New(all *ranks.All, clocks *ranks.Clocks, ledger *waits.Ledger) *Room {
	r := &Room{ranks: all.Ranks, clocks: clocks, ledger: ledger, requests: map[request]*order{}}
	for _, g := range all.Groups {
		r.orders = append(r.orders, newOrder(g))
	}
	for _, k := range all.Ranks {
		r.persistent = append(r.persistent, persistent{prepared: map[uint64]*order{}})
		if g := k.World(); g != nil && (k.Log.Attached || k.Log.Start.Known) {
			r.orders[g.Index].begin(k.Log.Comms[0].Rank, k.Log.Start.First)
		}
	}
	return r
}

// orderOf returns the order to which a call belongs, and the caller's number in the communicator.
func (r *Room) orderOf(k *ranks.Rank, c *match.Call, p pattern.Pattern) (o *order, own int32, why match.Reason) {
	g, own, ok := k.In(c)
	switch p {
	case pattern.Beginning:
		g, own, ok = k.Init, int32(k.Log.Rank), k.Init != nil
	case pattern.Ending:
		g, own, ok = k.Finalize, int32(k.Log.Rank), k.Finalize != nil
	}
	switch {
	case !ok:
		return nil, own, k.Unnamed()
	case c.Op.Info().Persistent:
		o, why := r.persistent[k.Index].started(k, c)
		return o, own, why
	}
	return r.orders[g.Index], own, 0
}

// Take takes a call. It returns the operation that the call begins; nil: there is none.
func (r *Room) Take(k *ranks.Rank, c *match.Call, p pattern.Pattern) (begun waits.Operation) {
	o, own, why := r.orderOf(k, c, p)
	if o == nil {
		return r.leave(k, c, why)
	}
	number := o.next[own]
	o.next[own]++
	m := &member{Stay: waits.StayIn(k, c), room: r, in: own, later: c.Later, sends: c.Sends, receives: c.Receives, unknown: c.Unknown}
	if c.Later {
		begun = m
	} else {
		m.by = m.Waiter()
		r.ledger.Pending(k)
	}
	why, lacks := o.group.Lacks(r.clocks)
	switch {
	case lacks:
		r.drop(m, why)
	case o.broken:
		r.drop(m, match.Contrary)
	case number < o.from:
		r.drop(m, match.NotYet)
	case number >= o.limit:
		r.drop(m, match.NoPartner)
	default:
		r.join(o, number, m, p, c.To)
	}
	return begun
}

// NoRule takes a call of an operation for which no rule says who waits for whom. It returns the
// operation that the call begins; nil: there is none.
func (r *Room) NoRule(k *ranks.Rank, c *match.Call) waits.Operation {
	return r.leave(k, c, match.NoRule)
}

// leave notes that a call is not matched, and the reason.
func (r *Room) leave(k *ranks.Rank, c *match.Call, why match.Reason) waits.Operation {
	r.Count.Leave(why)
	r.ledger.Astray(k, c)
	if !c.Later {
		return nil
	}
	return r.ledger.Lost(why)
}

// join adds a call to its instance.
func (r *Room) join(o *order, number uint64, m *member, p pattern.Pattern, root int32) {
	i := o.open[number]
	if i == nil {
		i = &instance{pattern: p, root: root}
		o.open[number] = i
	}
	m.of = i
	i.members = append(i.members, m)
	if i.pattern != p || p.Rooted() && i.root != root {
		o.broken = true
		r.dropFrom(o, 0, match.Contrary)
		return
	}
	if len(i.members) < int(o.group.Size) {
		return
	}
	delete(o.open, number)
	r.Count.Match(uint64(o.group.Size))
	i.complete()
	i.tellAll(r.clocks)
	for _, m := range i.members {
		if m.by != nil {
			r.ledger.Offer(m.by, r.waitOf(m))
		}
	}
	r.together(i)
}

// waitOf returns the wait of a member. If there is a listener, the wait also names the event for
// which the call had to wait.
func (r *Room) waitOf(m *member) waits.One {
	l := m.wait(r.clocks)
	if r.ledger.Listened() {
		l.Last = m.awaited(r.clocks)
	}
	return l
}

// dropFrom drops the open instances of an order, from the given number on.
func (r *Room) dropFrom(o *order, from uint64, why match.Reason) {
	for n, i := range o.open {
		if n < from {
			continue
		}
		for _, m := range i.members {
			r.drop(m, why)
		}
		delete(o.open, n)
	}
}

func (r *Room) drop(m *member, why match.Reason) {
	r.Count.Leave(why)
	m.gone, m.why = true, why
	if m.by != nil {
		r.ledger.Fail(m.by, why)
	}
}

// End drops the instances that still lack a call of a rank which has no more calls.
func (r *Room) End(k *ranks.Rank) {
	for _, g := range slices.Concat([]*ranks.Group{k.Init, k.Finalize}, k.Comms) {
		if g != nil {
			r.end(r.orders[g.Index], k)
		}
	}
	for _, o := range r.persistent[k.Index].orders {
		r.end(o, k)
	}
}

func (r *Room) end(o *order, k *ranks.Rank) {
	o.end(k)
	r.dropFrom(o, o.limit, match.NoPartner)
}

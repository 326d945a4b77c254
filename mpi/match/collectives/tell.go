package collectives

import (
	"ompp-attach/mpi/match"
	"ompp-attach/mpi/match/pattern"
	"ompp-attach/mpi/match/ranks"
	"ompp-attach/mpi/match/waits"
)

// awaited returns the last event that a member's call in an instance had to wait for.
func (m *member) awaited(clocks *ranks.Clocks) match.Origin {
	i := m.of
	switch i.pattern {
	case pattern.Barrier:
		return i.seenBy(clocks, m.Rank).latest.Entered()
	case pattern.AllToAll:
		if v := i.seenBy(clocks, m.Rank); m.needs(i.memberOf(v.latest)) {
			return v.latest.Entered()
		}
	case pattern.Prefix:
		if m.receives && !m.unknown {
			return waits.Last(clocks, m.Rank, i.latestUpTo(m)).Entered()
		}
		return match.Origin{}
	case pattern.Beginning, pattern.Ending, pattern.Fencing, pattern.Creating, pattern.Freeing, pattern.SomeToSome:
		if v := i.seenBy(clocks, m.Rank); !i.later && v.left.At >= v.latest.At {
			return v.latest.Entered()
		}
		return match.Origin{}
	}
	var needed []*waits.Stay
	for at := range i.camps {
		if o := i.camps[at].neededBy(m); o != nil {
			needed = append(needed, &o.Stay)
		}
	}
	return waits.Last(clocks, m.Rank, needed).Entered()
}

// together tells the listener that no rank of the job left an instance before the last rank had
// come.
func (r *Room) together(i *instance) {
	if !r.ledger.Listened() || len(i.members) != len(r.ranks) || i.later {
		return
	}
	v := i.seenBy(r.clocks, r.ranks[0])
	switch i.pattern {
	case pattern.Barrier:
	case pattern.AllToAll:
		for _, m := range i.members {
			if !m.sends || !m.receives || m.unknown {
				return
			}
		}
	case pattern.Beginning, pattern.Ending, pattern.Fencing, pattern.Creating, pattern.Freeing, pattern.SomeToSome:
		if int64(v.left.At)-v.left.Bound < int64(v.latest.At)+v.latest.Bound {
			return
		}
	default:
		return
	}
	calls := make([]int, len(r.ranks))
	for _, m := range i.members {
		calls[m.Rank.Index] = m.Call
	}
	r.ledger.Together(calls, v.latest.Entered())
}

// memberOf returns the member that a moment of all members names.
func (i *instance) memberOf(o waits.Moment) *member {
	for at := range i.camps {
		if m := i.camps[at].latest; &m.Stay == o.Of {
			return m
		}
	}
	return nil
}

// tellAll tells the orders of events that follow from an instance, for the members that have left
// so far.
func (i *instance) tellAll(clocks *ranks.Clocks) {
	if !clocks.Tells() || len(i.camps) < 2 {
		return
	}
	hub := i.hub()
	for at := range i.camps {
		if c := &i.camps[at]; c != hub {
			tellFirst(clocks, c, hub)
			tellFirst(clocks, hub, c)
		}
	}
}

// tellFirst notes one order of events on two machines. Of the members on machine to, it takes the
// one that left first. This member cannot have left before those members on machine from had come
// that it needs. The last of these gives the order.
func tellFirst(clocks *ranks.Clocks, from, to *camp) {
	var first, last *member
	for _, m := range to.members {
		if m.by == nil || first != nil && m.by.End >= first.by.End {
			continue
		}
		if o := from.neededBy(m); o != nil {
			first, last = m, o
		}
	}
	if first != nil {
		clocks.Tell(last.Rank, last.Start, first.Rank, first.by.End)
	}
}

// tellOne tells the orders that follow from one member, once the member has waited for its
// nonblocking operation.
func (m *member) tellOne(clocks *ranks.Clocks) {
	if !clocks.Tells() || len(m.of.camps) < 2 {
		return
	}
	hub, own := m.of.hub(), m.of.camp(m)
	for at := range m.of.camps {
		c := &m.of.camps[at]
		if c == own || c != hub && own != hub {
			continue
		}
		if o := c.neededBy(m); o != nil {
			clocks.Tell(o.Rank, o.Start, m.Rank, m.by.End)
		}
	}
}

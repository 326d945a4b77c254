package collectives

import (
	"cmp"
	"slices"

	"ompp-attach/mpi/match"
	"ompp-attach/mpi/match/pattern"
	"ompp-attach/mpi/match/ranks"
	"ompp-attach/mpi/match/waits"
)

// instance is one execution of a collective operation by the members of a communicator.
type instance struct {
	pattern pattern.Pattern
	root    int32
	members []*member

	// The fields below are set when all members have come (complete).
	whole  bool
	camps  []camp
	rooted *member // the root; nil: there is none
	later  bool    // some members' calls are nonblocking: it is not known when these members left
	views  []view
}

// member is one rank's call in an instance.
type member struct {
	waits.Stay
	of       *instance // nil: it was dropped before
	room     *Room
	in       int32 // rank in the communicator
	later    bool
	sends    bool
	receives bool
	unknown  bool
	by       *waits.Waiter // the call in which the rank waits for the operation; nil: none yet
	gone     bool          // the call will not be matched
	why      match.Reason  // if gone: why
}

// CompletedBy says in which call the rank waited for a nonblocking operation.
func (m *member) CompletedBy(w *waits.Waiter) {
	m.by = w
	switch {
	case m.gone:
		m.room.ledger.Fail(w, m.why)
	case m.of.whole:
		m.tellOne(m.room.clocks)
		m.room.ledger.Offer(w, m.room.waitOf(m))
	}
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

// wait returns how long a member waited for others.
func (m *member) wait(clocks *ranks.Clocks) (l waits.One) {
	switch m.of.pattern {
	case pattern.Barrier:
		return m.forAll(clocks, match.WaitAtBarrier, match.BarrierCompletion)
	case pattern.Beginning:
		return m.together(clocks, match.WaitAtInit, match.InitCompletion)
	case pattern.Ending:
		return m.together(clocks, match.WaitAtFinalize, match.WaitAtFinalize)
	case pattern.Fencing:
		return m.together(clocks, match.WaitAtFence, match.WaitAtFence)
	case pattern.SomeToSome:
		if m.receives && !m.unknown {
			return m.together(clocks, match.WaitAtNxN, match.NxNCompletion)
		}
		return l
	case pattern.Creating:
		return m.together(clocks, match.WaitAtCreate, match.WaitAtCreate)
	case pattern.Freeing:
		return m.together(clocks, match.WaitAtFree, match.WaitAtFree)
	case pattern.AllToAll:
		if m.unknown || !m.receives {
			return l
		}
		if l = m.forAll(clocks, match.WaitAtNxN, match.NxNCompletion); !m.sends {
			l.Rest = 0
		}
		return l
	case pattern.OneToAll:
		l.Property = match.LateBroadcast
		if root := m.of.rooted; root != nil && root != m && m.receives && !m.unknown {
			l.Since(m.by.Start, waits.Last(clocks, m.Rank, []*waits.Stay{&root.Stay}))
		}
	case pattern.AllToOne:
		l.Property = match.EarlyReduce
		if m.in == m.of.root && m.receives && !m.unknown {
			l.Since(m.by.Start, waits.First(clocks, m.Rank, m.of.firstBut(m), waits.Entering))
		}
	case pattern.Prefix:
		l.Property = match.EarlyScan
		l.Since(m.by.Start, waits.Last(clocks, m.Rank, m.of.latestUpTo(m)))
	}
	l.After = l.Property
	return l
}

// forAll returns the wait for the last of all members.
func (m *member) forAll(clocks *ranks.Clocks, wait, rest match.Property) waits.One {
	v := m.of.seenBy(clocks, m.Rank)
	l := waits.One{Property: wait, After: rest}
	l.Since(m.by.Start, v.latest)
	if !m.of.later {
		l.Rest, l.RestBound = int64(m.End)-int64(max(v.left.At, v.latest.At)), max(v.left.Bound, v.latest.Bound)
	}
	return l
}

// together is forAll for operations in which ranks need not wait for all members. If some member
// left before the last one came, it is not known that anybody waited.
func (m *member) together(clocks *ranks.Clocks, wait, rest match.Property) waits.One {
	l := m.forAll(clocks, wait, rest)
	if m.of.later {
		l.Wait = 0
	} else {
		v := m.of.seenBy(clocks, m.Rank)
		l.OnlyIf(int64(v.left.At)-int64(v.latest.At), v.left.Bound+v.latest.Bound)
	}
	if rest == wait { // the operation has no property for its completion
		l.Rest = 0
	}
	return l
}

package messages

import (
	"ompp-attach/mpi/match"
	"ompp-attach/mpi/match/ranks"
	"ompp-attach/mpi/match/waits"
)

// MPI_Probe waits until there is a message that the next receive with the same source and tag would
// take. It does not take the message. So the probe has a place in the order of receives, and the
// send stays for a receive.

// unplaced is a rank's latest probe before it gets its place. The rank's next call tells whether
// another thread was in MPI during the probe: that thread may have received the message.
type unplaced struct {
	side  *side
	group *ranks.Group
	own   int32 // the rank in the group
	key   queueKey
}

// Probe takes MPI_Probe.
func (r *Room) Probe(k *ranks.Rank, c *match.Call) {
	if isNobody(c.From) {
		return
	}
	s := &side{Stay: waits.StayIn(k, c), pairs: r.pairs, probes: true, blocking: true}
	s.by = s.Waiter()
	s.by.Probes = true
	r.ledger.Pending(k)
	key := queueKey{c.From, c.RecvTag}
	g, own, ok := k.In(c)
	switch {
	case !ok:
		r.drop(s, k.Unnamed())
	case g.Old && !r.older.counts(k, g):
		r.drop(s, match.OldComm)
	case key.wildcard():
		r.drop(s, match.Wildcard)
	case k.Busy > c.Start:
		r.drop(s, match.Threads)
	default:
		r.ranks[k.Index].probe = &unplaced{s, g, own, key}
	}
}

// Next gives a rank's latest probe its place. c is the rank's next call; nil: there is none.
func (r *Room) Next(k *ranks.Rank, c *match.Call) {
	p := r.ranks[k.Index].probe
	if p == nil {
		return
	}
	r.ranks[k.Index].probe = nil
	if c != nil && c.Start < p.side.End {
		r.drop(p.side, match.Threads)
		return
	}
	b := r.inbox(p.group, p.own)
	r.cleanse(b, p.side.Start)
	if covered(b.wild, p.key) {
		r.hold(b, &held{key: p.key, told: true, side: p.side, start: p.side.Start})
		return
	}
	r.place(b, p.side, p.key)
}

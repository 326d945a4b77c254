package reader

import "ompp-attach/mpi/match"

// MPI_Probe waits until there is a message that the next receive from that source, with that tag,
// would take. It takes none. So it stands in the order of receives,
// and the send stays for a receive.

// unplaced is a rank's latest probe, until the rank's next call tells whether another thread was in
// MPI meanwhile. That thread may have received the message.
type unplaced struct {
	side  *side
	group int
	own   int32 // the rank in the group
	key   queueKey
}

// probing takes a probe.
func (r *run) probing(k *rank, c *match.Call) {
	if isNobody(c.From) {
		return
	}
	s := &side{rank: k, call: k.call, at: k.place(c), start: c.Start, end: c.End, probes: true, blocking: true}
	s.by = &waiter{rank: k, call: k.call, at: s.at, start: c.Start, end: c.End, open: 1, probes: true}
	r.pending(k)
	key := queueKey{c.From, c.RecvTag}
	at, own, ok := r.in(k, c)
	switch {
	case !ok:
		r.drop(s, k.unnamed())
	case r.groups[at].old && !r.counts(k, at):
		r.drop(s, match.OldComm)
	case key.wildcard():
		r.drop(s, match.Wildcard)
	case k.busy > c.Start:
		r.drop(s, match.Threads)
	default:
		k.probe = &unplaced{s, at, own, key}
	}
}

// probed places a rank's latest probe. c is the rank's next call; nil: there is none.
func (r *run) probed(k *rank, c *match.Call) {
	p := k.probe
	if p == nil {
		return
	}
	k.probe = nil
	if c != nil && c.Start < p.side.end {
		r.drop(p.side, match.Threads)
		return
	}
	b := r.inbox(p.group, p.own)
	r.cleanse(b.group, b, p.side.start)
	if covered(b.wild, p.key) {
		r.hold(b, &held{key: p.key, told: true, side: p.side, start: p.side.start})
		return
	}
	r.place(b, p.side, p.key)
}

// look lets the probes that are first in a queue find a send. They leave it.
func (r *run) look(q *queue, send *side) {
	for len(q.waiting) > 0 && q.waiting[0].probes {
		s := q.waiting[0]
		q.waiting = q.waiting[1:]
		r.find(s, send)
	}
}

// find matches a probe with the send that it found.
func (r *run) find(s, send *side) {
	s.peer = send
	n := r.counted(s)
	n.Calls, n.Matched = n.Calls+1, n.Matched+1
	r.findWait(s)
}

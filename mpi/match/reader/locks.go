package reader

import (
	"ompp-attach/mpi"
	"ompp-attach/mpi/match"
)

// Locks of RMA windows. MPI_Win_lock of one rank waits while another rank holds the target's lock,
// if one of both locks is exclusive. A lock is held until the holder calls MPI_Win_unlock. So a
// call of MPI_Win_lock that lasted beyond the beginning of such an unlock had to wait until then.
// Waits are found for windows of ranks on one machine only.
//
// Libraries may take the lock later, in MPI_Win_flush or MPI_Win_unlock. Then MPI_Win_lock is
// short, and of the other calls it is not known which rank had the lock first: these have no wait.

var (
	lockAll, _   = mpi.ParseOp("MPI_Win_lock_all")
	unlockAll, _ = mpi.ParseOp("MPI_Win_unlock_all")
)

// everyTarget is the target of MPI_Win_lock_all.
const everyTarget int32 = -1

// lockKey names a lock that a rank holds, or asks for.
type lockKey struct {
	group  int // index in run.groups
	target int32
	rank   *rank
}

// locks holds the locks of all windows.
type locks struct {
	held  map[lockKey]bool // whether it is exclusive
	asked []*lock          // calls that have not ended yet, as far as calls were read
	cut   []*rank          // whose logs end early; nil: not looked for yet
	known bool             // cut is set
}

// lock is a call that asks for a lock.
type lock struct {
	lockKey
	exclusive bool
	of        *member
	until     uint64    // when it ends by the first rank's clock
	others    []*member // the unlocks for which it waited
}

// locking takes a call that asks for a lock.
func (r *run) locking(k *rank, c *match.Call) {
	at, _, ok := r.in(k, c)
	if !ok {
		r.result.Locks.Leave(k.unnamed())
		r.astray(k, c)
		return
	}
	l := &lock{lockKey: lockKey{at, target(c), k}, exclusive: c.Sends}
	r.locks.held[l.lockKey] = l.exclusive
	m := &member{rank: k, call: k.call, at: k.place(c), start: c.Start, end: c.End}
	m.by = &waiter{rank: k, call: k.call, at: m.at, start: c.Start, end: c.End, open: 1}
	l.of = m
	r.pending(k)
	g := r.groups[at]
	why, lacks := g.lacks(r)
	switch {
	case lacks:
	case !g.together():
		why, lacks = match.Apart, true
	case r.cutBefore(g, l):
		why, lacks = match.NoPartner, true
	}
	if lacks {
		r.result.Locks.Leave(why)
		r.fail(m.by, why)
		return
	}
	l.until = r.common(k, c.End)
	r.locks.asked = append(r.locks.asked, l)
}

// target returns the target of a call that locks or unlocks.
func target(c *match.Call) int32 {
	if c.Op == lockAll || c.Op == unlockAll {
		return everyTarget
	}
	return c.To
}

// together reports whether all members ran on one machine. The order of locks and unlocks needs one
// clock.
func (g *group) together() bool {
	if !g.placed {
		g.placed, g.near = true, true
		for _, m := range g.members {
			g.near = g.near && m.log.Host == g.members[0].log.Host
		}
	}
	return g.near
}

// cutBefore reports whether the log of a member of the window ends before the call does.
func (r *run) cutBefore(g *group, l *lock) bool {
	if !r.locks.known {
		r.locks.known = true
		for _, k := range r.ranks {
			if k.log.Until != 0 {
				r.locks.cut = append(r.locks.cut, k)
			}
		}
	}
	for _, k := range r.locks.cut {
		for _, m := range g.members {
			if m == k && k.log.Until <= l.of.end {
				return true
			}
		}
	}
	return false
}

// unlocking takes a call that gives a lock back.
func (r *run) unlocking(k *rank, c *match.Call) {
	at, _, ok := r.in(k, c)
	if !ok {
		return
	}
	key := lockKey{at, target(c), k}
	exclusive, held := r.locks.held[key]
	if !held {
		return
	}
	delete(r.locks.held, key)
	var m *member
	for _, l := range r.locks.asked {
		if l.group != at || l.rank == k || !exclusive && !l.exclusive {
			continue
		}
		if l.target != key.target && l.target != everyTarget && key.target != everyTarget {
			continue
		}
		if c.Start > l.of.end {
			continue // it had ended before
		}
		if m == nil {
			m = &member{rank: k, call: k.call, at: k.place(c), start: c.Start, end: c.End}
		}
		l.others = append(l.others, m)
	}
}

// resolveLocks tells the waits of those calls that end before a time of the first rank's clock.
func (r *run) resolveLocks(now uint64) {
	kept := r.locks.asked[:0]
	for _, l := range r.locks.asked {
		if l.until >= now {
			kept = append(kept, l)
			continue
		}
		r.result.Locks.Calls++
		r.result.Locks.Matched++
		o := r.pick(l.rank, l.others, 1, entering)
		x := longest{property: match.LockContention, after: match.LockContention}
		x.since(l.of, o)
		if r.listener != nil {
			x.last = o.entered()
		}
		r.offer(l.of.by, x)
	}
	clear(r.locks.asked[len(kept):])
	r.locks.asked = kept
}

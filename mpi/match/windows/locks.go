package windows

import (
	"ompp-attach/mpi"
	"ompp-attach/mpi/match"
	"ompp-attach/mpi/match/ranks"
	"ompp-attach/mpi/match/waits"
)

var (
	lockAll, _   = mpi.ParseOp("MPI_Win_lock_all")
	unlockAll, _ = mpi.ParseOp("MPI_Win_unlock_all")
)

// everyTarget is the target of MPI_Win_lock_all.
const everyTarget int32 = -1

// lockKey names a lock that a rank holds, or asks for.
type lockKey struct {
	group  *ranks.Group
	target int32
	rank   *ranks.Rank
}

// Locks finds the waits for locks of windows.
type Locks struct {
	Count  match.Count
	all    *ranks.All
	clocks *ranks.Clocks
	ledger *waits.Ledger
	held   map[lockKey]bool      // by lock that is held: whether it is exclusive
	asked  []*lock               // calls of which later calls may still tell whether they waited
	cut    []*ranks.Rank         // ranks of which the logs end early
	near   map[*ranks.Group]bool // whether all members ran on one machine, if known
}

// NewLocks returns Locks of ranks of which no call has been read yet.
func NewLocks(all *ranks.All, clocks *ranks.Clocks, ledger *waits.Ledger) *Locks {
	r := &Locks{all: all, clocks: clocks, ledger: ledger, held: map[lockKey]bool{}, near: map[*ranks.Group]bool{}}
	for _, k := range all.Ranks {
		if k.Log.Until != 0 {
			r.cut = append(r.cut, k)
		}
	}
	return r
}

// lock is a call that asks for a lock.
type lock struct {
	lockKey
	exclusive bool
	of        waits.Stay
	by        *waits.Waiter
	until     uint64        // when the call ends, by the first rank's clock
	others    []*waits.Stay // the unlocks for which it waited
}

// Lock takes a call that asks for a lock.
func (r *Locks) Lock(k *ranks.Rank, c *match.Call) {
	at, _, ok := k.In(c)
	if !ok {
		r.Count.Leave(k.Unnamed())
		r.ledger.Astray(k, c)
		return
	}
	l := &lock{lockKey: lockKey{at, target(c), k}, exclusive: c.Sends, of: waits.StayIn(k, c)}
	r.held[l.lockKey] = l.exclusive
	l.by = l.of.Waiter()
	r.ledger.Pending(k)
	why, lacks := at.Lacks(r.clocks)
	switch {
	case lacks:
	case !r.together(at):
		why, lacks = match.Apart, true
	case r.cutBefore(at, l):
		why, lacks = match.NoPartner, true
	}
	if lacks {
		r.Count.Leave(why)
		r.ledger.Fail(l.by, why)
		return
	}
	l.until = r.clocks.Common(r.all.Ranks[0], k, c.End)
	r.asked = append(r.asked, l)
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
func (r *Locks) together(g *ranks.Group) bool {
	near, known := r.near[g]
	if !known {
		near = true
		for _, m := range g.Members {
			near = near && m.Log.Host == g.Members[0].Log.Host
		}
		r.near[g] = near
	}
	return near
}

// cutBefore reports whether the log of a member of the window ends before the call l does.
func (r *Locks) cutBefore(g *ranks.Group, l *lock) bool {
	for _, k := range r.cut {
		for _, m := range g.Members {
			if m == k && k.Log.Until <= l.of.End {
				return true
			}
		}
	}
	return false
}

// Unlock takes a call that gives a lock back.
func (r *Locks) Unlock(k *ranks.Rank, c *match.Call) {
	at, _, ok := k.In(c)
	if !ok {
		return
	}
	key := lockKey{at, target(c), k}
	exclusive, held := r.held[key]
	if !held {
		return
	}
	delete(r.held, key)
	var m *waits.Stay
	for _, l := range r.asked {
		if l.group != at || l.rank == k || !exclusive && !l.exclusive {
			continue
		}
		if l.target != key.target && l.target != everyTarget && key.target != everyTarget {
			continue
		}
		if c.Start > l.of.End {
			continue // the call l had ended before
		}
		if m == nil {
			s := waits.StayIn(k, c)
			m = &s
		}
		l.others = append(l.others, m)
	}
}

// Resolve tells the waits of the calls that end before a time of the first rank's clock: no later
// unlock can be their cause.
func (r *Locks) Resolve(now uint64) {
	if len(r.asked) == 0 {
		return
	}
	kept := r.asked[:0]
	for _, l := range r.asked {
		if l.until >= now {
			kept = append(kept, l)
			continue
		}
		r.Count.Match(1)
		o := waits.Last(r.clocks, l.rank, l.others)
		x := waits.One{Property: match.LockContention, After: match.LockContention}
		x.Since(l.of.Start, o)
		if r.ledger.Listened() {
			x.Last = o.Entered()
		}
		r.ledger.Offer(l.by, x)
	}
	clear(r.asked[len(kept):])
	r.asked = kept
}

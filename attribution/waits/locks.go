package waits

import (
	"ompp-attach/attribution/place"
	"ompp-attach/attribution/tree"
	"ompp-attach/profile"
)

// Lock names a lock of the process, or the lock of a critical.
type Lock struct {
	Of      place.RuntimeConstruct // construct and runtime
	Address uint64
	Unknown bool // some lock: where the kernel side adds up, it does not tell which
}

// Use is one execution of a construct that a lock guards, or the sum of several (ns). A single one
// asked for the lock at From, held it from Held to Freed, and was over at Until. A sum lies between
// From and Until.
type Use struct {
	Lock                     Lock
	Node                     *tree.Node
	Seat                     int
	From, Held, Freed, Until uint64
	Wait, Busy               int64 // time before the lock was held, and time for which it was held
	N                        uint64
	offCore                  *OffCoreTimes // of the thread; nil: not known
}

// mostUses bounds the places at which a thread uses locks between two barriers. Of uses at others
// no holder is known.
const mostUses = 16

// Use notes that the thread has used a lock. All uses at one place are added up, because the kernel
// side may have added up some of them.
func (iv *Interval) Use(u *Use) {
	if iv.team == nil {
		return
	}
	u.offCore = iv.OffCore
	if s := iv.Used(u.Node, &u.Lock); s != nil {
		s.Again(u.From, u.Until, u.Wait, u.Busy, u.N)
	} else if len(iv.uses) < mostUses {
		iv.uses = append(iv.uses, *u)
	} else {
		u.unmatched()
	}
}

// unmatched notes that it is not known for whom the thread waited.
func (u *Use) unmatched() {
	if u.Wait > 0 {
		waitsAt(u.Node, u.Seat).NoHolder.Add(profile.Sum{T: u.Wait, C: u.N})
	}
}

// forget forgets the uses of locks since the last barrier: they cannot be matched.
func (iv *Interval) forget(m *Meter) {
	for i := range iv.uses {
		if !m.Quiet {
			iv.uses[i].unmatched()
		}
	}
	iv.uses = iv.uses[:0]
}

// Again adds n more executions.
func (u *Use) Again(from, until uint64, wait, busy int64, n uint64) {
	u.From, u.Until = min(u.From, from), max(u.Until, until)
	u.Wait += wait
	u.Busy += busy
	u.N += n
}

// Used returns the uses of a lock at a place that have been noted, nil if there are none.
func (iv *Interval) Used(n *tree.Node, l *Lock) *Use {
	for i := range iv.uses {
		if u := &iv.uses[i]; u.Node == n && u.Lock.is(l) {
			return u
		}
	}
	return nil
}

func (l *Lock) is(o *Lock) bool {
	return l.Address == o.Address && l.Unknown == o.Unknown && l.Of == o.Of
}

// contend tells for which holders each thread has waited between two barriers. What the last thread
// has waited for is kept.
func (x *instance) contend() {
	for i := range x.slots {
		if int32(i) != x.latest {
			x.waited(int32(i), false)
		}
	}
	x.held = x.held[:0]
	x.waited(x.latest, true)
}

// waited tells for which holders a thread has waited.
func (x *instance) waited(thread int32, keep bool) {
	for j := range x.slots[thread].uses {
		if u := &x.slots[thread].uses[j]; u.Wait > 0 {
			if !keep {
				x.held = x.held[:0]
			}
			if c, some := x.wait(thread, u); some && keep {
				c.use = int32(j)
				x.awaited = append(x.awaited, c)
			}
		}
	}
}

// holding is a use by which another thread may have held a lock that a thread waited for.
type holding struct {
	thread, use int32
	time        int64 // for which it held it at most, ns
}

// contention is the part of a wait for a lock in which others held it.
type contention struct {
	use      int32 // of the thread that waited
	single   bool  // all are single executions
	time     int64 // ns
	all      int64 // for which the holders held it at most, ns
	from, to int   // they are instance.held[from:to]
	most     int   // of them, the one who held it longest
}

// by returns the use by which a lock was held.
func (x *instance) by(h *holding) *Use { return &x.slots[h.thread].uses[h.use] }

// contention finds for how long others held a lock for which a thread waited. If all are single
// executions, the contention ends when the previous holder frees the lock. Otherwise it is at most
// the time for which others held the lock. sure is false if it is not known which
// lock a thread used.
func (x *instance) contention(thread int32, u *Use) (c contention, sure bool) {
	freed, longest := uint64(0), int64(0)
	c.single, sure = u.N == 1, !u.Lock.Unknown
	c.from, c.most = len(x.held), len(x.held)
	x.holders(thread, u)
	c.to = len(x.held)
	for i := c.from; i < c.to; i++ {
		d := x.held[i].time
		h := x.by(&x.held[i])
		c.all += d
		sure = sure && !h.Lock.Unknown
		c.single = c.single && h.N == 1
		freed = max(freed, min(h.Freed, u.Held))
		if d > longest || d == longest && h.From < x.by(&x.held[c.most]).From {
			c.most, longest = i, d
		}
	}
	c.time = min(c.all, u.Wait)
	if c.single && freed > u.From {
		c.time = min(int64(freed-u.From), u.Wait)
	}
	return c, sure
}

// shares shares a contention out among the holders, by how long each held the lock.
func (x *instance) shares(c *contention, f func(h *Use, part int64)) {
	rest := c.time
	for i := c.from; i < c.to; i++ {
		h := &x.held[i]
		part := int64(float64(c.time) * float64(h.time) / float64(c.all))
		rest -= part
		f(x.by(h), part)
	}
	f(x.by(&x.held[c.most]), rest)
}

// wait divides the time that a thread waited for a lock: into the contention and the rest, in which
// the lock was handed over. Where this is not sure, nothing is divided. some tells whether there
// was contention.
func (x *instance) wait(thread int32, u *Use) (c contention, some bool) {
	c, sure := x.contention(thread, u)
	if !sure {
		u.unmatched()
		return c, false
	}
	waiter := waitsAt(u.Node, u.Seat)
	waiter.Handed += u.Wait - c.time
	if c.time <= 0 {
		return c, false
	}
	waiter.Contended.T += c.time
	if waiter.Contended.C += u.N; !c.single {
		waiter.Shared += c.time
	}
	x.shares(&c, func(h *Use, part int64) {
		if h.blame(part, c.single); c.single && h.offCore != nil {
			h.blameOffCore(max(h.Held, u.From), min(h.Freed, u.Held), part)
		}
	})
	most := x.by(&x.held[c.most])
	waitsAt(most.Node, most.Seat).Held.C += u.N
	return c, true
}

// blame charges a holder with a time that another thread waited for it.
func (u *Use) blame(d int64, single bool) {
	w := waitsAt(u.Node, u.Seat)
	if w.Held.T += d; !single {
		w.Shared += d
	}
}

// span returns the time in which the thread waited for the lock, and the time in which it held the
// lock. If the use is a sum of executions, they may have done either at any time.
func (u *Use) span() (wait, hold [2]uint64) {
	if u.N == 1 {
		return [2]uint64{u.From, u.Held}, [2]uint64{u.Held, u.Freed}
	}
	return [2]uint64{u.From, u.Until}, [2]uint64{u.From, u.Until}
}

// holders adds to x.held each use by which another thread may have held the lock
// while this one waited.
func (x *instance) holders(thread int32, u *Use) {
	waited, _ := u.span()
	for i := range x.slots {
		if int32(i) == thread {
			continue
		}
		uses := x.slots[i].uses
		for j := range uses {
			h := &uses[j]
			if !h.Lock.is(&u.Lock) && !(h.Lock.Unknown && h.Lock.Of == u.Lock.Of) {
				continue
			}
			_, held := h.span()
			if from, to := max(held[0], waited[0]), min(held[1], waited[1]); from < to {
				x.held = append(x.held, holding{int32(i), int32(j), min(h.Busy, int64(to-from))})
			}
		}
	}
}

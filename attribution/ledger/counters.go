package ledger

import (
	"ompp-attach/event"
	"ompp-attach/profile"
)

type counts [event.MaxCounts]int64

func (c *counts) add(o *counts) {
	for i := range c {
		c[i] += o[i]
	}
}

func (c *counts) subtract(o *counts) {
	for i := range c {
		c[i] -= o[i]
	}
}

// tally holds the counts of an open region.
type tally struct {
	all       counts // regions entered from it included
	child     counts // in regions entered from it that have ended
	handed    counts // the share that the region around has been charged with already (PayOpen)
	suspended counts // in tasks that were executed while this region's clock stood still
}

// whole returns all counts while the region was open, tasks included.
func (y *tally) whole() (sum counts) {
	sum = y.all
	sum.add(&y.suspended)
	return sum
}

// due returns what the region around has not been charged with yet.
func (y *tally) due() (sum counts) {
	sum = y.whole()
	sum.subtract(&y.handed)
	return sum
}

// contain adds the counts of a region entered from this one.
func (y *tally) contain(c *counts) {
	y.all.add(c)
	y.child.add(c)
}

// Counters holds what is known of a thread's counters.
type Counters struct {
	values [event.MaxCounts]uint64 // at the thread's last event
	known  bool                    // an event had counters
	gap    bool                    // later events had none
}

// Reset forgets the values: counts go on from the next event.
func (c *Counters) Reset() { c.known, c.gap = false, false }

// Interrupt leaves the counts until the next event out.
func (c *Counters) Interrupt() { c.known = false }

// Read applies the counters of an event to its thread. It tells whether the counts of the thread's
// open regions are incomplete from now on. The innermost region gets the counts since the thread's
// last event; it is nil if the thread has none open.
func (l *Ledger) Read(c *Counters, ev *event.Event, innermost *Account) (incomplete bool) {
	if l.width == 0 {
		if len(ev.Counters) == 0 {
			c.gap = true // matters only if counters come later
			return false
		}
		l.width = min(len(ev.Counters), event.MaxCounts)
	}
	switch {
	case len(ev.Counters) < l.width:
		// The call's own counts are not known; those of the regions around are complete.
		if ev.Construct == event.MPI && ev.Counters == nil {
			return false
		}
		c.known, c.gap = false, true
		return true
	case c.gap:
		incomplete = true
	case c.known && innermost != nil:
		all := &l.countersOf(innermost).all
		for i := range l.width {
			all[i] += int64(ev.Counters[i] - c.values[i])
		}
	}
	c.known, c.gap = true, false
	copy(c.values[:], ev.Counters)
	return incomplete
}

// ReadFolded applies the counters of folded executions. They go to s, the figures of these
// executions, and to the account around of the region that they lie in. around is nil if the thread
// has no region open. The counts between the executions belong to the region around.
func (l *Ledger) ReadFolded(c *Counters, f *event.Fold, s *profile.ThreadStats, around *Account) {
	l.count(s, nil, false)
	if len(f.Counters) < l.width {
		s.Uncounted += f.Executions
		return
	}
	for i := range l.width {
		s.Counters[i] += int64(f.Counters[i])
		c.values[i] += f.Counters[i]
	}
	if around == nil {
		return
	}
	y := l.countersOf(around)
	for i := range l.width {
		y.all[i] += int64(f.Counters[i])
		y.child[i] += int64(f.Counters[i])
	}
}

// CountUnknown notes an execution whose counts are not known.
func (l *Ledger) CountUnknown(s *profile.ThreadStats) { l.count(s, nil, true) }

// count adds the counts of one execution to a region's figures.
func (l *Ledger) count(s *profile.ThreadStats, y *tally, uncounted bool) {
	if l.width == 0 {
		return
	}
	if s.Counters == nil {
		s.Counters = make([]int64, l.width)
		s.ChildCounters = make([]int64, l.width)
	}
	if uncounted {
		s.Uncounted++
	}
	if y == nil {
		return
	}
	for i := range l.width {
		s.Counters[i] += y.all[i]
		s.ChildCounters[i] += y.child[i]
	}
}

// Counts writes what an account's execution is charged with to c. It returns nil if counters are
// not read.
func (l *Ledger) Counts(a *Account, c *profile.Counts) *profile.Counts {
	return l.copyCounts(a.counters, a.Uncounted, c)
}

// CountsOfShare is Counts for a thread's part in a team.
func (l *Ledger) CountsOfShare(s *Share, c *profile.Counts) *profile.Counts {
	return l.copyCounts(s.counters, s.uncounted, c)
}

func (l *Ledger) copyCounts(y *tally, partial bool, c *profile.Counts) *profile.Counts {
	if l.width == 0 {
		return nil
	}
	c.All, c.Child, c.Partial = c.All[:0], c.Child[:0], partial
	if y != nil {
		c.All, c.Child = append(c.All, y.all[:l.width]...), append(c.Child, y.child[:l.width]...)
	}
	return c
}

// CountsOfFold is Counts for executions that the kernel side has added up.
func (l *Ledger) CountsOfFold(f *event.Fold, c *profile.Counts) *profile.Counts {
	if l.width == 0 {
		return nil
	}
	c.All, c.Child, c.Partial = c.All[:0], c.Child[:0], len(f.Counters) < l.width
	if !c.Partial {
		for _, n := range f.Counters[:l.width] {
			c.All = append(c.All, int64(n))
		}
	}
	return c
}

// countersOf returns the counts of an account.
func (l *Ledger) countersOf(a *Account) *tally {
	if a.counters == nil {
		a.counters = l.newTally()
	}
	return a.counters
}

func (l *Ledger) newTally() *tally {
	n := len(l.free)
	if n == 0 {
		return new(tally)
	}
	y := l.free[n-1]
	l.free = l.free[:n-1]
	return y
}

// release keeps the memory of a tally for reuse. Nothing may point to it any more.
func (l *Ledger) release(y *tally) {
	if y != nil {
		*y = tally{}
		l.free = append(l.free, y)
	}
}

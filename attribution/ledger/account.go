package ledger

import "ompp-attach/profile"

// Account holds what an open region has been charged with. Each part includes the regions entered
// from this one.
type Account struct {
	Start uint64 // time at which the region was opened (ns)
	Mark  uint64 // start of the region's current phase (ns)
	// Time up to which the region around has been charged (see PayOpen).
	charged uint64
	// The phases so far. Exec is empty: the whole time is known when the region is closed.
	Parts [profile.NumParts]profile.Sum
	Child int64 // time in the regions entered from this one that have ended, ns
	// Suspended is the time that the thread executed other tasks while this region's clock stood
	// still, ns.
	Suspended int64
	Task      int64  // time executing tasks while waiting here, ns
	Tasks     uint64 // number of these tasks
	// Uncounted: the counters are known for a part of the region only.
	Uncounted bool

	tolls    [NumTolls]toll
	counters *tally // nil: no counts so far
}

// Open starts the account of a region that is opened at a time (ns).
func (a *Account) Open(at uint64) { a.Start, a.Mark, a.charged = at, at, at }

// Pass ends a phase at a time: the time since the phase began belongs to a part.
func (a *Account) Pass(p profile.Part, at uint64) {
	a.Parts[p].T += Between(a.Mark, at)
	a.Mark = at
}

// LeaveOut leaves a time that has passed out of the account.
func (a *Account) LeaveOut(gap int64) {
	a.Start, a.Mark, a.charged = a.Start+uint64(gap), a.Mark+uint64(gap), a.charged+uint64(gap)
}

// Due returns the time since the region around was last charged.
func (a *Account) Due(at uint64) int64 { return Between(a.charged, at) }

// Between returns the time from one moment to another, ns; 0 if they are in reverse order.
func Between(from, to uint64) int64 {
	if to < from {
		return 0
	}
	return int64(to - from)
}

// HandUp adds an account, whose region ends at a time, to the account up of the region around it.
// part is the part of up's region that is under way.
func (l *Ledger) HandUp(in, up *Account, part profile.Part, at uint64) {
	up.Child += in.Due(at)
	for k := range in.tolls {
		if d := in.tolls[k].due(); d != 0 {
			up.tolls[k].contain(d, part)
		}
	}
	if in.counters != nil {
		due := in.counters.due()
		l.countersOf(up).contain(&due)
	}
}

// PayOpen charges below, the account of a region that ends, with what the account in holds so far.
// The region of in is open inside it. more is what the regions that are open inside the region of
// in will hand up to in.
func (l *Ledger) PayOpen(below, in *Account, more *Sum, at uint64) {
	below.Child += in.Due(at)
	in.charged = at
	for k := range in.tolls {
		y := &in.tolls[k]
		sofar := y.whole() + more.tolls[k]
		below.tolls[k].contain(sofar-y.handed, profile.Body)
		y.handed = sofar
	}
	if l.width == 0 {
		return
	}
	y := l.countersOf(in)
	sofar := y.whole()
	sofar.add(&more.counters)
	due := sofar
	due.subtract(&y.handed)
	l.countersOf(below).contain(&due)
	y.handed = sofar
}

// Sum adds up what accounts would hand up now.
type Sum struct {
	tolls    [NumTolls]int64
	counters counts
}

// Add adds an account.
func (s *Sum) Add(a *Account) {
	for k := range a.tolls {
		s.tolls[k] += a.tolls[k].due()
	}
	if a.counters != nil {
		due := a.counters.due()
		s.counters.add(&due)
	}
}

// Disown gives an account to the region around it as that region's own. The account's region turned
// out to be none, or its end was not seen. up is nil if there is no region around. The account's
// time counts for the region around already, but for the time of regions that were entered from the
// account's.
func (l *Ledger) Disown(in, up *Account, part profile.Part) {
	if up == nil {
		return
	}
	up.Child += in.Child
	for k := range in.tolls {
		up.tolls[k].parts[part] += in.tolls[k].due()
		up.tolls[k].child += min(in.tolls[k].child, in.tolls[k].due())
	}
	if in.counters != nil {
		due, own := in.counters.due(), l.countersOf(up)
		own.all.add(&due)
		for i, n := range in.counters.child {
			own.child[i] += min(n, due[i])
		}
		l.Release(in)
	}
}

// TakeOut gives an account to the outer execution of the same user region, whose time includes the
// inner execution's. The figures of regions that were entered from the inner execution stay: these
// regions hang below the same node.
func (l *Ledger) TakeOut(in, outer *Account, part profile.Part) {
	in.Parts[profile.Body].T, in.Uncounted = 0, false
	for k := range in.tolls {
		y := &in.tolls[k]
		outer.tolls[k].parts[part] += y.due()
		*y = toll{child: y.child}
	}
	if y := in.counters; y != nil {
		due := y.due()
		l.countersOf(outer).all.add(&due)
		*y = tally{child: y.child}
	}
}

// Charge adds an account to the figures of its region: one execution, which took the given time
// (ns).
func (l *Ledger) Charge(a *Account, s *profile.ThreadStats, exec int64) {
	s.Exec.Add(profile.Sum{T: exec, C: 1})
	s.Enter.Add(a.Parts[profile.Enter])
	s.Body.Add(a.Parts[profile.Body])
	s.Barrier.Add(a.Parts[profile.Barrier])
	s.Exit.Add(a.Parts[profile.Exit])
	s.Child += a.Child
	s.Task += a.Task
	s.Tasks += a.Tasks
	if a.tolls[ByProbes].some() {
		a.addCost(ByProbes, &s.Cost)
	}
	if a.tolls[ByWait].some() {
		a.addCost(ByWait, &s.NoCore)
	}
	l.count(s, a.counters, a.Uncounted)
}

// Release frees the memory of an account that has been charged.
func (l *Ledger) Release(a *Account) {
	l.release(a.counters)
	a.counters = nil
}

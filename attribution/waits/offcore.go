package waits

import (
	"ompp-attach/attribution/tree"
	"ompp-attach/profile"
)

// OffCoreTimes holds the times at which a thread was off its core, and divides the thread's waits
// by them (Ask). A wait that ends after the last time that was read is kept,
// and divided later (Seen).
type OffCoreTimes struct {
	times []joined // in order of time
	from  uint64   // from this time on all is known, ns
	seen  uint64   // up to this time
	open  []Wait
}

// OffCore is a time in which a thread was off its core (ns).
type OffCore struct {
	From, Woken, To uint64 // Woken is 0 for a thread that was ready all the time
	// Index of the process that had the core for most of the time; -1: not known.
	Rival   int
	ByRival int64 // for how long that process had the core meanwhile
	Foreign int64 // for how long other processes had the core meanwhile
	Moves   uint32
}

// joined is an OffCore, or several in one.
type joined struct {
	from, to uint64
	woken    uint64 // of a single one
	single   bool
	off      profile.OffCore // T is the sum of the times off the core
	by       [3]profile.Share
}

// maxTimes bounds the times that are told apart. If there are more, the older half of them is
// joined in pairs. So recent times are exact. A joined time is exact if the wait holds all of it.
const maxTimes = 64

// maxWaits bounds the waits of a thread that cannot be divided yet: mostly that in its last barrier
// in a team.
const maxWaits = 16

// Reason says what a thread waited for: a part of profile.Sched.
type Reason int

// The reasons, in the order of profile.Sched.Parts.
const (
	AtBarrier Reason = iota
	Completing
	ForLock
	ForTasks
	InMPI
)

// Wait is a wait of a thread at a node (ns).
type Wait struct {
	Node     *tree.Node
	Seat     int
	Reason   Reason
	From, To uint64
	T        int64  // the wait's length: without tasks that the thread executed meanwhile
	tasks    []span // these tasks
}

// Meanwhile are the tasks that a thread executed while it waited for tasks.
type Meanwhile struct {
	tasks []span
	time  int64 // ns
}

// Executed notes that the thread executed tasks from one time to another (ns).
func (m *Meanwhile) Executed(from, to uint64) {
	m.tasks = executed(m.tasks, from, to)
	m.time += int64(to - from)
}

// Without leaves tasks, which may be nil, out of a wait.
func (w Wait) Without(m *Meanwhile) Wait {
	if m != nil {
		w.tasks, w.T = m.tasks, w.T-m.time
	}
	return w
}

// Add notes that the thread was off its core. Most times come in order; others are sorted in.
func (o *OffCoreTimes) Add(a OffCore) {
	if a.To <= a.From {
		return
	}
	n := joined{from: a.From, to: a.To, woken: a.Woken, single: true}
	n.off.T, n.off.Moves = int64(a.To-a.From), uint64(a.Moves)
	if a.Woken == 0 {
		n.off.Preempted = n.off.T
	} else {
		n.woken = min(max(a.Woken, a.From), a.To)
		n.off.Asleep, n.off.Late = int64(n.woken-a.From), int64(a.To-n.woken)
	}
	if t := min(a.ByRival, n.off.Ready()); a.Rival >= 0 && t > 0 {
		n.by[0] = profile.Share{Rival: a.Rival, T: t}
	}
	n.off.Foreign = min(max(0, a.Foreign), n.off.Ready())
	if len(o.times) == maxTimes {
		o.join()
	}
	i := len(o.times)
	for i > 0 && o.times[i-1].from > n.from {
		i--
	}
	o.times = append(o.times, joined{})
	copy(o.times[i+1:], o.times[i:])
	o.times[i] = n
	o.Seen(a.To)
}

// join joins the older half of the times in pairs.
func (o *OffCoreTimes) join() {
	const half = maxTimes / 2
	for i := range half / 2 {
		a, b := o.times[2*i], &o.times[2*i+1]
		a.to, a.single = max(a.to, b.to), false
		a.off.Add(b.off)
		for _, s := range b.by {
			a.add(s)
		}
		o.times[i] = a
	}
	o.times = append(o.times[:half/2], o.times[half:]...)
}

// add adds a rival's time. Of more than three rivals, the rest are forgotten.
func (a *joined) add(s profile.Share) {
	for i := range a.by {
		if b := &a.by[i]; b.T == 0 || b.Rival == s.Rival {
			b.Rival = s.Rival
			b.T += s.T
			return
		}
	}
}

// Seen notes that the thread had a core at a time (ns), and that all earlier times off its core
// are known.
func (o *OffCoreTimes) Seen(at uint64) {
	o.seen = max(o.seen, at)
	if len(o.open) == 0 {
		return
	}
	kept := o.open[:0]
	for i := range o.open {
		if w := &o.open[i]; w.To <= o.seen {
			o.tell(w)
		} else {
			kept = append(kept, *w)
		}
	}
	o.open = kept
}

// Forget notes that not all times off the core before a time (ns) are known. Waits that began
// earlier are not divided.
func (o *OffCoreTimes) Forget(before uint64) {
	o.from = before
	o.Seen(before)
}

// Ask divides a wait: at once, or when the thread has been read up to the wait's end.
func (o *OffCoreTimes) Ask(w Wait) {
	switch {
	case o == nil || w.T <= 0 || w.To <= w.From:
	case w.To <= o.seen:
		o.tell(&w)
	case len(o.open) < maxWaits:
		w.tasks = append([]span(nil), w.tasks...)
		o.open = append(o.open, w)
	}
}

// tell divides a wait, and charges its node with the parts.
func (o *OffCoreTimes) tell(w *Wait) {
	if w.From < o.from {
		return
	}
	var by []profile.Share
	off := o.sum(w.From, w.To, &by)
	for _, p := range w.tasks {
		from, to := max(p.from, w.From), min(p.to, w.To)
		if from >= to {
			continue
		}
		in := o.sum(from, to, nil)
		in.Scale(float64(p.busy) / float64(p.to-p.from))
		off.Less(in)
	}
	off.T = w.T
	fit(&off)
	s := schedAt(w.Node, w.Seat)
	s.Parts()[w.Reason].Add(off)
	for _, b := range by {
		s.By = profile.AddShare(s.By, b)
	}
}

// fit makes the parts of a time no more than the time.
func fit(o *profile.OffCore) {
	o.Asleep, o.Late, o.Preempted = max(0, o.Asleep), max(0, o.Late), max(0, o.Preempted)
	if all := o.Asleep + o.Ready(); all > o.T {
		t := o.T
		o.Scale(float64(t) / float64(all))
		o.T = t
	}
	o.Foreign = min(max(0, o.Foreign), o.Ready())
}

// sum returns how long the thread was off its core between two times, and why (ns). The rivals'
// times are added to by, which may be nil.
func (o *OffCoreTimes) sum(from, to uint64, by *[]profile.Share) (all profile.OffCore) {
	for i := len(o.times) - 1; i >= 0; i-- {
		a := &o.times[i]
		if a.to <= from {
			break
		}
		if a.from >= to {
			continue
		}
		part := a.cut(from, to)
		all.Add(part)
		if by == nil || a.off.Ready() == 0 {
			continue
		}
		for _, b := range a.by {
			if b.T = int64(float64(b.T) * float64(part.Ready()) / float64(a.off.Ready())); b.T > 0 {
				*by = profile.AddShare(*by, b)
			}
		}
	}
	return all
}

// cut returns the part of a time off the core that lies between two times. A joined time is divided
// evenly.
func (a *joined) cut(from, to uint64) profile.OffCore {
	if from <= a.from && a.to <= to {
		return a.off
	}
	from, to = max(from, a.from), min(to, a.to)
	part := a.off
	if !a.single || a.woken == 0 {
		part.Scale(float64(to-from) / float64(a.to-a.from))
	} else {
		part.T = int64(to - from)
		part.Asleep = max(0, int64(min(a.woken, to))-int64(from))
		part.Late = part.T - part.Asleep
		if a.off.Late > 0 {
			part.Foreign = int64(float64(a.off.Foreign) * float64(part.Late) / float64(a.off.Late))
		}
	}
	if to < a.to { // a thread is moved when it is ready, so at the end of the time
		part.Moves = 0
	}
	return part
}

// schedAt returns the divided waits of a seat at a node, to be added to.
func schedAt(n *tree.Node, seat int) *profile.Sched {
	s := n.Stat(seat)
	if s.Sched == nil {
		s.Sched = &profile.Sched{}
	}
	return s.Sched
}

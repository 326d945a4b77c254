package waits

import (
	"ompp-attach/attribution/tree"
	"ompp-attach/profile"
)

// instance is one barrier of one execution of a team.
type instance struct {
	slots    []slot // by thread number
	arrived  int32  // number of arrivals that have been read
	finals   int32  // of them, at the region's final barrier
	ended    int32  // number of threads whose part is charged
	latest   int32  // number of the last thread to arrive, of those that have been read
	at       uint64 // time of the last arrival, ns
	left     uint64 // the first leaving that has been read while others were not, ns; 0: none
	worked   bool   // some thread has executed a task in the barrier
	special  bool   // some arrival has Second, or some interval is unsure
	complete bool   // all arrivals have been read
	dropped  bool   // cannot be matched
	locks    bool   // some thread has used locks since the barrier before
	// Charges to the last thread (ns): the others' waits, and two parts of these. One is due to
	// the thread's first region, the other to its own waiting.
	caused, delay, indirect int64
	// For which holders of locks threads have waited, and for how long. In the end, only those of
	// the last thread are kept (contend).
	held    []holding
	awaited []contention
	noCore  int64 // the part of caused that is due to time without a core, ns
	// The part of caused in which the last thread was off its core (--sched).
	due profile.OffCore
}

// slot is the part of a thread in an instance.
type slot struct {
	barrier, from *tree.Node // nil: the arrival has not been read
	seat          int
	at, second    uint64          // see Arrival
	noCore        int64           // see Interval
	since         uint64          // see Interval
	offCore       *OffCoreTimes   // of the thread; nil: not known
	off           profile.OffCore // since the barrier before
	known         bool            // off is
	leave         uint64          // 0: not known
	left, unsure  bool
	lost          bool   // its events in the barrier were lost
	ended         bool   // it is charged, or dropped
	tasks         []span // executed in the barrier, by time
	late          Late
	own           []pathTime
	awaited       []awaited // before the barrier
	work          working   // in the barrier
	uses          []Use
}

// span is a time in which a thread executed tasks. busy is how long it was in tasks meanwhile (ns).
type span struct {
	from, to uint64
	busy     int64
}

// maxSpans bounds the spans of tasks of a thread in a barrier. If there are more, the two with the
// smallest gap between them become one.
const maxSpans = 16

func (m *Meter) newInstance(size int) *instance {
	var x *instance
	if n := len(m.instances) - 1; n >= 0 {
		x = m.instances[n]
		m.instances = m.instances[:n]
	} else {
		x = &instance{}
	}
	slots := x.slots[:cap(x.slots)]
	for i := range slots[:min(len(slots), size)] {
		slots[i].barrier = nil
	}
	if cap(slots) < size {
		slots = append(slots, make([]slot, size-cap(slots))...)
	}
	*x = instance{slots: slots[:size], held: x.held[:0], awaited: x.awaited[:0]}
	return x
}

// waitsAt returns the waits of a seat at a node.
func waitsAt(n *tree.Node, seat int) *profile.Waits {
	s := n.Stat(seat)
	if s.Waits == nil {
		s.Waits = &profile.Waits{}
	}
	return s.Waits
}

// arrive notes an arrival.
func (x *instance) arrive(iv *Interval, a *Arrival) {
	s := &x.slots[iv.num]
	s.barrier, s.from, s.seat, s.at = a.Barrier, a.From, a.Seat, a.At
	s.second, s.unsure = a.Second, iv.unsure
	s.noCore, iv.noCore = iv.noCore, 0
	if s.offCore, s.since, s.known = iv.OffCore, iv.since, false; s.offCore != nil {
		s.off, s.known = s.offCore.sum(s.since, a.At, nil), s.offCore.from <= s.since
	}
	s.leave, s.left, s.lost, s.ended = 0, false, false, false
	if len(s.tasks)+len(s.late) > 0 {
		s.tasks, s.late = s.tasks[:0], s.late[:0]
	}
	s.own, iv.own, iv.hint = iv.own, s.own[:0], 0
	if len(iv.awaited)+len(s.awaited) > 0 {
		s.awaited, iv.awaited = iv.awaited, s.awaited[:0]
	}
	if s.work.to != 0 {
		s.work.to, s.work.last = 0, Task{}
	}
	if len(s.uses) > 0 || len(iv.uses) > 0 {
		s.uses, iv.uses = iv.uses, s.uses[:0]
		x.locks = x.locks || len(s.uses) > 0
	}
	if a.Final {
		x.finals++
	}
	if a.Second != 0 || iv.unsure {
		x.special = true
	}
	if a.At > x.at || a.At == x.at && iv.num < x.latest {
		x.at, x.latest = a.At, iv.num
	}
}

// told notes that a thread has left (ns), while the arrivals of others have not been read.
func (x *instance) told(at uint64) {
	if at != 0 && (x.left == 0 || at < x.left) {
		x.left = at
	}
}

// complete charges what can be charged when all arrivals at an instance have been read.
func (m *Meter) complete(iv *Interval, x *instance) {
	tm := iv.team
	if x.special {
		x.resolve(tm)
	}
	// If a thread has left before the last one came, the arrivals are not of one barrier.
	if x.finals != 0 && x.finals != tm.size || x.left != 0 && x.left < x.at {
		m.stop(tm, iv.seq-1)
		return
	}
	x.complete = true
	if x.locks {
		x.contend()
	}
	if !tm.nested {
		x.onPath()
	}
	for i := range x.slots {
		if x.slots[i].left {
			m.finish(tm, x, int32(i))
		}
	}
	if x.ended == tm.size {
		tm.close(m)
	}
}

// resolve finds the last arrival where the arrivals of some threads depend on those of others.
func (x *instance) resolve(tm *Team) {
	before := tm.lastBefore(x)
	first := false // some thread is sure to have arrived at the first of two times
	for i := range x.slots {
		first = first || x.slots[i].second == 0
	}
	x.at = 0
	for i := range x.slots {
		s := &x.slots[i]
		if s.second != 0 && !first {
			s.at = s.second
		}
		if s.unsure && len(s.own) > 0 {
			s.own[0].all -= int64(before)
		}
		if s.at > x.at || i == 0 {
			x.at, x.latest = s.at, int32(i)
		}
	}
}

// chargeLast charges the last thread with the others' waits for it.
func (x *instance) chargeLast() {
	if x.caused == 0 {
		return
	}
	l := &x.slots[x.latest]
	waitsAt(l.barrier, l.seat).Last.T += x.caused
	waitsAt(l.from, l.seat).Late.T += x.caused
	if x.delay != 0 {
		waitsAt(l.own[0].node, l.own[0].seat).Delay += x.delay
	}
	if x.indirect != 0 {
		x.passOn()
	}
	if x.noCore != 0 {
		waitsAt(l.from, l.seat).NoCore += x.noCore
	}
	if x.due.T > 0 {
		x.chargeOffCore(l)
	}
	x.caused, x.delay, x.indirect, x.noCore, x.due = 0, 0, 0, 0, profile.OffCore{}
}

// finish charges a thread's part, when all its events in the barrier have been read.
func (m *Meter) finish(tm *Team, x *instance, num int32) {
	x.ended++
	s, l := &x.slots[num], &x.slots[x.latest]
	// If a thread left before the last arrival, the arrivals are not those of one barrier.
	if s.lost || s.leave != 0 && s.leave < x.at {
		if s.drop(m); !s.lost {
			m.Break(tm)
		}
		return
	}
	s.ended = true
	wait, after := max(0, int64(x.at-s.at)), int64(0)
	if len(s.tasks) > 0 {
		var before int64
		before, after = s.executing(x.at)
		wait = max(0, wait-before)
		s.late.Charge(s.barrier, s.seat)
	}
	if s.offCore != nil {
		s.ask(x.at, wait, after)
	}
	own := waitsAt(s.barrier, s.seat)
	own.Wait.T += wait
	own.Wait.C++
	if s.leave != 0 {
		own.Done.T += max(0, int64(s.leave-x.at)-after)
		own.Done.C++
	}
	switch {
	case num == x.latest:
		own.Last.C++
		waitsAt(s.from, s.seat).Late.C++
	case wait > 0:
		if x.caused += wait; l.known && s.known {
			x.blameOffCore(l, s, wait)
		}
		own.Indirect += x.charge(l, s, wait)
	}
}

// executed notes a time in which the thread executed tasks in the barrier.
func (s *slot) executed(from, to uint64) { s.tasks = executed(s.tasks, from, to) }

func executed(tasks []span, from, to uint64) []span {
	tasks = append(tasks, span{from, to, int64(to - from)})
	if len(tasks) <= maxSpans {
		return tasks
	}
	at := 1
	for i := range tasks[1:] {
		if gap := tasks[i+1].from - tasks[i].to; gap < tasks[at].from-tasks[at-1].to {
			at = i + 1
		}
	}
	tasks[at-1].to = tasks[at].to
	tasks[at-1].busy += tasks[at].busy
	return append(tasks[:at], tasks[at+1:]...)
}

// executing returns how long the thread executed tasks in the barrier before a time, and after it
// (ns). If spans were joined, the part of a span before the time is taken to be as busy as the
// rest.
func (s *slot) executing(at uint64) (before, after int64) {
	for _, p := range s.tasks {
		switch {
		case p.to <= at:
			before += p.busy
		case p.from >= at:
			after += p.busy
		default:
			part := int64(float64(p.busy) * float64(at-p.from) / float64(p.to-p.from))
			before += part
			after += p.busy - part
		}
	}
	return before, after
}

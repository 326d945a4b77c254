package attribution

import (
	"ompp-attach/event"
	"ompp-attach/profile"
)

// Time without a core. A thread that is ready to run and has no core tells so with
// its next hit (event.CoreWait). Like what probes take, that time lies in the phase
// of the region that was innermost since the thread's last event, and in the regions
// around that one. So it goes the same ways (cost.go), and each time in ThreadStats
// has its part without a core beside it.

// coreWaiting is what the engine keeps of threads that waited for a core.
type coreWaiting struct {
	base map[uint32]int64 // of threads older than the measurement: what they had waited before, ns
	seen bool             // any thread told of such a time
}

// CoreWaits tells how long threads had been without a core when measurement began
// (ns, by thread).
func (e *Engine) CoreWaits(before map[uint32]int64) { e.waiting.base = before }

// hadNoCore notes that a thread had no core: its next event says what it did meanwhile.
func (e *Engine) hadNoCore(t *thread, ev *event.Event) {
	more := ev.Value
	if ev.Num != 0 { // the thread's first
		before, known := e.waiting.base[t.tid]
		if !known && e.existing[t.tid] {
			more = 0
		}
		more = max(0, more-before)
	}
	if t.waitUnsure { // some of it was while measurement was off
		t.waitUnsure = false
		return
	}
	e.waiting.seen = true
	t.waited += more
	t.waitedInCall = min(t.waited, t.waitedInCall+int64(ev.Key))
}

// chargeWait charges what a thread waited for a core since its last event to its
// innermost region, but for the part in the call that ends now.
func (e *Engine) chargeWait(t *thread, ev *event.Event) {
	d, inCall := t.waited, t.waitedInCall
	t.waited = 0
	if d == 0 {
		return
	}
	if ev == nil || ev.MPI == nil {
		inCall, t.waitedInCall = 0, 0
	}
	e.root.stat(t.row).AddNoCore(profile.Cost{Exec: d})
	t.payToll(ev, byWait, d-inCall)
}

// leaveOutIdle drops what a worker waited for a core between two regions: of its time
// since its last region's end, only that since the fork of the next one is known to be
// a region's.
func (e *Engine) leaveOutIdle(t *thread, m *team, at uint64) {
	d := t.waited
	if t.waited = min(d, span(m.forked, at)); d > t.waited {
		e.root.stat(t.row).AddNoCore(profile.Cost{Exec: d - t.waited})
	}
}

// waitOf is how much of a member's time in a team passed without a core: its own, and
// in starting and ending the team, which the primary thread does for all, that one's.
// What a worker does in the final barrier is not told.
func (m *team) waitOf(mem *member, begin, last, joined uint64) profile.Cost {
	y := mem.tolls[byWait]
	joinWait := m.joinToll[byWait]
	exit := min(joinWait, span(last, joined))
	y.parts[partExit] = exit
	y.parts[partBarrier] = mem.taskToll[byWait] + mem.wayToll[byWait]
	if mem.num == 0 {
		y.parts[partBarrier] += joinWait - exit
	} else if first := m.member(0); first != nil {
		y.parts[partEnter] = min(span(m.forked, begin), max(y.parts[partEnter], first.tolls[byWait].parts[partEnter]))
	}
	y.child += mem.taskToll[byWait]
	y.tasks = mem.taskToll[byWait]
	return y.cost()
}

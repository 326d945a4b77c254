package attribution

import (
	"ompp-attach/attribution/ledger"
	"ompp-attach/event"
	"ompp-attach/profile"
)

// Time without a core. A thread that was ready to run and had no core reports that time with its
// next hit (event.CoreWait). The time lies in the phase of the region that was innermost since the
// thread's last event, and in the regions around it, just like the cost of probes. So it takes the
// same ways through the engine (cost.go), and each time in ThreadStats has its part without a core
// beside it.

// CoreWaits sets how long each thread had been without a core when measurement began (ns, by thread
// id).
func (e *Engine) CoreWaits(before map[uint32]int64) { e.coreWaits = before }

// hadNoCore notes a thread's time without a core. The thread's next event tells which region it
// belongs to.
func (st *stacks) hadNoCore(t *thread, ev *event.Event) {
	more := ev.Value
	if ev.Num != 0 { // the thread's first report, which counts from the thread's beginning
		before, known := st.coreWaits[t.tid]
		if !known && st.existing[t.tid] {
			more = 0
		}
		more = max(0, more-before)
	}
	if t.waitUnsure { // some of that time was while measurement was off
		t.waitUnsure = false
		return
	}
	t.waited += more
	t.waitedInCall = min(t.waited, t.waitedInCall+int64(ev.Key))
}

// chargeWait charges the time that a thread waited for a core since its last event to its innermost
// region. The part in an MPI call that ends now is left to the call.
func (st *stacks) chargeWait(t *thread, ev *event.Event) {
	d, inCall := t.waited, t.waitedInCall
	t.waited = 0
	if d == 0 {
		return
	}
	if ev == nil || ev.MPI == nil {
		inCall, t.waitedInCall = 0, 0
	}
	st.tree.Root.Stat(t.row).AddNoCore(profile.Cost{Exec: d})
	t.payToll(ev, ledger.ByWait, d-inCall)
}

// leaveOutIdle leaves a worker's time without a core between two regions out of the regions. After
// the end of its last region, only the time since the fork of the next one is known to belong to a
// region.
func (st *stacks) leaveOutIdle(t *thread, m *team, at uint64) {
	d := t.waited
	if t.waited = min(d, ledger.Span(m.forked, at)); d > t.waited {
		st.tree.Root.Stat(t.row).AddNoCore(profile.Cost{Exec: d - t.waited})
	}
}

// waitOf returns the part of a member's time in a team that passed without a core. It is the
// member's own time without a core. For starting and ending the team, it is the primary thread's,
// which does that work for all. For workers in the final barrier it is not known.
func (m *team) waitOf(mem *member, begin, last, joined uint64) profile.Cost {
	joinWait := m.joinTolls[ledger.ByWait]
	enter, barrier, exit := mem.Entered(ledger.ByWait), mem.InBarrier(ledger.ByWait), min(joinWait, ledger.Span(last, joined))
	if mem.num == 0 {
		barrier += joinWait - exit
	} else if first := m.member(0); first != nil {
		enter = min(ledger.Span(m.forked, begin), max(enter, first.Entered(ledger.ByWait)))
	}
	return mem.Cost(ledger.ByWait, enter, barrier, exit)
}

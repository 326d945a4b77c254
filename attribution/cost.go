package attribution

import (
	"ompp-attach/attribution/ledger"
	"ompp-attach/event"
	"ompp-attach/profile"
)

// What is charged beside the time (see package ledger): when, and to which region.

// Costs sets the time that hits of probes take (ns). Before Costs is called, hits count as free.
func (e *Engine) Costs(c event.HitCosts) { e.ledger.SetCosts(c) }

// part returns the part that a toll in this frame belongs to now.
func (f *frame) part() profile.Part {
	switch f.phase {
	case starting, entering:
		return profile.Enter
	case inBarrier:
		return profile.Barrier
	case leaving:
		return profile.Exit
	case done:
		if f.Parts[profile.Barrier].C > 0 { // between a reduction and its barrier
			return profile.Barrier
		}
	}
	switch c := f.node.Key.Construct; {
	case c == event.Single && f.phase == done,
		(c == event.Sections && f.node.Key.Runtime == event.Gomp || c == event.ParallelSections) && f.section == 0:
		return profile.Exec
	}
	return profile.Body
}

// account returns the account of the innermost region, nil if none is open.
func (t *thread) account() *ledger.Account {
	if f := t.top(); f != nil {
		return &f.Account
	}
	return nil
}

// count charges the advance of a thread's counters since its last event to the innermost region.
func (st *stacks) count(t *thread, ev *event.Event) {
	if ev.Edge == event.On && st.offSince != 0 {
		t.counters.Interrupt()
	}
	if st.ledger.Read(&t.counters, ev, t.account()) {
		for i := range t.stack {
			t.stack[i].Uncounted = true
		}
	}
}

// tax charges the time that probes took of a thread since its last event to its innermost region.
func (st *stacks) tax(t *thread, ev *event.Event) {
	if t.waited != 0 {
		st.chargeWait(t, ev)
	}
	if ev.Probe == event.NoProbe && t.due == 0 {
		return
	}
	if ev.Fold != nil {
		st.taxFolds(t, ev)
		return
	}
	before, all := st.ledger.Hit(ev, &t.due)
	t.payToll(ev, ledger.ByProbes, before)
	if all != 0 {
		s := st.tree.Root.Stat(t.row)
		if s.Cost == nil {
			s.Cost = &profile.Cost{}
		}
		s.Cost.Exec += all
	}
	if st.budgeted {
		st.notePace(t, ev.Time, all)
	}
}

// taxFolds charges the time that probes took in executions which the kernel side has added up, as
// if each had been pushed and popped.
func (st *stacks) taxFolds(t *thread, ev *event.Event) {
	inside, outside := st.ledger.HitFolded(ev)
	if f := t.top(); f != nil {
		f.Contain(ledger.ByProbes, f.part(), inside.Exec)
		f.Pay(ledger.ByProbes, f.part(), t.due+outside)
	}
	t.due = 0
	st.tree.Root.Stat(t.row).AddCost(profile.Cost{Exec: outside + inside.Exec})
}

// payToll charges a toll since a thread's last event to its innermost region.
func (t *thread) payToll(ev *event.Event, by ledger.Toll, d int64) {
	f := t.top()
	if f == nil {
		return
	}
	f.Pay(by, f.part(), d)
	if ev != nil && ev.Edge == event.Begin && f.team != nil && f.phase == inBarrier { // of a task
		if mem := f.team.member(t.num); mem != nil {
			mem.PayWay(by, d)
		}
	}
}

// costOf returns the part of a member's time in a team that probes took. All threads leave the
// final barrier when the last thread has come to it. The hit at the end of that thread's body is of
// the same kind as the primary thread's. So this hit and the one at the join belong to the exit of
// every thread. A thread in the barrier waits for others: of its own hits there, only those of
// tasks that it executes cost it time.
func (m *team) costOf(mem *member, last uint64) profile.Cost {
	enter := mem.Entered(ledger.ByProbes)
	if mem.num != 0 {
		enter += m.forkToll
	}
	c := mem.Cost(ledger.ByProbes, enter, mem.InBarrier(ledger.ByProbes), m.joinTolls[ledger.ByProbes])
	c.Wait = m.lateOf(mem, last)
	c.Exec += c.Wait
	c.Barrier += c.Wait
	return c
}

// paid returns how much later a thread ended its body because of its own probes and those of the
// fork (ns).
func (m *team) paid(mem *member) int64 {
	d := mem.Taken()
	if mem.num != 0 {
		d += m.forkToll
	}
	return d
}

// early returns how much earlier the last of a team's threads would have ended its body without
// probes (ns). All bodies began at one time. The last thread may have waited for others within the
// region, so it cannot have ended before any of them.
func (m *team) early(last uint64) int64 {
	bare := int64(0)
	for i := range m.members {
		mem := &m.members[i]
		bare = max(bare, ledger.Span(m.forked, min(mem.end, last))-m.paid(mem))
	}
	return max(0, ledger.Span(m.forked, last)-bare)
}

// lateOf returns the part of a thread's wait in the final barrier that is due to threads which
// probes slowed down more than this one (ns). If tasks were executed meanwhile, the thread may have
// waited for these, and the part is not known: 0.
func (m *team) lateOf(mem *member, last uint64) int64 {
	if mem.Tasks > 0 || m.lastTask > 0 || m.earlier == 0 {
		return 0
	}
	return max(0, min(m.earlier-m.paid(mem), ledger.Span(min(mem.end, last), last)))
}

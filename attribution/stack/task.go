package stack

import (
	"ompp-attach/attribution/ledger"
	"ompp-attach/attribution/waits"
	"ompp-attach/profile"
)

// LeaveTask charges the innermost region, a task, and resumes the regions that the thread had
// suspended for it.
func (st *Stacks) LeaveTask(t *Thread, at uint64) {
	open := t.Top()
	k := waits.Task{Node: open.Node, Seat: open.Seat, From: open.Start, To: at}
	if open.Internal { // nobody waits for the runtime's own tasks
		k.Node = nil
	}
	for _, b := range open.Up {
		b.Leave(&k)
	}
	var v ledger.Interval
	if open.Internal { // its time counts for the regions that it interrupted
		v = st.Ledger.Interrupted(&open.Account)
		st.Disown(t, len(t.Stack)-1)
	} else {
		v = st.Ledger.Executed(&open.Account, ledger.Between(open.Start, at))
		open.Parts[profile.Body].T = v.Active
		st.ChargeTop(t, at, v.Active)
		st.Ledger.Release(&open.Account)
	}
	if s := open.Node.Stat(open.Seat); open.Resumed {
		s.Exec.C-- // the execution was counted with its first part
		s.Enter.C--
	}
	t.Stack = t.Stack[:len(t.Stack)-1]
	st.resume(t, &v, &k)
}

// resume lets the regions go on that a thread had suspended to execute tasks. The innermost one is
// the wait in which the thread executed the tasks, or the call that created them.
func (st *Stacks) resume(t *Thread, v *ledger.Interval, k *waits.Task) {
	open, at := t.Top(), k.To
	if t.Interval != nil && open != nil {
		t.executedWaiting(open, k)
	}
	if open != nil && open.Phase == InBarrier {
		open.Idle = at
	}
	if t.OffCore != nil && open != nil && open.Phase == InBarrier && open.Node.Key.Construct.IsTasking() && v.Wall > 0 {
		if open.meanwhile == nil {
			open.meanwhile = &waits.Meanwhile{}
		}
		open.meanwhile.Executed(at-uint64(v.Wall), at)
	}
	if x := t.Executing(); x != nil {
		st.Ledger.StandStill(&x.Account, v)
		t.Suspended = uint64(x.Suspended)
		if open.waits() || open.Internal {
			open.Waited(v, true)
		}
		return
	}
	t.Suspended = 0
	switch {
	case open == nil:
		return
	case open.Team != nil && open.Phase == InBarrier: // the body's figures have been taken already
		st.resumeBarrier(t, v, at)
		return
	case open.Node.Key.Construct.IsTasking(): // its clock stood still
		st.Ledger.StandStill(&open.Account, v)
		// The barrier time of a tasking construct is the wait with nothing to do.
		if open.Phase == InBarrier {
			open.Parts[profile.Barrier].T -= v.Wall
		} else {
			open.Parts[profile.Body].T -= v.Wall
		}
	default:
		st.Ledger.Hold(&open.Account, v, open.part())
	}
	if open.waits() {
		open.Waited(v, false)
	}
}

// resumeBarrier charges a thread's part in a team with tasks that it executed in the final barrier.
func (st *Stacks) resumeBarrier(t *Thread, v *ledger.Interval, at uint64) {
	open := t.Top()
	if open.Num >= 0 { // the primary thread counts until the join
		st.Ledger.HoldCounters(&open.Account, v)
	}
	m := open.Team
	if mem := m.Member(t.Num); mem != nil && !m.Charged && m.Forked <= open.Mark {
		m.lastTask = max(m.lastTask, at)
		st.Ledger.Execute(&mem.Share, v, open.Num < 0)
		open.Node.Present(mem.Seat).Taken += v.TakenBy()
	}
}

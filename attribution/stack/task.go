package stack

import (
	"ompp-attach/attribution/ledger"
	"ompp-attach/attribution/waits"
	"ompp-attach/profile"
)

// LeaveTask charges the innermost region, a task, and resumes the regions that the thread had
// suspended for it.
func (st *Stacks) LeaveTask(t *Thread, at uint64) {
	f := t.Top()
	k := waits.Task{Node: f.Node, Seat: f.Seat, From: f.Start, To: at}
	if f.Internal { // nobody waits for the runtime's own tasks
		k.Node = nil
	}
	for _, b := range f.Up {
		b.Leave(&k)
	}
	var v ledger.Interval
	if f.Internal { // its time counts for the regions that it interrupted
		v = st.Ledger.Interrupted(&f.Account)
		st.Disown(t, len(t.Stack)-1)
	} else {
		v = st.Ledger.Executed(&f.Account, ledger.Between(f.Start, at))
		f.Parts[profile.Body].T = v.Active
		st.ChargeTop(t, at, v.Active)
		st.Ledger.Release(&f.Account)
	}
	if s := f.Node.Stat(f.Seat); f.Resumed {
		s.Exec.C-- // the execution was counted with its first part
		s.Enter.C--
	}
	t.Stack = t.Stack[:len(t.Stack)-1]
	st.resume(t, &v, &k)
}

// resume lets the regions go on that a thread had suspended to execute tasks. The innermost one is
// the wait in which the thread executed the tasks, or the call that created them.
func (st *Stacks) resume(t *Thread, v *ledger.Interval, k *waits.Task) {
	f, at := t.Top(), k.To
	if t.Interval != nil && f != nil {
		t.executedWaiting(f, k)
	}
	if f != nil && f.Phase == InBarrier {
		f.Idle = at
	}
	if t.OffCore != nil && f != nil && f.Phase == InBarrier && f.Node.Key.Construct.IsTasking() && v.Wall > 0 {
		if f.meanwhile == nil {
			f.meanwhile = &waits.Meanwhile{}
		}
		f.meanwhile.Executed(at-uint64(v.Wall), at)
	}
	if x := t.Executing(); x != nil {
		st.Ledger.StandStill(&x.Account, v)
		t.Suspended = uint64(x.Suspended)
		if f.waits() || f.Internal {
			f.Waited(v, true)
		}
		return
	}
	t.Suspended = 0
	switch {
	case f == nil:
		return
	case f.Team != nil && f.Phase == InBarrier: // the figures of the body have been taken already
		st.resumeBarrier(t, v, at)
		return
	case f.Node.Key.Construct.IsTasking(): // its clock stood still
		st.Ledger.StandStill(&f.Account, v)
		// The barrier time of a tasking construct is the wait with nothing to do.
		if f.Phase == InBarrier {
			f.Parts[profile.Barrier].T -= v.Wall
		} else {
			f.Parts[profile.Body].T -= v.Wall
		}
	default:
		st.Ledger.Hold(&f.Account, v, f.part())
	}
	if f.waits() {
		f.Waited(v, false)
	}
}

// resumeBarrier charges a thread's part in a team with tasks that it executed in the final barrier.
func (st *Stacks) resumeBarrier(t *Thread, v *ledger.Interval, at uint64) {
	f := t.Top()
	if f.Num >= 0 { // the primary thread counts until the join
		st.Ledger.HoldCounters(&f.Account, v)
	}
	m := f.Team
	if mem := m.Member(t.Num); mem != nil && !m.Charged && m.Forked <= f.Mark {
		m.lastTask = max(m.lastTask, at)
		st.Ledger.Execute(&mem.Share, v, f.Num < 0)
		f.Node.Present(mem.Seat).Taken += v.TakenBy()
	}
}

package stack

import (
	"ompp-attach/attribution/ledger"
	"ompp-attach/attribution/seats"
	"ompp-attach/attribution/tree"
	"ompp-attach/event"
	"ompp-attach/profile"
)

// Charges charges what threads took to regions.
type Charges struct {
	*seats.Seats
	*Teams
	Tree   *tree.Tree
	Ledger *ledger.Ledger
	Measurement
	Missing
}

// HandUp charges the region around the i-th one, which ends at a time, with the i-th one's account.
func (ch *Charges) HandUp(t *Thread, i int, at uint64) {
	if i > 0 {
		open, up := &t.Stack[i], &t.Stack[i-1]
		ch.Ledger.HandUp(&open.Account, &up.Account, up.part(), at)
	}
}

// Disown gives the account of the i-th region to the region around it as its own.
func (ch *Charges) Disown(t *Thread, i int) {
	if i > 0 {
		open, up := &t.Stack[i], &t.Stack[i-1]
		ch.Ledger.Disown(&open.Account, &up.Account, up.part())
	}
}

// charge charges the i-th region of a thread, which ends at a time,
// with the time that it took (ns).
func (ch *Charges) charge(t *Thread, i int, at uint64, exec int64) {
	open := &t.Stack[i]
	ch.Ledger.Charge(&open.Account, open.Node.Stat(open.Seat), exec)
	if t.Strip.Due(open.Node.Key.Construct, at-open.Start) {
		t.show(i, at)
	}
	if ch.Spans != nil {
		tellEnded(ch.Spans, t, i, at, exec, ch.Ledger)
	}
}

// ChargeTop charges the innermost region of a thread, as charge does.
func (ch *Charges) ChargeTop(t *Thread, at uint64, exec int64) {
	ch.charge(t, len(t.Stack)-1, at, exec)
}

// HadNoCore notes a thread's time without a core. The thread's next event tells which region the
// time belongs to. The scheduler's sum grows also while the process is stopped, and before the
// process is measured. So no more counts than the measured time since the thread's last report.
func (ch *Charges) HadNoCore(t *Thread, ev *event.Event) {
	more := ev.Value
	if ev.Num != 0 { // the thread's first report, which counts from the thread's beginning
		before, known := ch.NoCoreBefore[t.Tid]
		if !known && ch.Older[t.Tid] {
			more = 0
		}
		more = max(0, more-before)
	}
	more = min(more, ledger.Between(max(t.WaitTold, ch.Began, ch.From), ev.Time))
	t.WaitTold = ev.Time
	// Some of that time was while measurement was off.
	if t.WaitUnsure || t.LastOff != ch.OffTime.T {
		t.WaitUnsure, t.LastOff = false, ch.OffTime.T
		return
	}
	t.Waited += more
	t.WaitedInCall = min(t.Waited, t.WaitedInCall+int64(ev.Key))
}

// ChargeWait charges the time that a thread waited for a core since its last event to its innermost
// region. The part in an MPI call that ends now is left to the call. What a thread waited before
// its first event is before its life, except of the process's first thread and of workers.
func (ch *Charges) ChargeWait(t *Thread, ev *event.Event) {
	d, inCall := t.Waited, t.WaitedInCall
	t.Waited = 0
	if ch.OffSince != 0 || !t.Known && len(t.Stack) == 0 { // measurement is off, or was not begun
		t.WaitedInCall = 0
		return
	}
	if d == 0 {
		return
	}
	if ev == nil || ev.MPI == nil {
		inCall, t.WaitedInCall = 0, 0
	}
	seat := t.Seat
	// While a nested team is being started, the thread does not have its region's seat yet.
	if open := t.Top(); open != nil {
		seat = open.Seat
	}
	for iv := t.Interval; iv != nil; iv = iv.Outer() {
		iv.NoCore(d)
	}
	ch.Tree.Root.Stat(seat).AddNoCore(profile.Cost{Exec: d})
	t.payToll(ev, ledger.ByWait, d-inCall)
}

// LeaveOutIdle leaves a worker's time without a core between two regions out of the regions. After
// the end of its last region, only the time since the fork of the next one is known to belong to a
// region.
func (ch *Charges) LeaveOutIdle(t *Thread, m *Team, at uint64) {
	d := t.Waited
	if t.Waited = min(d, ledger.Between(m.Forked, at)); d > t.Waited {
		ch.Tree.Root.Stat(t.Seat).AddNoCore(profile.Cost{Exec: d - t.Waited})
	}
}

// Count charges the advance of a thread's counters since its last event to the innermost region.
func (ch *Charges) Count(t *Thread, ev *event.Event) {
	if ev.Edge == event.On && ch.OffSince != 0 {
		t.Counters.Interrupt()
	}
	if ch.Ledger.Read(&t.Counters, ev, t.Account()) {
		for i := range t.Stack {
			t.Stack[i].Uncounted = true
		}
	}
}

// Tax charges the time that probes took of a thread since its last event to its innermost region.
func (ch *Charges) Tax(t *Thread, ev *event.Event) {
	if t.Waited != 0 {
		ch.ChargeWait(t, ev)
	}
	if ev.Probe == event.NoProbe && t.Due == 0 {
		return
	}
	if ev.Fold != nil {
		ch.taxFolds(t, ev)
		return
	}
	before, all := ch.Ledger.Hit(ev, &t.Due)
	t.payToll(ev, ledger.ByProbes, before)
	if all != 0 {
		s := ch.Tree.Root.Stat(t.Seat)
		if s.Cost == nil {
			s.Cost = &profile.Cost{}
		}
		s.Cost.Exec += all
	}
	if ch.Switching {
		ch.notePace(t, ev.Time, all)
	}
}

// taxFolds charges the time that probes took in executions which the kernel side has added up, as
// if each had been pushed and popped.
func (ch *Charges) taxFolds(t *Thread, ev *event.Event) {
	inside, outside := ch.Ledger.HitFolded(ev)
	if open := t.Top(); open != nil {
		open.Contain(ledger.ByProbes, open.part(), inside.Exec)
		open.Pay(ledger.ByProbes, open.part(), t.Due+outside)
	}
	t.Due = 0
	ch.Tree.Root.Stat(t.Seat).AddCost(profile.Cost{Exec: outside + inside.Exec})
}

// payToll charges a toll since a thread's last event to its innermost region.
func (t *Thread) payToll(ev *event.Event, by ledger.Toll, d int64) {
	open := t.Top()
	if open == nil {
		return
	}
	open.Pay(by, open.part(), d)
	// A task begins in a barrier of its team.
	if ev != nil && ev.Edge == event.Begin && open.Team != nil && open.Phase == InBarrier {
		if mem := open.Team.Member(t.Num); mem != nil {
			mem.PayWay(by, d)
		}
	}
}

// notePace follows a thread's pace at a hit.
func (ch *Charges) notePace(t *Thread, at uint64, cost int64) {
	dense := t.pace.Hit(at, cost)
	if dense == 0 {
		return
	}
	ch.Tree.Root.Present(t.Seat).Dense += dense
	for i := len(t.Stack) - 1; i >= 0; i-- {
		if open := &t.Stack[i]; open.Team != nil && open.Node.IsRegion() {
			open.Node.Present(open.Seat).Dense += dense
			return
		}
	}
}

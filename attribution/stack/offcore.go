package stack

import (
	"ompp-attach/attribution/ledger"
	"ompp-attach/attribution/waits"
	"ompp-attach/event"
)

// WasOffCore notes a time in which a thread was off its core.
func (cs *Cores) WasOffCore(t *Thread, ev *event.Event, pid uint32) {
	a := ev.OffCore
	if t.OffCore == nil || a == nil {
		return
	}
	if a.Off == 0 || a.Lost > 0 {
		t.OffCore.Forget(ev.Time)
	}
	if a.Off == 0 {
		return
	}
	rival := -1
	if a.Rival != 0 {
		rival = cs.Rivals.Had(int(a.Rival), a.Name, a.Rival == pid, min(a.Had, ready(a, ev.Time)))
	}
	t.OffCore.Add(waits.OffCore{From: a.Off, Woken: a.Woken, To: ev.Time,
		Rival: rival, ByRival: a.Had, Foreign: a.Foreign, Moves: a.Moves})
}

// ready returns the part of a time off the core in which the thread was ready to run (ns).
func ready(a *event.OffCoreTime, to uint64) int64 {
	return max(0, int64(to-max(a.Off, a.Woken)))
}

// AskTasks has a thread's wait for tasks divided, which ends at a time in an open region (ns).
func (t *Thread) AskTasks(open *OpenRegion, at uint64) {
	w := waits.Wait{Node: open.Node, Seat: open.Seat, Reason: waits.ForTasks, From: open.Waiting, To: at, T: ledger.Between(open.Waiting, at)}
	t.OffCore.Ask(w.Without(open.meanwhile))
}

// AskLock has a thread's wait for a lock divided, which ends in an open region when the thread gets
// the lock (ns).
func (t *Thread) AskLock(open *OpenRegion, at uint64) {
	if locks.Has(open.Node.Key.Construct) {
		t.OffCore.Ask(waits.Wait{Node: open.Node, Seat: open.Seat, Reason: waits.ForLock,
			From: open.Start + t.Suspended, To: at + t.Suspended, T: ledger.Between(open.Start, at)})
	}
}

// Cores says what was on the cores while threads were not.
type Cores struct {
	OffCoreTold bool         // events tell when threads were off their cores
	Rivals      waits.Rivals // processes that had the cores
}

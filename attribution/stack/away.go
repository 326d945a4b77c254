package stack

import (
	"ompp-attach/attribution/ledger"
	"ompp-attach/attribution/waits"
	"ompp-attach/event"
)

// WasAway notes a time in which a thread was off its core.
func (st *Stacks) WasAway(t *Thread, ev *event.Event) {
	a := ev.Away
	if t.Log == nil || a == nil {
		return
	}
	if a.Off == 0 || a.Lost > 0 {
		t.Log.Forget(ev.Time)
	}
	if a.Off == 0 {
		return
	}
	rival := -1
	if a.Rival != 0 {
		rival = st.Rivals.Number(int(a.Rival), a.Name, a.Rival == st.Pid)
	}
	t.Log.Add(waits.Away{From: a.Off, Woken: a.Woken, To: ev.Time,
		Rival: rival, ByRival: a.Had, Foreign: a.Foreign, Moves: a.Moves})
}

// AskTasks has the time divided for which a thread waited for tasks, in its innermost region (ns).
func (t *Thread) AskTasks(f *Frame, at uint64) {
	w := waits.Window{Node: f.Node, Seat: f.Seat, Kind: waits.ForTasks, From: f.Waiting, To: at, T: ledger.Span(f.Waiting, at)}
	t.Log.Ask(w.Without(f.meanwhile))
}

// AskLock has the time divided for which a thread waited for a lock, in a region of its stack, when
// it gets the lock (ns).
func (t *Thread) AskLock(f *Frame, at uint64) {
	if locks.Has(f.Node.Key.Construct) {
		t.Log.Ask(waits.Window{Node: f.Node, Seat: f.Seat, Kind: waits.ForLock,
			From: f.Start + t.Suspended, To: at + t.Suspended, T: ledger.Span(f.Start, at)})
	}
}

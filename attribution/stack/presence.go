package stack

import (
	"ompp-attach/attribution/ledger"
	"ompp-attach/attribution/tree"
)

// entered notes that a seat's thread begins a team's body.
func (m *Team) entered(seat int) {
	p := m.Node.Present(seat)
	p.Count++
	if m.Joined != 0 { // the thread was read late
		p.Time += ledger.Between(m.Forked, m.Joined)
	}
}

// Left notes that a team is joined.
func (m *Team) Left() {
	for i := range m.Members {
		m.Node.Present(m.Members[i].Seat).Time += ledger.Between(m.Forked, m.Joined)
	}
}

// CutOffPresence notes that a seat's thread is still in a team when measurement ends.
func (m *Team) CutOffPresence(seat int, end uint64) {
	if m.Joined == 0 {
		m.Node.Present(seat).Time += ledger.Between(m.Forked, end)
	}
}

// PresentUntil returns a seat's presence in a region until a time. It includes the executions that
// the thread t has open; t may be nil.
func PresentUntil(n *tree.Node, seat int, t *Thread, at uint64) (p tree.Presence) {
	p = n.Presence(seat)
	if t == nil {
		return p
	}
	for i := range t.Stack {
		f := &t.Stack[i]
		m := f.Team
		// The second part: a worker's last team may be in use for another region now.
		if f.Node != n || f.Seat != seat || m == nil || m.Node != n || m.Forked > f.Start {
			continue
		}
		p.Open = f.Phase != InBarrier
		if m.Joined == 0 {
			p.Time += ledger.Between(m.Forked, at)
		} else { // the primary thread was read first, and has noted all of the execution
			p.Time -= ledger.Between(at, m.Joined)
		}
		if f.Phase != InBarrier { // else they are noted already
			for j := i; j < len(t.Stack); j++ {
				p.Taken += t.Stack[j].TakenSince()
			}
		}
	}
	return p
}

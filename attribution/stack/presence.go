package stack

import (
	"ompp-attach/attribution/ledger"
	"ompp-attach/attribution/tree"
)

// PresentUntil returns a seat's presence in a region until a time. It includes the executions that
// the thread t has open; t may be nil.
func PresentUntil(n *tree.Node, seat int, t *Thread, at uint64) (p tree.Presence) {
	p = n.Presence(seat)
	if t == nil {
		return p
	}
	for i := range t.Stack {
		open := &t.Stack[i]
		m := open.Team
		// A worker's last team may be in use for another region now.
		if open.Node != n || open.Seat != seat || m == nil || m.Node != n || m.Forked > open.Start {
			continue
		}
		p.Open = open.Phase != InBarrier
		if m.Joined == 0 {
			p.Time += ledger.Between(m.Forked, at)
		} else { // the primary thread was read first, and has noted all of the execution
			p.Time -= ledger.Between(at, m.Joined)
		}
		if open.Phase != InBarrier { // else they are noted already
			for j := i; j < len(t.Stack); j++ {
				p.Taken += t.Stack[j].TakenSince()
			}
		}
	}
	return p
}

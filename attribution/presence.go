package attribution

import (
	"ompp-attach/attribution/ledger"
	"ompp-attach/attribution/tree"
)

// entered notes that a row's thread begins a team's body.
func (m *team) entered(row int) {
	p := m.node.Present(row)
	p.Count++
	if m.joined != 0 { // the thread was read late
		p.Time += ledger.Span(m.forked, m.joined)
	}
}

// left notes that a team is joined.
func (m *team) left() {
	for i := range m.members {
		m.node.Present(m.members[i].row).Time += ledger.Span(m.forked, m.joined)
	}
}

// cutOffPresence notes that a row's thread is still in a team when measurement ends.
func (m *team) cutOffPresence(row int, end uint64) {
	if m.joined == 0 {
		m.node.Present(row).Time += ledger.Span(m.forked, end)
	}
}

// presentUntil returns a row's presence in a region until a time. It includes the executions that
// the thread t has open; t may be nil.
func presentUntil(n *tree.Node, row int, t *thread, at uint64) (p tree.Presence) {
	p = n.Presence(row)
	if t == nil {
		return p
	}
	for i := range t.stack {
		f := &t.stack[i]
		m := f.team
		// The second part: a worker's last team may be in use for another region now.
		if f.node != n || f.row != row || m == nil || m.node != n || m.forked > f.Start {
			continue
		}
		p.Open = f.phase != inBarrier
		if m.joined == 0 {
			p.Time += ledger.Span(m.forked, at)
		} else { // the primary thread was read first, and has noted all of the execution
			p.Time -= ledger.Span(at, m.joined)
		}
		if f.phase != inBarrier { // else they are noted already
			for j := i; j < len(t.stack); j++ {
				p.Paid += t.stack[j].TakenSince()
			}
		}
	}
	return p
}

package attribution

import "ompp-attach/attribution/ledger"

// presence is a row's part in a parallel region as far as it is known at once. The region's own
// figures come when all threads of the team have reported, which may be a second later.
type presence struct {
	count int64 // executions of the region that the row has begun
	time  int64 // time in executions that are over, or still open at the reading, ns
	paid  int64 // time that probes took in them, ns
	dense int64 // the part of paid in blocks in which probes took most of the time
	open  bool  // an execution was under way at the reading
}

// present returns a row's presence in a region.
func (n *node) present(row int) *presence {
	for len(n.presences) <= row {
		n.presences = append(n.presences, presence{})
	}
	return &n.presences[row]
}

// entered notes that a row's thread begins a team's body.
func (m *team) entered(row int) {
	p := m.node.present(row)
	p.count++
	if m.joined != 0 { // the thread was read late
		p.time += ledger.Span(m.forked, m.joined)
	}
}

// left notes that a team is joined.
func (m *team) left() {
	for i := range m.members {
		m.node.present(m.members[i].row).time += ledger.Span(m.forked, m.joined)
	}
}

// cutOffPresence notes that a row's thread is still in a team when measurement ends.
func (m *team) cutOffPresence(row int, end uint64) {
	if m.joined == 0 {
		m.node.present(row).time += ledger.Span(m.forked, end)
	}
}

// presentUntil returns a row's presence in a region until a time. It includes the executions that
// the thread t has open; t may be nil.
func (n *node) presentUntil(row int, t *thread, at uint64) (p presence) {
	if row < len(n.presences) {
		p = n.presences[row]
	}
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
		p.open = f.phase != inBarrier
		if m.joined == 0 {
			p.time += ledger.Span(m.forked, at)
		} else { // the primary thread was read first, and has noted all of the execution
			p.time -= ledger.Span(at, m.joined)
		}
		if f.phase != inBarrier { // else they are noted already
			for j := i; j < len(t.stack); j++ {
				p.paid += t.stack[j].TakenSince()
			}
		}
	}
	return p
}

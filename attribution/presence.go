package attribution

// presence is a row's part in a parallel region as it happens: its figures come
// only when all threads of the team have reported, which may be a second later.
type presence struct {
	count int64 // executions that it has begun
	time  int64 // in those that are over, or still open when measured, ns
	paid  int64 // what its probes took in them, ns
	dense int64 // of that, where they took most of the time
	open  bool  // an execution was under way when measured
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
		p.time += span(m.forked, m.joined)
	}
}

// left notes that a team is joined.
func (m *team) left() {
	for i := range m.members {
		m.node.present(m.members[i].row).time += span(m.forked, m.joined)
	}
}

// cutOffPresence notes that a row's thread is still in a team when measurement ends.
func (m *team) cutOffPresence(row int, end uint64) {
	if m.joined == 0 {
		m.node.present(row).time += span(m.forked, end)
	}
}

// presentUntil is a row's presence in a region until a time in what its thread
// has open, if there is one.
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
		if f.node != n || f.row != row || m == nil || m.node != n || m.forked > f.start { // a worker's last team may be another one now
			continue
		}
		p.open = f.phase != inBarrier
		if m.joined == 0 {
			p.time += span(m.forked, at)
		} else { // this thread is read later than the primary one, which has noted all of it
			p.time -= span(at, m.joined)
		}
		if f.phase != inBarrier { // else they have been noted
			for j := i; j < len(t.stack); j++ {
				p.paid += t.stack[j].tolls[byProbes].whole() - t.stack[j].tolls[byProbes].paid
			}
		}
	}
	return p
}

package waits

// Causes over distance: what made the last thread at a barrier wait before it came, and the
// critical path.

// passOn charges the part of the others' waits that is due to the last thread's own waiting. It
// charges the regions in which that thread waited. For locks it charges the threads that held them,
// and for tasks the threads that executed them.
func (x *instance) passOn() {
	l := &x.slots[x.latest]
	waited, left := int64(0), x.indirect
	for i := range l.own {
		waited += l.own[i].waited
	}
	scale := float64(x.indirect) / float64(waited)
	var most *pathTime
	for i := range l.own {
		p := &l.own[i]
		if p.waited == 0 {
			continue
		}
		part := int64(float64(p.waited) * scale)
		waitsAt(p.node, p.seat).Passed += part
		if left -= part; most == nil || p.waited > most.waited {
			most = p
		}
	}
	if most != nil {
		waitsAt(most.node, most.seat).Passed += left // what rounding has left
	}
	x.lastWaitedFor(func(_, h *Use, d int64) { waitsAt(h.Node, h.Seat).Far += int64(float64(d) * scale) })
	for i := range l.awaited {
		a := &l.awaited[i]
		waitsAt(a.of, a.by).Far += int64(float64(a.time) * scale)
	}
}

// onPath charges the critical path of the team's execution: what the last thread did since the
// team's threads were last together. While that thread waited for a lock, the path goes through the
// lock's holder. While it waited for a task, the path goes through the task.
func (x *instance) onPath() {
	l := &x.slots[x.latest]
	onPath(l.own, l.awaited)
	x.lastWaitedFor(func(u, h *Use, d int64) {
		waitsAt(h.Node, h.Seat).OnPath += d
		if noted(l.own, u.Node) {
			waitsAt(u.Node, u.Seat).OnPath -= d
		}
	})
}

// lastWaitedFor calls f for each use of a lock by the last thread, and each holder for whom it
// waited then, with the time (ns).
func (x *instance) lastWaitedFor(f func(u, h *Use, d int64)) {
	for i := range x.awaited {
		c := &x.awaited[i]
		u := &x.slots[x.latest].uses[c.use]
		x.shares(c, func(h *Use, d int64) { f(u, h, d) })
	}
}

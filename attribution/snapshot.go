package attribution

import "ompp-attach/profile"

// Snapshot is Finish of an engine that is a copy of one that goes on (see Copy). It ends at a
// time (CLOCK_MONOTONIC, ns) up to which all events have been fed, or earlier, where a thread
// waits for what others did: there it returns. What is open is counted, with its time until
// then, and what waits is left out. So no figure is higher than the original's will be, but
// for what no end will ever be seen of.
func (e *Engine) Snapshot(end uint64) (p *profile.Profile, ended uint64) {
	at := e.clock.at(end)
	for _, t := range e.parked {
		at = min(at, t.queue.front().Time)
		t.queue = queue{}
	}
	ended = end - (e.clock.at(end) - at)
	e.parked = nil
	for _, m := range e.settle { // those whose threads have not all been read
		if m.charged {
			continue
		}
		for i := range m.members {
			if mem := &m.members[i]; mem.end == 0 {
				mem.end, mem.uncounted = m.joined, true
			}
		}
		e.charge(m)
	}
	e.settle = nil
	return e.Finish(ended), ended
}

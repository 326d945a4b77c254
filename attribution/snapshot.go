package attribution

import (
	"ompp-attach/attribution/queue"
	"ompp-attach/profile"
)

// Snapshot finishes a copy of an engine that goes on (see Copy). It ends at a time
// (CLOCK_MONOTONIC, ns) up to which all events have been fed, or earlier: at the oldest event that
// waits for other threads. It returns that time. Open regions are counted with their time until
// then, and waiting events are left out. So no figure is higher than the original engine's will be,
// except figures of regions whose end will never be seen.
func (e *Engine) Snapshot(end uint64) (p *profile.Profile, ended uint64) {
	at := e.clock.at(end)
	for _, t := range e.parked {
		at = min(at, t.queue.Front().Time)
		t.queue = queue.Queue{}
	}
	ended = end - (e.clock.at(end) - at)
	e.parked = nil
	for _, m := range e.joined { // those whose threads have not all been read
		if m.charged {
			continue
		}
		for i := range m.members {
			if mem := &m.members[i]; mem.end == 0 {
				mem.lose(m.joined)
			}
		}
		e.charge(m)
	}
	e.joined = nil
	return e.Finish(ended), ended
}

package attribution

import (
	"ompp-attach/attribution/queue"
	"ompp-attach/profile"
)

// snapshot is Engine.Snapshot.
func (e *engine) snapshot(end uint64) (p *profile.Profile, ended uint64) {
	at := e.clock.at(end)
	for _, t := range e.parked {
		at = min(at, t.Queue.Front().Time)
		t.Queue = queue.Queue{}
	}
	ended = end - (e.clock.at(end) - at)
	e.parked = nil
	e.Waits.Quiet = true
	e.MPI.Log = nil              // a snapshot would be much larger with it
	for _, m := range e.Joined { // those whose threads have not all been read
		if m.Charged {
			continue
		}
		for i := range m.Members {
			if mem := &m.Members[i]; mem.End == 0 {
				mem.EndLost(m.Joined)
			}
		}
		e.Charge(m)
	}
	e.Joined = nil
	return e.finish(ended), ended
}

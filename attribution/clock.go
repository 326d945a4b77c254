package attribution

import "ompp-attach/event"

// Stop is an interval in which the process did not run, because it was being
// given probes: its time is not the program's.
type Stop struct {
	From uint64 `json:"from"` // CLOCK_MONOTONIC, ns
	To   uint64 `json:"to"`
}

// clock is the program's own: it stands still while the process is stopped. All
// times inside the engine are its.
type clock struct {
	stops []Stop
	sum   uint64 // how long they lasted
	last  uint64 // CLOCK_MONOTONIC of the latest event
}

// at is what the program's clock shows at a time of CLOCK_MONOTONIC.
func (c *clock) at(t uint64) uint64 {
	out := c.sum
	for i := len(c.stops) - 1; i >= 0 && t < c.stops[i].To; i-- {
		s := c.stops[i]
		out -= s.To - max(s.From, min(t, s.To))
	}
	return t - out
}

// Stopped says that the process did not run, and that all which its threads
// did before has been fed. Stops come in order.
func (e *Engine) Stopped(s Stop) {
	// A thread on another core runs on for a moment after the first one was stopped.
	s.From = max(s.From, e.clock.last)
	if s.From >= s.To {
		return
	}
	e.now = min(e.now, e.clock.at(s.From))
	e.clock.stops = append(e.clock.stops, s)
	e.clock.sum += s.To - s.From
}

// Stops returns what Stopped has told.
func (e *Engine) Stops() []Stop { return e.clock.stops }

// Elapsed is how long the program ran and was measured between two times
// (CLOCK_MONOTONIC, ns), which may be in reverse order.
func (e *Engine) Elapsed(from, to uint64) int64 {
	return max(0, span(e.clock.at(from), e.clock.at(to))-e.off.T)
}

// Existing names threads that ran before measurement began at a time: what
// they do before they start or join a team that was seen may belong to a region
// instance that was under way, and is charged to a region of that name.
func (e *Engine) Existing(tids []int, at uint64) { e.presentSince(tids, e.clock.at(at)) }

// Advance says that every event older than now (CLOCK_MONOTONIC, ns) has been
// fed, so that what still waits for one is settled with what there is.
func (e *Engine) Advance(now uint64) { e.advance(e.clock.at(now)) }

// Pause ends the measurement for now, at a time (CLOCK_MONOTONIC, ns) up to
// which all events have been fed: what is open is counted, with its time until
// then.
func (e *Engine) Pause(at uint64) { e.pauseAt(e.clock.at(at)) }

// Resume goes on after Pause: the threads that run now may be inside regions,
// as at attach.
func (e *Engine) Resume(tids []int, at uint64) { e.resumeAt(tids, e.clock.at(at)) }

// Feed takes one event. It keeps nothing of what ev points to.
func (e *Engine) Feed(ev *event.Event) {
	e.events += hits(ev)
	e.clock.last = max(e.clock.last, ev.Time)
	if e.clock.sum != 0 {
		v := *ev
		v.Time = e.clock.at(ev.Time)
		if ev.MPI != nil {
			c := *ev.MPI
			c.Start = e.clock.at(c.Start)
			v.MPI = &c
		}
		if ev.Fold != nil {
			f := *ev.Fold
			f.Last = e.clock.at(f.Last)
			v.Fold = &f
		}
		ev = &v
	}
	e.feed(ev)
}

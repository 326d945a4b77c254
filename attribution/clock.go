package attribution

import (
	"ompp-attach/attribution/ledger"
	"ompp-attach/event"
)

// Stop is an interval in which the process was stopped to place probes. It is left out of the
// program's time.
type Stop struct {
	From uint64 `json:"from"` // CLOCK_MONOTONIC, ns
	To   uint64 `json:"to"`
}

// clock is the program's own clock: it stands still while the process is stopped. All times inside
// the engine are of this clock.
type clock struct {
	stops []Stop
	sum   uint64 // total length of the stops, ns
	last  uint64 // CLOCK_MONOTONIC of the latest event
}

// at converts a time of CLOCK_MONOTONIC to the program's clock, ns.
func (c *clock) at(t uint64) uint64 {
	out := c.sum
	for i := len(c.stops) - 1; i >= 0 && t < c.stops[i].To; i-- {
		s := c.stops[i]
		out -= s.To - max(s.From, min(t, s.To))
	}
	return t - out
}

// Stopped says that the process was stopped, and that all events of its threads before the stop
// have been fed. Call it in the order of the stops.
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

// Stops returns the stops that Stopped was told, in order.
func (e *Engine) Stops() []Stop { return e.clock.stops }

// Elapsed returns how long the program ran and was measured between two times (ns). from and to are
// times of CLOCK_MONOTONIC; if they are in reverse order, the result is 0.
func (e *Engine) Elapsed(from, to uint64) int64 {
	return max(0, ledger.Span(e.clock.at(from), e.clock.at(to))-e.off.T)
}

// Existing names the threads that ran before measurement began at a time (CLOCK_MONOTONIC, ns).
// Such a thread may be inside a region that was under way. Until it starts or joins a team that is
// seen, its events are charged to a region of the construct Unknown.
func (e *Engine) Existing(tids []int, at uint64) { e.presentSince(tids, e.clock.at(at)) }

// Advance says that every event older than now (CLOCK_MONOTONIC, ns) has been fed. Threads and
// teams that wait for an older event are settled with what is known.
func (e *Engine) Advance(now uint64) { e.advance(e.clock.at(now)) }

// Pause switches the measurement off at a time (CLOCK_MONOTONIC, ns). All events up to that time
// must have been fed. Open regions are counted, with their time until then.
func (e *Engine) Pause(at uint64) { e.pauseAt(e.clock.at(at)) }

// Resume switches the measurement on again after Pause, at a time (CLOCK_MONOTONIC, ns). The
// threads named in tids run now and may be inside regions, as at attach.
func (e *Engine) Resume(tids []int, at uint64) { e.resumeAt(tids, e.clock.at(at)) }

// Feed takes one event. The engine keeps no reference to the memory that ev points to.
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

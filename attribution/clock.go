package attribution

import "ompp-attach/event"

// Stop is an interval of CLOCK_MONOTONIC (ns) in which the process was stopped to place probes. It
// is left out of the program's time.
type Stop = event.Stop

// clock is the program's own clock: it stands still while the process is stopped. All times inside
// the engine are of this clock.
type clock struct {
	stops []Stop
	sum   uint64 // total length of the stops, ns
	last  uint64 // CLOCK_MONOTONIC of the latest event
	// What convert returns. It is used again for each event: otherwise each event of a program that
	// was stopped once would be allocated.
	event   event.Event
	fold    event.Fold
	offCore event.OffCoreTime
	call    event.MPICall
}

// convert returns an event with times of the program's clock. It is valid until the next call.
func (c *clock) convert(ev *event.Event) *event.Event {
	c.event = *ev
	v := &c.event
	v.Time = c.at(ev.Time)
	if ev.MPI != nil {
		c.call = *ev.MPI
		c.call.Start = c.at(c.call.Start)
		v.MPI = &c.call
	}
	if ev.Fold != nil {
		c.fold = *ev.Fold
		c.fold.Last = c.at(c.fold.Last)
		v.Fold = &c.fold
	}
	if ev.OffCore != nil {
		c.offCore = *ev.OffCore
		c.offCore.Off = c.at(c.offCore.Off)
		if c.offCore.Woken != 0 {
			c.offCore.Woken = c.at(c.offCore.Woken)
		}
		v.OffCore = &c.offCore
	}
	return v
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

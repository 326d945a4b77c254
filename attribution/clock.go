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

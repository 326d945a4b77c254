package attribution

import (
	"ompp-attach/event"
	"ompp-attach/profile"
)

// overhead returns the hits by kind; nil if no event told of its probe.
func (e *Engine) overhead() *profile.Overhead {
	var o *profile.Overhead
	for p, n := range e.hits {
		if n == 0 || event.Probe(p).Class() == event.NoProbe {
			continue
		}
		if o == nil {
			o = &profile.Overhead{}
		}
		c := e.costs.Kinds[p]
		o.Probes = append(o.Probes, profile.ProbeHits{
			Probe: event.Probe(p).String(), Reads: event.Probe(p).Reads(), Kept: event.Probe(p).IsKept(),
			Hits: n, Before: c.Before, After: c.After,
		})
	}
	return o
}

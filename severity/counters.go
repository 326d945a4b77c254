package severity

import (
	"fmt"

	"ompp-attach/profile"
)

// CounterPrefix begins the IDs of performance counters, before their names.
const CounterPrefix = "counter:"

// counters defines a property for each performance counter that was read.
func (w *walker) counters() {
	for _, c := range w.p.Meta.Counters {
		if c.Failed != "" {
			w.counter = append(w.counter, -1)
			continue
		}
		unit := Count
		if c.Unit == "ns" {
			unit = Seconds
		}
		w.counter = append(w.counter, w.define(Property{ID: CounterPrefix + c.Name, Name: c.Name, Unit: unit, Source: own,
			Description: fmt.Sprintf("What the performance counter %s counted in regions.", c.Name),
			Formula:     "the counter, as it was read at the start and the end of each region"}))
	}
}

// countersAt adds the exclusive counts of a thread at a node.
func (w *walker) countersAt(node int, s *profile.ThreadStats) {
	for i, property := range w.counter {
		if property < 0 || i >= len(s.Counters) {
			continue
		}
		v := s.Counters[i]
		if i < len(s.ChildCounters) {
			v -= s.ChildCounters[i]
		}
		mark := Mark(0)
		if s.Uncounted > 0 {
			mark = Estimated // some are missing
		}
		w.put(property, node, s.Thread, v, mark)
	}
}

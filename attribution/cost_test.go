package attribution

import (
	"testing"

	"ompp-attach/event"
)

// probed returns what a stream would have been, had each event been reported by
// a probe that took time: every thread is later by all that its earlier hits
// took, and a hit's own first part. For threads that do not wait for each other.
func probed(events []event.Event, kind func(*event.Event) event.Probe, costs *event.HitCosts) (out []event.Event, taken map[uint32]int64) {
	taken = map[uint32]int64{}
	for _, ev := range events {
		ev.Probe = kind(&ev)
		c := costs.Kinds[ev.Probe]
		d := taken[ev.TID]
		if ev.MPI != nil {
			call := *ev.MPI
			ret := costs.Kinds[event.ProbeReturn]
			reading := c.After - costs.Kinds[ev.Probe.Class()].After
			d += c.Before + reading
			call.Start += uint64(d)
			ev.MPI = &call
			d += c.After - reading - costs.Record + ret.Before
			ev.Time += uint64(d)
			taken[ev.TID] = d + ret.After
		} else {
			ev.Time += uint64(d + c.Before)
			taken[ev.TID] = d + c.Sum()
		}
		out = append(out, ev)
	}
	return out, taken
}

var testCosts = event.HitCosts{Record: 10, Kinds: [event.NumProbes]event.HitCost{
	event.ProbeNop5: {Before: 30, After: 17}, event.ProbeEmulated: {Before: 41, After: 27}, event.ProbeCall: {Before: 43, After: 29},
	event.ProbeSingleStep: {Before: 61, After: 1003}, event.ProbeReturn: {Before: 26, After: 19},
	event.ProbeEmulated.Reading(1): {Before: 41, After: 38},
}}

// someKind spreads the kinds over the events.
func someKind(ev *event.Event) event.Probe {
	switch {
	case ev.MPI != nil:
		return event.ProbeEmulated.Reading(1)
	case ev.Edge == event.Acquired, ev.Edge == event.Waited, ev.Edge == event.Result:
		return event.ProbeReturn
	case ev.Construct.IsParallel():
		return event.ProbeCall
	case ev.Construct.IsTasking():
		return event.ProbeNop5
	case ev.Edge == event.Open:
		return event.ProbeSingleStep
	}
	return event.ProbeEmulated
}

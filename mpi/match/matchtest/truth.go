package matchtest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"ompp-attach/mpi/match"
	"ompp-attach/mpi/match/pattern"
)

// The truth on a model's calls: who waited for whom, and how long.

// Seen reports whether a rank's log has a call.
func (m *Model) Seen(rank, call int) bool {
	if m.Since != nil && m.Calls[rank][call].Start < m.Since[rank] {
		return false
	}
	return m.Until[rank] == 0 || m.Calls[rank][call].Start < m.Until[rank]
}

// Counted reports whether the messages of a rank that was attached to can be counted back from its
// end.
func (m *Model) Counted(rank int) bool { return m.Ended != nil && m.Ended[rank] }

// Matched reports whether the logs of all ranks that take part have their calls of the event.
func (m *Model) Matched(e *Event) bool {
	if m.Since != nil && (e.Kind == pattern.Message || e.Kind == pattern.Probing) {
		if !m.Counted(e.Rank) || !m.Counted(e.With[0].Rank) {
			return false
		}
	} else if m.Since != nil && m.Unordered {
		return false
	}
	for _, o := range append([]*Event{e}, e.With...) {
		if !m.Seen(o.Rank, o.Begin) {
			return false
		}
	}
	for rank := range m.Until { // with logs that end early, it is not known who holds a lock
		if e.Kind == pattern.Locking && m.Until[rank] > 0 && m.Until[rank] <= m.Of(e).End {
			return false
		}
	}
	return true
}

// received reports whether it is known for which call of the receiver the send e waited in call c.
func (m *Model) received(e *Event, c *match.Call) bool {
	if e.Kind != pattern.Message || !e.Send || e.With[0].then == 0 || m.Of(e).Op == Op("Bsend") {
		return true
	}
	r := e.With[0]
	return m.Seen(r.Rank, r.then) || c.End <= m.Of(r).End
}

// Truth returns the waits by property and places, in ns. It leaves out waits that are due to a
// wrong order.
func (m *Model) Truth() map[string]int64 {
	type at struct{ Rank, call int }
	byCall := map[at][]*Event{}
	for _, e := range m.Events {
		if e.Wait >= 0 && m.Seen(e.Rank, e.Wait) {
			byCall[at{e.Rank, e.Wait}] = append(byCall[at{e.Rank, e.Wait}], e)
		}
	}
	out := map[string]int64{}
	for w, list := range byCall {
		c := &m.Calls[w.Rank][w.call]
		best, name := int64(0), ""
		for _, e := range list {
			if !m.Matched(e) || !m.received(e, c) {
				best = -1
				break
			}
			if wait, n := m.waits(e, c); wait > best || wait == best && name != "" && n < name {
				best, name = wait, n
			}
		}
		if best > 0 {
			out[name] += best
		}
		for _, e := range list { // the send that waited longest
			if wait, n := m.waits(e, c); best > 0 && n == name && wait == best && e.Send && m.overtakes(e) {
				out[strings.Replace(name, fmt.Sprint(match.LateReceiver), fmt.Sprint(match.LateReceiverOrder), 1)] += best
			}
		}
	}
	return out
}

// overtakes reports whether a message was received before an older one of the same sender.
func (m *Model) overtakes(e *Event) bool {
	r := e.With[0]
	return slices.ContainsFunc(m.Events, func(o *Event) bool {
		if o.Kind != pattern.Message || !o.Send || o.Rank != e.Rank || o.With[0].Rank != r.Rank || !m.Seen(o.Rank, o.Begin) {
			return false
		}
		seen := m.Seen(r.Rank, o.With[0].Begin)
		if !seen && m.Since != nil {
			return false // the older message was received before
		}
		return m.Of(o).Start < m.Of(e).Start && (!seen || m.Of(o.With[0]).Start > m.Of(r).Start)
	})
}

// waits returns how long a call waited for an operation, with the property and the places.
func (m *Model) waits(e *Event, c *match.Call) (int64, string) {
	if len(e.With) == 0 {
		return 0, ""
	}
	property, due := match.LateSender, m.Of(e.With[0])
	pick := func(better func(o, due *match.Call) bool, of func(*Event) bool) {
		due = nil
		for _, o := range e.With {
			if k := m.Of(o); of(o) && (due == nil || better(k, due)) {
				due = k
			}
		}
	}
	later := func(o, due *match.Call) bool { return o.Start > due.Start }
	all := func(*Event) bool { return true }
	switch e.Kind {
	case pattern.Message:
		if e.Send {
			if r := e.With[0]; r.then > 0 && m.Calls[r.Rank][r.then].Start < c.End {
				due = &m.Calls[r.Rank][r.then]
			}
			if property = match.LateReceiver; due.Start >= c.End || c.Op == Op("Bsend") {
				return 0, ""
			}
		}
	case pattern.Barrier:
		property = match.WaitAtBarrier
		pick(later, all)
	case pattern.AllToAll:
		property = match.WaitAtNxN
		pick(later, all)
	case pattern.Prefix:
		property = match.EarlyScan
		pick(later, func(o *Event) bool { return o.Rank <= e.Rank })
	case pattern.Starting, pattern.Closing:
		property = match.LatePost
		if pick(later, all); due.Start >= c.End {
			return 0, ""
		}
	case pattern.Locking:
		property = match.LockContention
		pick(later, all)
	case pattern.Exposed:
		property = match.EarlyWait
		pick(later, all)
	case pattern.OneToAll:
		if property = match.LateBroadcast; e.Rank == e.root {
			return 0, ""
		}
		pick(later, func(o *Event) bool { return o.Rank == e.root })
	case pattern.AllToOne:
		if property = match.EarlyReduce; e.Rank != e.root {
			return 0, ""
		}
		pick(func(o, due *match.Call) bool { return o.Start < due.Start }, func(o *Event) bool { return o != e })
	}
	t := min(int64(due.Start), int64(c.End)) - int64(c.Start)
	return t, fmt.Sprintf("%d: %d<%d", property, c.Site, due.Site)
}

// Found returns the waits of a result as Truth does.
func Found(r *match.Result) map[string]int64 {
	out := map[string]int64{}
	for _, w := range r.Waits {
		switch w.Property {
		case match.LateSenderDone, match.LateReceiverDone, match.BarrierCompletion, match.NxNCompletion, match.WrongOrder, match.WrongOrderOther:
			continue
		}
		out[fmt.Sprintf("%d: %d<%d", w.Property, w.At.Site, w.Due.Site)] += w.T
	}
	return out
}

// CheckCounts compares how many calls were matched, and how many were not, with how many should be.
func (m *Model) CheckCounts(t *testing.T, r *match.Result) {
	t.Helper()
	var sends, receives, probes, collectives, epochs, locks match.Count
	for _, e := range m.Events {
		if !m.Seen(e.Rank, e.Begin) {
			continue
		}
		n := &collectives
		if e.Kind == pattern.Message && e.Send {
			n = &sends
		} else if e.Kind == pattern.Message {
			n = &receives
		} else if e.Kind == pattern.Probing {
			n = &probes
		} else if e.Kind >= pattern.Posting && e.Kind <= pattern.Exposed {
			n = &epochs
		} else if e.Kind == pattern.Locking {
			n = &locks
		}
		if n.Calls++; m.Matched(e) {
			n.Matched++
		} else {
			n.Left[match.NoPartner]++
		}
	}
	if r.Sends != sends || r.Receives != receives || r.Probes != probes || r.Collectives != collectives || r.Epochs != epochs || r.Locks != locks {
		t.Fatalf("got  %+v %+v %+v %+v %+v %+v\nwant %+v %+v %+v %+v %+v %+v",
			r.Sends, r.Receives, r.Probes, r.Collectives, r.Epochs, r.Locks, sends, receives, probes, collectives, epochs, locks)
	}
}

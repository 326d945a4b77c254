package reader

import (
	"fmt"
	"slices"
	"strings"

	"ompp-attach/mpi/match"
	"ompp-attach/mpi/match/pattern"
)

// What is true of a model's calls: who waited for whom, and how long.

// seen reports whether a rank's log has a call.
func (m *model) seen(rank, call int) bool {
	if m.since != nil && m.calls[rank][call].Start < m.since[rank] {
		return false
	}
	return m.until[rank] == 0 || m.calls[rank][call].Start < m.until[rank]
}

// counted reports whether the messages of a rank that was attached to can be counted back from its
// end.
func (m *model) counted(rank int) bool { return m.ended != nil && m.ended[rank] }

// matched reports whether the log of every rank has its part.
func (m *model) matched(e *event) bool {
	if m.since != nil && (e.kind == pattern.Message || e.kind == pattern.Probing) {
		if !m.counted(e.rank) || !m.counted(e.with[0].rank) {
			return false
		}
	} else if m.since != nil && m.unordered {
		return false
	}
	for _, o := range append([]*event{e}, e.with...) {
		if !m.seen(o.rank, o.begin) {
			return false
		}
	}
	for rank := range m.until { // it is not known who holds a lock
		if e.kind == pattern.Locking && m.until[rank] > 0 && m.until[rank] <= m.of(e).End {
			return false
		}
	}
	return true
}

// received reports whether it is known for which call of the receiver a send waited, in a call.
func (m *model) received(e *event, c *match.Call) bool {
	if e.kind != pattern.Message || !e.send || e.with[0].then == 0 || m.of(e).Op == op("Bsend") {
		return true
	}
	r := e.with[0]
	return m.seen(r.rank, r.then) || c.End <= m.of(r).End
}

// truth returns the waits by property and places, in ns, without those in the wrong order.
func (m *model) truth() map[string]int64 {
	type at struct{ rank, call int }
	byCall := map[at][]*event{}
	for _, e := range m.events {
		if e.wait >= 0 && m.seen(e.rank, e.wait) {
			byCall[at{e.rank, e.wait}] = append(byCall[at{e.rank, e.wait}], e)
		}
	}
	out := map[string]int64{}
	for w, list := range byCall {
		c := &m.calls[w.rank][w.call]
		best, name := int64(0), ""
		for _, e := range list {
			if !m.matched(e) || !m.received(e, c) {
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
			if wait, n := m.waits(e, c); best > 0 && n == name && wait == best && e.send && m.overtakes(e) {
				out[strings.Replace(name, fmt.Sprint(match.LateReceiver), fmt.Sprint(match.LateReceiverOrder), 1)] += best
			}
		}
	}
	return out
}

// overtakes reports whether a message was received before an older one of the same sender.
func (m *model) overtakes(e *event) bool {
	r := e.with[0]
	return slices.ContainsFunc(m.events, func(o *event) bool {
		if o.kind != pattern.Message || !o.send || o.rank != e.rank || o.with[0].rank != r.rank || !m.seen(o.rank, o.begin) {
			return false
		}
		seen := m.seen(r.rank, o.with[0].begin)
		if !seen && m.since != nil {
			return false // it was received before
		}
		return m.of(o).Start < m.of(e).Start && (!seen || m.of(o.with[0]).Start > m.of(r).Start)
	})
}

// waits returns how long a call waited for an operation, with the property and the places.
func (m *model) waits(e *event, c *match.Call) (int64, string) {
	if len(e.with) == 0 {
		return 0, ""
	}
	property, due := match.LateSender, m.of(e.with[0])
	pick := func(better func(o, due *match.Call) bool, of func(*event) bool) {
		due = nil
		for _, o := range e.with {
			if k := m.of(o); of(o) && (due == nil || better(k, due)) {
				due = k
			}
		}
	}
	later := func(o, due *match.Call) bool { return o.Start > due.Start }
	all := func(*event) bool { return true }
	switch e.kind {
	case pattern.Message:
		if e.send {
			if r := e.with[0]; r.then > 0 && m.calls[r.rank][r.then].Start < c.End {
				due = &m.calls[r.rank][r.then]
			}
			if property = match.LateReceiver; due.Start >= c.End || c.Op == op("Bsend") {
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
		pick(later, func(o *event) bool { return o.rank <= e.rank })
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
		if property = match.LateBroadcast; e.rank == e.root {
			return 0, ""
		}
		pick(later, func(o *event) bool { return o.rank == e.root })
	case pattern.AllToOne:
		if property = match.EarlyReduce; e.rank != e.root {
			return 0, ""
		}
		pick(func(o, due *match.Call) bool { return o.Start < due.Start }, func(o *event) bool { return o != e })
	}
	t := min(int64(due.Start), int64(c.End)) - int64(c.Start)
	return t, fmt.Sprintf("%d: %d<%d", property, c.Site, due.Site)
}

func found(r *match.Result) map[string]int64 {
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

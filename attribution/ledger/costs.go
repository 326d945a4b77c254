package ledger

import (
	"ompp-attach/event"
	"ompp-attach/profile"
)

// SetCosts sets the time that hits of probes take (ns). Before that, hits count as free.
func (l *Ledger) SetCosts(c event.HitCosts) { l.costs = c }

// Return returns the time that the hit at a call's return takes (ns).
func (l *Ledger) Return() event.HitCost { return l.costs.Kinds[event.ProbeReturn] }

// Hit counts a hit. due is the time that the thread's last hit took after its time stamp; Hit sets
// it to that of this hit. It returns the time that probes took since the last time stamp, and all
// of the time that this hit takes (ns).
func (l *Ledger) Hit(ev *event.Event, due *int64) (before, all int64) {
	l.hits[ev.Probe%event.NumProbes]++
	c := l.costs.Kinds[ev.Probe%event.NumProbes]
	before, all = *due+c.Before, c.Sum()
	if left := ev.LeftOut; left != 0 {
		for p := event.ProbeNop5; p <= event.ProbeSingleStep; p++ {
			l.hits[p.LeftOut()] += left.Of(p)
		}
		_, ns := left.Cost(&l.costs)
		before, all = before+ns, all+ns
	}
	*due = c.After
	if ev.MPI != nil {
		return l.hitCall(ev, due, before)
	}
	return before, all
}

// An MPI call is one event of two hits. The record of the first hit is written at the second one.
// The first hit takes its time stamp after it has read the call's arguments.

// hitCall returns the time that probes took before a call, and the time in all (ns). known is the
// part before the call that is already known.
func (l *Ledger) hitCall(ev *event.Event, due *int64, known int64) (before, all int64) {
	k := &l.costs.Kinds
	if ev.Probe == event.NoProbe { // an operation that MPI_Start has started is no call
		return known, 0
	}
	reading := k[ev.Probe].After - k[ev.Probe.WithoutReads()].After
	inside := l.InsideCall(ev)
	before, *due = known+reading, 0
	if ev.Edge != event.Enter {
		l.hits[event.ProbeReturn]++
		*due = k[event.ProbeReturn].After
	}
	return before, k[ev.Probe].Before + reading + inside + *due
}

// InsideCall returns the time that probes took between the two time stamps of an MPI call (ns).
func (l *Ledger) InsideCall(ev *event.Event) int64 {
	if ev.Probe == event.NoProbe || ev.Edge == event.Enter {
		return 0
	}
	k := &l.costs.Kinds
	return max(0, k[ev.Probe.WithoutReads()].After-l.costs.Record) + k[event.ProbeReturn].Before
}

// HitFolded counts the hits of folded executions. It returns the time that probes took inside the
// executions and outside of them (ns).
func (l *Ledger) HitFolded(ev *event.Event) (inside profile.Cost, outside int64) {
	entries, returns, others := foldHits(ev.Fold)
	l.hits[foldedKind(ev.Probe)] += entries
	l.hits[event.ProbeFoldedReturn] += returns + others
	return l.FoldCost(ev.Fold, ev.Probe)
}

// foldedKind returns the kind of the hits of folded executions that begin at a hit of kind p.
func foldedKind(p event.Probe) event.Probe {
	if p.WithoutReads() == event.ProbeJump {
		return event.ProbeFoldedJump
	}
	return event.ProbeFolded
}

// foldHits divides the hits of folded executions: entries, returns that belong to an execution, and
// others, for example tests of a lock that failed.
func foldHits(f *event.Fold) (entries, returns, others uint64) {
	if f.Executions == 0 {
		return f.Hits / 2, 0, f.Hits - f.Hits/2
	}
	entries, most := 2*f.Executions, 2*f.Executions
	if f.Bodies == 0 { // the construct is over when its call returns
		entries, most = f.Executions, f.Executions
	}
	entries = min(entries, f.Hits)
	returns = min(f.Hits-entries, most)
	return entries, returns, f.Hits - entries - returns
}

// FoldCost returns the time that probes took inside folded executions and outside of them (ns), as
// if each execution had been reported by itself.
func (l *Ledger) FoldCost(f *event.Fold, p event.Probe) (inside profile.Cost, outside int64) {
	kind := foldedKind(p)
	k, ret := l.costs.Kinds[kind], l.costs.Kinds[event.ProbeFoldedReturn]
	own, usual := l.costs.Kinds[p.WithoutReads()], l.costs.Kinds[event.ProbeEmulated]
	if kind == event.ProbeFolded && own.Sum() > usual.Sum() {
		k.Before += own.Before - usual.Before
		k.After += own.After - usual.After
	}
	entries, returns, others := foldHits(f)
	n, r := int64(f.Executions), int64(returns)
	outside = int64(others) * ret.Sum()
	switch {
	case n == 0:
		return inside, outside + int64(entries)*k.Sum()
	case f.Bodies == 0:
		inside.Exit = r*(k.After+ret.Before) + (n-r)*k.After
		inside.Exec = inside.Exit
		return inside, outside + n*k.Before + r*ret.After
	}
	acquired := r // returns before the body; the others are after it
	switch {
	case f.Enter == 0:
		acquired = 0
	case f.Exit != 0:
		acquired = (r + 1) / 2
	}
	acquired = min(acquired, n)
	released := min(r-acquired, n)
	inside.Enter = acquired * (k.After + ret.Before)
	inside.Body = acquired*(ret.After+k.Before) + (n-acquired)*k.Sum()
	inside.Exit = released * (k.After + ret.Before)
	inside.Exec = inside.Enter + inside.Body + inside.Exit
	return inside, outside + n*k.Before + released*ret.After + (n-released)*k.After
}

// Overhead returns the hits by kind; nil if no event told of its probe.
func (l *Ledger) Overhead() *profile.Overhead {
	var o *profile.Overhead
	for p, n := range l.hits {
		if n == 0 || event.Probe(p).WithoutReads() == event.NoProbe {
			continue
		}
		if o == nil {
			o = &profile.Overhead{}
		}
		c := l.costs.Kinds[p]
		o.Probes = append(o.Probes, profile.ProbeHits{
			Probe: event.Probe(p).String(), Reads: event.Probe(p).Reads(),
			Hits: n, Before: c.Before, After: c.After,
		})
	}
	return o
}

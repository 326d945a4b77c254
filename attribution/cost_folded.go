package attribution

import (
	"ompp-attach/event"
	"ompp-attach/profile"
)

// taxFolds charges the time that probes took in executions which the kernel side has added up, as
// if each had been pushed and popped.
func (e *Engine) taxFolds(t *thread, ev *event.Event) {
	d := t.due
	t.due = 0
	inside, outside := e.foldCost(ev.Fold, ev.Probe)
	entries, returns, others := foldHits(ev.Fold)
	e.hits[event.ProbeFolded] += entries
	e.hits[event.ProbeFoldedReturn] += returns + others
	if f := t.top(); f != nil {
		y := &f.tolls[byProbes]
		y.child += inside.Exec
		y.parts[f.part()] += d + outside + inside.Exec
	}
	e.root.stat(t.row).AddCost(profile.Cost{Exec: outside + inside.Exec})
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

// foldCost returns the time that probes took inside folded executions and outside of them (ns).
func (e *Engine) foldCost(f *event.Fold, p event.Probe) (inside profile.Cost, outside int64) {
	k, ret := e.costs.Kinds[event.ProbeFolded], e.costs.Kinds[event.ProbeFoldedReturn]
	if own, usual := e.costs.Kinds[p.Class()], e.costs.Kinds[event.ProbeEmulated]; own.Sum() > usual.Sum() {
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

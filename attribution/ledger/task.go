package ledger

import "ompp-attach/profile"

// Interval is the time in which a thread executed tasks while the regions around stood still.
type Interval struct {
	Wall   int64  // the whole time, ns
	Active int64  // the tasks' own time, ns
	Tasks  uint64 // number of tasks

	tolls     [NumTolls]struct{ wall, active int64 }
	counters  counts
	uncounted bool
}

// Executed returns the interval of one task, whose account ends after the wall time (ns).
func (l *Ledger) Executed(a *Account, wall int64) (v Interval) {
	v = Interval{Wall: wall, Active: wall - a.Suspended, Tasks: 1, uncounted: a.Uncounted}
	for k := range a.tolls {
		y := &a.tolls[k]
		v.tolls[k].wall, v.tolls[k].active = y.whole(), y.own()
	}
	if a.counters != nil {
		v.counters = a.counters.whole()
	}
	return v
}

// Interrupted returns the interval of the tasks that interrupted a task of the runtime's own, and
// takes it out of that task's account.
func (l *Ledger) Interrupted(a *Account) (v Interval) {
	v = Interval{Wall: a.Suspended, Active: a.Task, Tasks: a.Tasks, uncounted: a.Uncounted}
	for k := range a.tolls {
		y := &a.tolls[k]
		v.tolls[k].wall, v.tolls[k].active = y.suspended, y.tasks
		y.suspended = 0
	}
	if a.counters != nil {
		v.counters, a.counters.suspended = a.counters.suspended, counts{}
	}
	return v
}

// StandStill notes that an account's clock stood still for an interval.
func (l *Ledger) StandStill(a *Account, v *Interval) {
	a.Suspended += v.Wall
	for k := range a.tolls {
		a.tolls[k].suspended += v.tolls[k].wall
	}
	if l.width != 0 {
		l.countersOf(a).suspended.add(&v.counters)
	}
}

// Hold notes that an interval lies in the time of an account, and in which part of it.
func (l *Ledger) Hold(a *Account, v *Interval, part profile.Part) {
	a.Child += v.Wall
	for k := range a.tolls {
		a.tolls[k].contain(v.tolls[k].wall, part)
	}
	l.HoldCounters(a, v)
}

// HoldCounters is Hold for the counters alone.
func (l *Ledger) HoldCounters(a *Account, v *Interval) {
	if l.width != 0 {
		l.countersOf(a).contain(&v.counters)
	}
}

// Waited notes tasks that were executed while waiting in an account's region. Their time is the
// wall time of the interval, or the tasks' own time.
func (a *Account) Waited(v *Interval, own bool) {
	time := v.Wall
	if own {
		time = v.Active
	}
	a.Task += time
	a.Tasks += v.Tasks
	for k := range a.tolls {
		if own {
			a.tolls[k].tasks += v.tolls[k].active
		} else {
			a.tolls[k].tasks += v.tolls[k].wall
		}
	}
}

package ledger

import "ompp-attach/profile"

// Share is the account of one thread's part in a team, from the end of its body on.
type Share struct {
	Child int64  // time in regions entered from the body, ns
	Task  int64  // time executing tasks in the final barrier, ns
	Tasks uint64 // number of these tasks

	tolls     [NumTolls]toll
	taskTolls [NumTolls]int64 // in tasks executed in the final barrier
	wayTolls  [NumTolls]int64 // in the barrier, before such tasks began
	counters  *tally
	uncounted bool
}

// Tolls are times of one span, by kind of toll, ns.
type Tolls [NumTolls]int64

// EndBody starts the share of a thread whose body ends. A worker's next event is the begin of its
// next region, so its counts in the final barrier are not known.
func (l *Ledger) EndBody(s *Share, a *Account, worker bool) {
	s.Child, s.tolls, s.uncounted = a.Child, a.tolls, a.Uncounted
	if worker {
		s.counters, a.counters = a.counters, nil
	}
}

// Lose notes that the end of the body was lost.
func (s *Share) Lose() { s.uncounted = true }

// Execute adds an interval of tasks that were executed in the final barrier. The counters of the
// primary thread are in its account until the join.
func (l *Ledger) Execute(s *Share, v *Interval, worker bool) {
	s.Task += v.Wall
	s.Tasks += v.Tasks
	for k := range s.taskTolls {
		s.taskTolls[k] += v.tolls[k].wall
	}
	if !worker || l.width == 0 {
		return
	}
	s.uncounted = s.uncounted || v.uncounted
	if s.counters == nil {
		s.counters = l.newTally()
	}
	s.counters.contain(&v.counters)
}

// TakenBy returns the time that probes took in the tasks of an interval (ns).
func (v *Interval) TakenBy() int64 { return v.tolls[ByProbes].wall }

// PayWay adds a toll in the final barrier, before a task.
func (s *Share) PayWay(k Toll, d int64) { s.wayTolls[k] += d }

// Join ends the primary thread's part in a team. It returns the tolls from the end of its body to
// the join. They belong to the team's exit, except those of tasks that the thread executed. s is
// nil if the thread's part is not known.
func (l *Ledger) Join(a *Account, s *Share) (exit Tolls) {
	for k := range a.tolls {
		exit[k] = a.tolls[k].parts[profile.Barrier]
		if s != nil {
			exit[k] -= s.wayTolls[k]
			a.tolls[k].suspended += s.taskTolls[k] // for the region around the team's
		}
	}
	if s != nil {
		s.counters, s.uncounted = a.counters, a.Uncounted
	}
	return exit
}

// Count adds the counters of a share to the figures of the team's region, and frees their memory.
func (l *Ledger) Count(s *Share, to *profile.ThreadStats) {
	l.count(to, s.counters, s.uncounted)
	l.release(s.counters)
	s.counters = nil
}

// Taken returns the time that the thread's probes took until the end of its body (ns).
func (s *Share) Taken() int64 { return s.tolls[ByProbes].own() }

// Entered returns a toll of the time until the body began (ns).
func (s *Share) Entered(k Toll) int64 { return s.tolls[k].parts[profile.Enter] }

// Some tells whether there was any toll of a kind.
func (s *Share) Some(k Toll) bool { return s.tolls[k].some() || s.taskTolls[k]|s.wayTolls[k] != 0 }

// InBarrier returns a toll of the final barrier: of tasks, and before them (ns).
func (s *Share) InBarrier(k Toll) int64 { return s.taskTolls[k] + s.wayTolls[k] }

// AddCost adds a toll of a share to a cost. enter, barrier and exit are the tolls in the times that
// all threads of the team decide together (ns). late is the part of barrier that is not the
// thread's own toll.
func (s *Share) AddCost(k Toll, enter, barrier, exit, late int64, to **profile.Cost) {
	y, task := &s.tolls[k], s.taskTolls[k]
	body, rest := y.parts[profile.Body], y.parts[profile.Exec]
	if enter|barrier|exit|body|rest|y.child|task == 0 {
		return
	}
	c := *to
	if c == nil {
		c = &profile.Cost{}
		*to = c
	}
	c.Exec += rest + enter + body + barrier + exit
	c.Enter += enter
	c.Body += body
	c.Barrier += barrier
	c.Exit += exit
	c.Child += y.child + task
	c.Task += task
	c.Wait += late
}

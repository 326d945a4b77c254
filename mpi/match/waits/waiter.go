package waits

import "ompp-attach/mpi/match"

// Operation is a nonblocking operation. The reader calls CompletedBy with the call that waited for
// the operation's request.
type Operation interface{ CompletedBy(w *Waiter) }

// Lost returns an operation that was not matched.
func (b *Ledger) Lost(why match.Reason) Operation { return lost{b, why} }

type lost struct {
	ledger *Ledger
	why    match.Reason
}

// CompletedBy implements Operation.
func (l lost) CompletedBy(w *Waiter) { l.ledger.Fail(w, l.why) }

// Waiter is a call in which a rank waits for one operation, or for the operations of several
// requests. Only the operation for which the rank waited longest counts.
type Waiter struct {
	Stay
	Open     int          // operations that are not matched yet
	Requests bool         // the call waits for requests
	Probes   bool         // the call is MPI_Probe, which receives nothing
	dead     bool         // an operation could not be matched
	why      match.Reason // if dead: why the first such operation could not be matched
	some     bool         // best is set
	best     One
	least    int64 // the longest wait is from least to most (ns)
	most     int64
	last     match.Origin
	rival    int64 // the most that a wait for another rank than best's can be (ns)
}

// take compares one more wait with those of the call so far: only the longest counts.
func (w *Waiter) take(l One) {
	other := l
	if !w.some || l.exceeds(&w.best) {
		w.some, w.best, other = true, l, w.best
	}
	w.least, w.most = max(w.least, l.least), max(w.most, l.most)
	if other.Due != w.best.Due {
		w.rival = max(w.rival, other.most)
	}
}

// origin returns the last event for which the call had to wait.
func (w *Waiter) origin() match.Origin {
	switch {
	case w.dead:
		return match.Origin{Unknown: true}
	case w.last.At <= w.Start:
		return match.Origin{}
	}
	return w.last
}

package reader

import "ompp-attach/mpi/match"

// waiter is a call in which a rank waits for one operation, or for those of several requests. Only
// the operation for which the rank waited longest counts.
type waiter struct {
	rank       *rank
	call       int // number of the call
	at         match.Place
	start, end uint64
	requests   bool         // the call waits for requests
	probes     bool         // it is MPI_Probe, which receives nothing
	open       int          // operations that are not matched yet
	dead       bool         // an operation could not be matched
	why        match.Reason // if dead: why the first such operation could not be matched
	some       bool         // best is set
	best       longest
	least      int64 // the longest wait is from least to most (ns)
	most       int64
	last       match.Origin
	rival      int64 // the most that a wait due to another rank than best's can be (ns)
}

// longest is a wait of a rank in a call, with the rank to which it is due. Times are in ns.
type longest struct {
	property, after match.Property // of wait, and of rest
	wait, rest      int64          // until the other rank came, and from then on
	due             match.Place
	sent            uint64       // when the late sender sent
	from            *rank        // the late sender
	overtakes       bool         // side.overtakes of the send
	last            match.Origin // what the call had to wait for
	// How wrong wait and rest may be, because clocks of several machines are compared.
	bound, restBound int64
	least, most      int64
	unsure           bool // the wait may be due to another call
}

// exceeds reports whether l counts rather than o, another wait of the same call. If a call waited
// equally long to send and to receive, the receive counts.
func (l *longest) exceeds(o *longest) bool {
	switch {
	case l.wait != o.wait:
		return l.wait > o.wait
	case l.wait > 0 && l.property != o.property:
		return l.property < o.property
	}
	return l.rest > o.rest
}

// fail notes that one operation could not be matched.
func (r *run) fail(w *waiter, why match.Reason) {
	if !w.dead {
		w.dead, w.why = true, why
	}
	r.finish(w)
}

// offer adds the wait for one operation of a waiter, which is matched now.
func (r *run) offer(w *waiter, l longest) {
	l.clip(int64(w.end - w.start))
	w.take(l)
	if l.last.At > w.last.At {
		w.last = l.last
	}
	r.finish(w)
}

// finish counts one operation of a waiter as done, and adds the wait if it was the last one.
func (r *run) finish(w *waiter) {
	if w.open--; w.open > 0 {
		return
	}
	r.known(w)
	if w.requests {
		if w.dead {
			r.result.Requests.Leave(w.why)
			return
		}
		r.result.Requests.Calls++
		r.result.Requests.Matched++
	}
	if w.dead || !w.some {
		return
	}
	b := &w.best
	due, bound, told := r.count(w)
	if x := r.waits.add(b.after, w.at, w.at, b.rest); x != nil {
		x.Bound += b.restBound
	}
	if told && b.property == match.LateSender && b.wait > 0 && !w.probes {
		w.rank.lates.add(late{wait: b.wait, bound: bound, start: w.start, sent: b.sent, from: b.from, at: w.at, due: due})
	}
}

// late is a receive whose sender was late.
type late struct {
	wait, bound int64
	start, sent uint64
	from        *rank
	at, due     match.Place
	told        bool // its wrong order has been counted
}

// lates holds the latest such receives of a rank.
type lates struct {
	list [16]late
	n    int
}

func (s *lates) add(l late) {
	s.list[s.n%len(s.list)] = l
	s.n++
}

// wrongOrder looks for earlier receives that waited for a late sender while the message that is
// received now had already been sent.
func (r *run) wrongOrder(k, from *rank, start, sent uint64) {
	for i := range k.lates.list[:min(k.lates.n, len(k.lates.list))] {
		l := &k.lates.list[i]
		if l.told || l.start >= start {
			continue
		}
		if then, bound := r.seen(from, l.from, l.sent); int64(then)-bound <= int64(sent) {
			continue
		}
		l.told = true
		p := match.WrongOrderOther
		if l.from == from {
			p = match.WrongOrder
		}
		across(r.waits.add(p, l.at, l.due, l.wait), l.bound)
	}
}

package reader

import "ompp-attach/mpi/match"

// RunAcross is Run for logs of several machines.
func RunAcross(logs []*match.RankCalls, clocks match.Clocks) *match.Result {
	return (&run{waits: sums{}, clocks: clocks}).all(logs)
}

// Orders calls tell for each pair of events on two machines whose order is certain. The event of
// the log first at the time at came before the event of the log then at the time by. Each time is
// of its log's own clock. Orders adds up no waits.
func Orders(logs []*match.RankCalls, tell func(first *match.RankCalls, at uint64, then *match.RankCalls, by uint64)) {
	(&run{order: tell, clocks: uncompared{}}).all(logs)
}

// uncompared are clocks that nobody can compare.
type uncompared struct{}

func (uncompared) Comparable(_, _ string) bool                            { return true }
func (uncompared) Convert(_, _ string, t uint64) (at uint64, bound int64) { return t, 0 }

func (r *run) comparable(a, b *rank) bool {
	return a.log.Host == b.log.Host || r.clocks != nil && r.clocks.Comparable(a.log.Host, b.log.Host)
}

// seen translates a time t of the rank of to the clock of the rank by. bound is how wrong the
// result may be at most (ns).
func (r *run) seen(by, of *rank, t uint64) (at uint64, bound int64) {
	if by.log.Host == of.log.Host {
		return t, 0
	}
	return r.clocks.Convert(by.log.Host, of.log.Host, t)
}

// common converts a time of a rank to the first rank's clock. If the clocks cannot be compared, the
// time stays as it is.
func (r *run) common(k *rank, t uint64) uint64 {
	if first := r.ranks[0]; first.log.Host != k.log.Host && r.comparable(first, k) {
		t, _ = r.seen(first, k, t)
	}
	return t
}

// tell notes that an event of the rank first came before one of the rank then, on another machine.
func (r *run) tell(first *rank, at uint64, then *rank, by uint64) {
	if r.order != nil && first.log.Host != then.log.Host {
		r.order(first.log, at, then.log, by)
	}
}

// onlyIf takes the wait back if a time t is surely not above 0. If t may be above 0 or not, within
// its bound (ns), the bound of the wait grows until it includes 0.
func (l *longest) onlyIf(t, bound int64) {
	switch {
	case t <= -bound:
		l.wait, l.bound = 0, 0
	case t <= bound:
		l.bound = max(l.bound, l.wait) // there may be no wait
	}
}

// clip limits a wait to the length of its call (ns), and sets its least and most value.
func (l *longest) clip(length int64) {
	within := func(t int64) int64 { return max(0, min(t, length)) }
	l.least, l.most, l.wait = within(l.wait-l.bound), within(l.wait+l.bound), within(l.wait)
	if l.rest = within(min(l.rest, length-l.wait)); l.rest <= l.restBound {
		l.rest, l.restBound = 0, 0
	}
}

// take compares one more wait with those of the call so far: only the longest counts.
func (w *waiter) take(l longest) {
	other := l
	if !w.some || l.exceeds(&w.best) {
		w.some, w.best, other = true, l, w.best
	}
	w.least, w.most = max(w.least, l.least), max(w.most, l.most)
	if other.due != w.best.due {
		w.rival = max(w.rival, other.most)
	}
}

// count adds the wait of a call. It returns the call for which the rank waited, and how wrong the
// wait may be at most (ns). told is false if the call may or may not have waited.
func (r *run) count(w *waiter) (due match.Place, bound int64, told bool) {
	b := &w.best
	bound = max(w.most-b.wait, b.wait-w.least)
	if w.least == 0 && bound > 0 {
		r.result.Across.Untold++
		return due, bound, false
	}
	due = b.due
	if b.wait > 0 && (b.unsure || bound > 0 && w.rival > b.least) {
		due = w.at
		r.result.Across.NoLatecomer++
	}
	if x := r.waits.add(b.property, w.at, due, b.wait); x != nil && bound > 0 {
		across(x, bound)
		a := &r.result.Across
		a.Waits, a.T, a.Bound, a.Widest = a.Waits+1, a.T+b.wait, a.Bound+bound, max(a.Widest, bound)
	}
	if b.overtakes {
		across(r.waits.add(match.LateReceiverOrder, w.at, due, b.wait), bound)
	}
	return due, bound, true
}

// across notes that one of the waits in a sum was for a rank of another machine, and how wrong that
// wait may be (ns).
func across(w *match.Wait, bound int64) {
	if w != nil && bound > 0 {
		w.Across++
		w.Bound += bound
	}
}

// moment is the time at which the last, or the first, of several members entered or left, by one
// clock.
type moment struct {
	at     uint64
	bound  int64
	of     *member
	unsure bool // it may have been another member
}

// pick finds the last (sign 1) or the first (sign -1) of members by a time of each (when), on the
// clock of the rank by.
func (r *run) pick(by *rank, members []*member, sign int64, when func(*member) uint64) moment {
	if len(members) == 0 {
		return moment{}
	}
	type seen struct{ least, at, most int64 }
	var best seen
	var of *member
	least, most, rival := int64(minTime), int64(minTime), int64(minTime)
	for _, m := range members {
		at, bound := r.seen(by, m.rank, when(m))
		s := seen{sign*int64(at) - bound, sign * int64(at), sign*int64(at) + bound}
		least, most = max(least, s.least), max(most, s.most)
		other := s
		if of == nil || s.at > best.at {
			if of == nil {
				other.most = minTime
			} else {
				other = best
			}
			best, of = s, m
		}
		rival = max(rival, other.most)
	}
	bound := max(most-best.at, best.at-least)
	return moment{uint64(sign * best.at), bound, of, bound > 0 && rival > best.least}
}

const minTime = -1 << 63

package waits

import (
	"ompp-attach/mpi/match"
	"ompp-attach/mpi/match/ranks"
)

// Ledger adds up the waits of calls, and tells a listener of them.
type Ledger struct {
	Requests match.Count  // calls that wait for requests
	Across   match.Across // waits for ranks of other machines
	sums     sums         // nil: waits are not added up
	lates    lates
	clocks   *ranks.Clocks
	listener match.Listener // nil: nobody
}

// NewLedger returns a Ledger. Without sum, it adds up no waits. listener may be nil.
func NewLedger(clocks *ranks.Clocks, sum bool, listener match.Listener) *Ledger {
	b := &Ledger{clocks: clocks, listener: listener}
	if sum {
		b.sums = sums{}
	}
	return b
}

// Waits returns the waits so far, by property, then by place.
func (b *Ledger) Waits() []match.Wait { return b.sums.list() }

// Fail notes that one operation of a waiter could not be matched.
func (b *Ledger) Fail(w *Waiter, why match.Reason) {
	if !w.dead {
		w.dead, w.why = true, why
	}
	b.finish(w)
}

// Offer adds the wait for one operation of a waiter, which is matched now.
func (b *Ledger) Offer(w *Waiter, l One) {
	l.clip(int64(w.End - w.Start))
	w.take(l)
	if l.Last.At > w.last.At {
		w.last = l.Last
	}
	b.finish(w)
}

// finish counts one operation of a waiter as done, and adds the wait if it was the last one.
func (b *Ledger) finish(w *Waiter) {
	if w.Open--; w.Open > 0 {
		return
	}
	if b.listener != nil {
		b.listener.Known(w.Rank.Index, w.Call, w.origin())
	}
	if w.Requests {
		if w.dead {
			b.Requests.Leave(w.why)
			return
		}
		b.Requests.Match(1)
	}
	if w.dead || !w.some {
		return
	}
	l := &w.best
	due, bound, told := b.count(w)
	if x := b.sums.add(l.After, w.At, w.At, l.Rest); x != nil {
		x.Bound += l.RestBound
	}
	if told && l.Property == match.LateSender && l.Wait > 0 && !w.Probes {
		b.lates.add(w.Rank, late{wait: l.Wait, bound: bound, start: w.Start, sent: l.Sent, from: l.From, at: w.At, due: due})
	}
}

// count adds the wait of a call. It returns the call for which the rank waited, and how wrong the
// wait may be at most (ns). told is false if it is not known whether the call waited.
func (b *Ledger) count(w *Waiter) (due match.Place, bound int64, told bool) {
	l := &w.best
	bound = max(w.most-l.Wait, l.Wait-w.least)
	if w.least == 0 && bound > 0 {
		b.Across.Untold++
		return due, bound, false
	}
	due = l.Due
	if l.Wait > 0 && (l.unsure || bound > 0 && w.rival > l.least) {
		due = w.At
		b.Across.NoLatecomer++
	}
	if x := b.sums.add(l.Property, w.At, due, l.Wait); x != nil && bound > 0 {
		across(x, bound)
		a := &b.Across
		a.Waits, a.T, a.Bound, a.Widest = a.Waits+1, a.T+l.Wait, a.Bound+bound, max(a.Widest, bound)
	}
	if l.Overtakes {
		across(b.sums.add(match.LateReceiverOrder, w.At, due, l.Wait), bound)
	}
	return due, bound, true
}

// across notes that a sum has got a wait for a rank of another machine, and how wrong this wait may
// be (ns).
func across(w *match.Wait, bound int64) {
	if w != nil && bound > 0 {
		w.Across++
		w.Bound += bound
	}
}

// Listened reports whether there is a listener.
func (b *Ledger) Listened() bool { return b.listener != nil }

// Pending tells that the latest call of a rank waits for another rank.
func (b *Ledger) Pending(k *ranks.Rank) {
	if b.listener != nil {
		b.listener.Pending(k.Index, k.Call)
	}
}

// Astray tells that it is not known for whom the latest call of a rank waited, if it waited.
func (b *Ledger) Astray(k *ranks.Rank, c *match.Call) {
	if b.listener != nil && !c.Later {
		b.listener.Known(k.Index, k.Call, match.Origin{Unknown: true})
	}
}

// Together tells that no rank left its call before the last rank had come. calls are the numbers of
// the calls, by rank.
func (b *Ledger) Together(calls []int, last match.Origin) {
	if b.listener != nil {
		b.listener.Together(calls, last)
	}
}

package reader

import (
	"container/heap"
	"slices"

	"ompp-attach/mpi/match"
	"ompp-attach/mpi/match/collectives"
	"ompp-attach/mpi/match/messages"
	"ompp-attach/mpi/match/pattern"
	"ompp-attach/mpi/match/ranks"
	"ompp-attach/mpi/match/waits"
	"ompp-attach/mpi/match/windows"
)

// wish says what a run yields.
type wish struct {
	waits    bool         // they are added up
	clocks   match.Clocks // nil: only times of one machine are compared
	order    ranks.Tell   // nil: nobody wants to know
	listener match.Listener
	messages messages.Options
}

// run holds the rooms in which the calls of ranks are matched.
type run struct {
	listener    match.Listener // nil: nobody
	ledger      *waits.Ledger
	messages    *messages.Room
	collectives *collectives.Room
	epochs      *windows.Epochs
	locks       *windows.Locks
	requests    []requests // by rank
}

func newRun(all *ranks.All, clocks *ranks.Clocks, w wish) *run {
	ledger := waits.NewLedger(clocks, w.waits, w.listener)
	r := &run{
		listener: w.listener, ledger: ledger,
		messages:    messages.New(all, clocks, ledger, w.messages),
		collectives: collectives.New(all, clocks, ledger),
		epochs:      windows.NewEpochs(all, clocks, ledger),
		locks:       windows.NewLocks(all, clocks, ledger),
	}
	for _, k := range all.Ranks {
		r.requests = append(r.requests, newRequests(k.Log))
	}
	return r
}

// read reads the logs together, by the beginnings of calls.
func read(logs []*match.RankCalls, w wish) *match.Result {
	for _, l := range logs {
		if l.Backlog != nil {
			w.messages.Backlog = l.Backlog
		}
	}
	all, clocks := ranks.Of(logs), ranks.NewClocks(w.clocks, w.order)
	r := newRun(all, clocks, w)
	q := &cursors{clocks: clocks}
	open := make([]int, len(all.Ranks)) // by rank: threads that have more calls
	for _, k := range all.Ranks {
		q.first = all.Ranks[0]
		for _, t := range k.Log.Threads {
			if q.add(k, t) {
				open[k.Index]++
			}
		}
		if open[k.Index] == 0 {
			r.end(k)
		}
	}
	heap.Init(q)
	for q.Len() > 0 {
		c := q.list[0]
		r.locks.Resolve(c.start)
		if until := c.rank.Log.Until; until == 0 || c.call.Start < until {
			r.take(c.rank, c.call)
		}
		if q.advance() {
			continue
		}
		if open[c.rank.Index]--; open[c.rank.Index] == 0 {
			r.end(c.rank)
		}
	}
	r.locks.Resolve(^uint64(0))
	return r.result()
}

func (r *run) result() *match.Result {
	n := &r.messages.Counts
	return &match.Result{
		Waits: r.ledger.Waits(), Sends: n.Sends, Receives: n.Receives, Probes: n.Probes, Collectives: r.collectives.Count,
		Requests: r.ledger.Requests, Epochs: r.epochs.Count, Locks: r.locks.Count, Across: r.ledger.Across,
	}
}

// take takes the next call.
func (r *run) take(k *ranks.Rank, c *match.Call) {
	p := c.Pattern()
	r.messages.Next(k, c)
	k.Call, k.Now = k.Call+1, c.Start
	if r.listener != nil {
		r.listener.Took(k.Index, c)
	}
	if c.Request != 0 {
		q := &r.requests[k.Index]
		if c.Later || c.Prepares() || p == pattern.Making {
			r.messages.Untold(q.renew(c))
		}
		q.note(c)
	}
	if op := r.dispatch(k, c, p); op != nil && c.Later && c.Request != 0 {
		r.requests[k.Index].begin(c, op)
	}
	k.Busy = max(k.Busy, c.End)
}

// dispatch gives a call to the room that matches it. It returns the operation that the call begins
// if it is nonblocking.
func (r *run) dispatch(k *ranks.Rank, c *match.Call, p pattern.Pattern) (begun waits.Operation) {
	switch {
	case c.Prepares():
		r.collectives.Prepare(k, c)
	case p == pattern.Message:
		return r.messages.Message(k, c)
	case p == pattern.Completing:
		r.complete(k, c)
	case p.Collective():
		begun = r.collectives.Take(k, c, p)
		if p == pattern.Ending {
			r.messages.Finalize(k)
		}
	case p == pattern.Restarting:
		r.restart(k, c)
	case p.Epoch():
		r.epochs.Take(k, c, p)
	case p == pattern.Locking:
		r.locks.Lock(k, c)
	case p == pattern.Unlocking:
		r.locks.Unlock(k, c)
	case p == pattern.Unsupported:
		return r.collectives.NoRule(k, c)
	case p == pattern.Probing:
		r.messages.Probe(k, c)
	case p == pattern.Taking:
		r.messages.Take(k, c)
	case p == pattern.MatchedRecvs:
		return r.messages.Receive(k, c)
	}
	return begun
}

// restart takes MPI_Start or MPI_Startall. In the log, the operations that it started come before
// it. Untold: it also started an operation about which nothing is known, because its request was
// made before the rank was attached to.
func (r *run) restart(k *ranks.Rank, c *match.Call) {
	if !c.Untold {
		return
	}
	r.messages.Blind(k)
	if c.Request == 0 {
		return
	}
	why := match.Untold
	if k.Log.Attached {
		why = match.OldRequest
	}
	q := &r.requests[k.Index]
	r.messages.Untold(q.renew(c))
	q.begin(c, r.ledger.Lost(why))
}

// complete takes a call that waits for requests.
func (r *run) complete(k *ranks.Rank, c *match.Call) {
	if c.Untold {
		r.ledger.Requests.Leave(match.Untold)
		r.ledger.Astray(k, c)
		return
	}
	ops := make([]waits.Operation, len(c.Completes))
	for i, q := range c.Completes {
		if q == 0 {
			continue
		}
		op, old, gone := r.requests[k.Index].take(q, c.Start)
		r.messages.Untold(gone)
		if ops[i] = op; old {
			ops[i] = r.ledger.Lost(match.OldRequest)
		}
	}
	r.messages.Arrived(c, ops)
	ops = slices.DeleteFunc(ops, func(op waits.Operation) bool { return op == nil })
	if slices.ContainsFunc(ops, func(op waits.Operation) bool { return !messages.IsSend(op) }) {
		r.ledger.Pending(k)
	}
	w := &waits.Waiter{Stay: waits.StayIn(k, c), Requests: true, Open: len(ops)}
	for _, op := range ops {
		op.CompletedBy(w)
	}
}

// end notes that a rank has no more calls, and drops the calls that wait for it.
func (r *run) end(k *ranks.Rank) {
	r.messages.Next(k, nil)
	k.Over = true
	r.messages.End(k)
	r.collectives.End(k)
	r.epochs.End(k)
}

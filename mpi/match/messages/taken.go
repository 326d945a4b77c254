package messages

import (
	"ompp-attach/mpi"
	"ompp-attach/mpi/match"
	"ompp-attach/mpi/match/handles"
	"ompp-attach/mpi/match/ranks"
	"ompp-attach/mpi/match/waits"
)

// MPI_Mprobe waits for a message and takes it, like a receive at the same place in the order. So it
// counts as the receive of a send, and waits for a late sender. MPI_Mrecv receives the message
// later, and names it by a handle. A sender that needs its receiver may have to wait until then.
// MPI_Improbe takes a message if there is one, and never waits.

// mprobe waits for a message. MPI_Improbe does not.
var mprobe, _ = mpi.ParseOp("MPI_Mprobe")

// handleOf returns the handle of the message that a call takes, or receives; 0: it takes none.
func handleOf(c *match.Call) (handle uint64, told bool) {
	if c.Untold || len(c.Completes) != 1 {
		return 0, false
	}
	return c.Completes[0], true
}

// Take takes a call that takes a message (MPI_Mprobe), or may take one (MPI_Improbe).
func (r *Room) Take(k *ranks.Rank, c *match.Call) {
	handle, told := handleOf(c)
	switch {
	case !told:
		r.mayTake(k, c)
		return
	case handle == 0:
		return
	}
	at, taken := handles.GivenAt(k.Log, c), &r.ranks[k.Index].taken
	r.unfetched(taken.Give(handle, nil, at, c.Start))
	if isNobody(c.From) {
		return
	}
	s := &side{Stay: waits.StayIn(k, c), pairs: r.pairs, blocking: true, takes: true}
	taken.Name(handle, s, at)
	if c.Op == mprobe {
		s.by = s.Waiter()
		r.ledger.Pending(k)
	}
	r.post(k, c, s)
}

// mayTake takes a call that may have taken a message, but does not tell which one.
func (r *Room) mayTake(k *ranks.Rank, c *match.Call) {
	if c.Op == mprobe {
		r.ledger.Astray(k, c)
	}
	g, own, ok := k.In(c)
	if !ok || isNobody(c.From) || g.Old && !r.older.counts(k, g) {
		return
	}
	b := r.inbox(g, own)
	r.cleanse(b, c.Start)
	r.hold(b, &held{key: queueKey{c.From, c.RecvTag}, never: true, start: c.Start})
	b.asked(&side{Stay: waits.Stay{End: c.End}, blocking: c.Op == mprobe})
}

// Receive takes a call that receives a message which was taken. It returns the operation that the
// call begins; nil: there is none.
func (r *Room) Receive(k *ranks.Rank, c *match.Call) (begun waits.Operation) {
	handle, told := handleOf(c)
	taken := &r.ranks[k.Index].taken
	t, known, gone := taken.Take(handle, c.Start)
	r.unfetched(gone)
	if !told || !known {
		why := match.NoRule
		if told && k.Log.Attached {
			why = match.OldRequest
		}
		r.Receives.Leave(why)
		r.ledger.Astray(k, c)
		return r.ledger.Lost(why)
	}
	if t == nil { // the handle says that there is no message, and will say so for ever
		taken.Give(handle, nil, c.Start, c.Start)
		return nil
	}
	s := &side{Stay: waits.StayIn(k, c), pairs: r.pairs, blocking: !c.Later, fetches: true}
	if !c.Later {
		s.by = s.Waiter()
		r.ledger.Pending(k)
	}
	t.fetched = s
	r.fetch(t)
	return s
}

package collectives

import (
	"ompp-attach/mpi/match"
	"ompp-attach/mpi/match/ranks"
)

// Persistent collective operations are matched by the order in which their requests were made.
// Ranks may start them in different orders (MPI-4.0, 6.13). So the operations of each request have
// an order of their own.

// request names a request that all members of a communicator have made.
type request struct {
	of     *order
	number int
}

// persistent holds the persistent operations of a rank.
type persistent struct {
	prepared map[uint64]*order // by request; nil: the communicator is older than the log
	orders   []*order          // the same orders, and those of other ranks' requests
}

// Prepare takes a call that makes the request of a persistent operation.
func (r *Room) Prepare(k *ranks.Rank, c *match.Call) {
	p := &r.persistent[k.Index]
	delete(p.prepared, c.Request) // the handle may be that of a freed request
	g, own, ok := k.In(c)
	if !c.Pattern().Collective() || !ok {
		return
	}
	if g.Old {
		p.prepared[c.Request] = nil
		return
	}
	of := r.orders[g.Index]
	name := request{of, of.prepared[own]}
	of.prepared[own]++
	o := r.requests[name]
	if o == nil {
		o = newOrder(&ranks.Group{Index: g.Index, Size: g.Size, Members: g.Members, Doubted: g.Doubted})
		r.requests[name] = o
		for own, m := range g.Members {
			q := &r.persistent[m.Index]
			if q.orders = append(q.orders, o); m.Over {
				o.limit = min(o.limit, o.next[own])
			}
		}
	}
	p.prepared[c.Request] = o
}

// started returns the order of a persistent operation that a rank starts. nil: the order is not
// known; why is the reason.
func (p *persistent) started(k *ranks.Rank, c *match.Call) (o *order, why match.Reason) {
	o, ok := p.prepared[c.Request]
	switch {
	case ok:
		return o, match.OldComm
	case k.Log.Attached:
		return nil, match.OldRequest
	}
	return nil, match.NoComm
}

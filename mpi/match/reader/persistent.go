package reader

import (
	"fmt"

	"ompp-attach/mpi/match"
)

// Persistent collective operations are matched by the order in which their requests were made. The
// order in which they are started may differ between ranks (MPI-4.0, 6.13). So each request has a
// group of its own.

// prepare takes a call that makes a persistent operation's request.
func (r *run) prepare(k *rank, c *match.Call) {
	delete(k.prepared, c.Request) // the handle may be that of a freed request
	at, own, ok := r.in(k, c)
	if !c.Pattern().Collective() || !ok {
		return
	}
	if r.groups[at].old {
		k.prepared[c.Request] = -1
		return
	}
	of := r.groups[at]
	name := fmt.Sprintf("%d\x00%d", at, of.prepared[own])
	of.prepared[own]++
	n, known := r.comms[name]
	if !known {
		n = r.group(name, of.size)
		g := r.groups[n]
		g.members, g.doubted = of.members, of.doubted
		for own, o := range of.members {
			if o.persistent = append(o.persistent, n); o.over {
				g.limit = min(g.limit, g.next[own])
			}
		}
	}
	k.prepared[c.Request] = n
}

// restarted takes MPI_Start or MPI_Startall. The operations that it started come before it. Untold:
// it is an operation of which nothing is known, since its request was made before the rank was
// attached to.
func (r *run) restarted(k *rank, c *match.Call) {
	if !c.Untold {
		return
	}
	k.blind = true
	if c.Request != 0 {
		r.renew(k, c)
	}
	switch {
	case c.Request == 0:
	case k.log.Attached:
		k.begin(c, lost(match.OldRequest))
	default:
		k.begin(c, lost(match.Untold))
	}
}

// started returns the group of a persistent collective operation that a rank starts.
func (k *rank) started(c *match.Call) (group int, why match.Reason, ok bool) {
	group, ok = k.prepared[c.Request]
	switch {
	case ok && group < 0:
		return group, match.OldComm, false
	case ok:
	case k.log.Attached:
		why = match.OldRequest
	default:
		why = match.NoComm
	}
	return group, why, ok
}

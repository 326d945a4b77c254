package reader

import "ompp-attach/mpi/match"

// Messages on MPI_COMM_WORLD of ranks that were attached to. Some may have been on their way then,
// so the first send of a log need not belong to the first receive of another one. A program
// receives all messages before MPI_Finalize (MPI-3.1, 8.7). So the last message sent from one rank
// to another with a tag is the last one received, and the logs are counted back from the end.

// CountBack counts the messages on MPI_COMM_WORLD. Each call of logs returns the logs anew. It
// returns nil if no rank was attached to, or none called MPI_Finalize.
func CountBack(logs func() []*match.RankCalls) *match.Backlog {
	all, attached := logs(), false
	for _, l := range all {
		attached = attached || l.Attached
	}
	if !attached {
		return nil
	}
	b := match.NewBacklog()
	(&run{backlog: b, counting: true}).all(all)
	if !b.Settle() {
		return nil
	}
	all = logs()
	for _, l := range all {
		l.Backlog = b
	}
	(&run{checking: true}).all(all)
	return b
}

// counts reports whether messages on an older communicator are counted.
func (r *run) counts(k *rank, group int) bool { return r.backlog != nil && group == k.comms[0] }

// countedBack notes whether a rank's log has all messages since its beginning: it has MPI_Finalize.
func (r *run) countedBack(k *rank) {
	if k.log.Until == 0 && !k.log.Cancels && !k.blind {
		r.backlog.Whole(k.log.Comms[0].Rank)
	}
}

// older takes a message on a communicator that may be older than the logs. early says that the
// message's other side is in no log. out says that the message is not to be placed.
func (r *run) older(g *group, l match.Route, s *side) (early, out bool) {
	switch {
	case !g.old:
		return false, false
	case r.counting:
		if !s.probes {
			r.backlog.Count(l, s.send)
		}
		r.drop(s, match.OldComm)
		return false, true
	}
	if why, is := r.backlog.Unclear(l.From, l.To); is {
		r.drop(s, why)
		return false, true
	}
	return r.left.Take(l, s.send, !s.probes), false
}

package messages

import (
	"ompp-attach/mpi/match"
	"ompp-attach/mpi/match/ranks"
)

// Messages on MPI_COMM_WORLD of ranks that were attached to. Some messages may have been on their
// way at that time. So the first send in one log need not belong to the first receive in another
// log.
//
// A program receives all messages before MPI_Finalize (MPI-3.1, 8.7). So the last message from one
// rank to another with a tag is both the last one sent and the last one received. The logs are
// counted back from the end. A first run counts the messages (match.Backlog). Later runs leave out
// the messages of which the logs have one side only.

// older says which messages on older communicators have a partner.
type older struct {
	backlog  *match.Backlog // nil: messages on older communicators are not matched
	counting bool           // the run fills in backlog
	left     match.Remainder
}

// counts reports whether the messages of a rank in this group are counted, although the
// communicator is older than the log.
func (o *older) counts(k *ranks.Rank, g *ranks.Group) bool {
	return o.backlog != nil && g == k.World()
}

// of takes a message on a communicator that may be older than the logs. early: the message's other
// side is in no log. out: the message gets no place, for the reason why.
func (o *older) of(g *ranks.Group, l match.Route, s *side) (early bool, why match.Reason, out bool) {
	switch {
	case !g.Old:
		return false, 0, false
	case o.counting:
		if !s.probes {
			o.backlog.Count(l, s.send)
		}
		return false, match.OldComm, true
	}
	if why, is := o.backlog.Unclear(l); is {
		return false, why, true
	}
	return o.left.Take(l, s.send, !s.probes), 0, false
}

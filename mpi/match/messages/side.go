package messages

import (
	"ompp-attach/mpi"
	"ompp-attach/mpi/match"
	"ompp-attach/mpi/match/waits"
)

// side is a send or a receive.
type side struct {
	waits.Stay
	pairs *pairs
	box   *inbox        // of a receive
	by    *waits.Waiter // the call in which its rank waits for it; nil: none yet
	peer  *side
	held  *held // a receive that may tell later what it received
	// fetched is the call that receives the message, if this side takes it; nil: there is none so
	// far.
	fetched *side

	send     bool
	buffered bool
	blocking bool
	probes   bool // MPI_Probe, neither a send nor a receive: it waits for a message and leaves it
	takes    bool // MPI_Mprobe, which takes a message for fetched
	fetches  bool // MPI_Mrecv: the message had been taken before

	gone      bool         // the side will not be matched
	why       match.Reason // if gone: why
	overtakes bool         // a send: when it was received, an older send still waited
	left      bool         // a side that takes: nothing will receive the message
	defers    bool         // a send: it is not known yet for which call it waited
}

func (s *side) done() bool { return s.peer != nil || s.gone }

// CompletedBy says in which call the rank waited for a message.
func (s *side) CompletedBy(w *waits.Waiter) {
	s.by = w
	s.box.got(w.End)
	switch {
	case s.gone:
		s.pairs.ledger.Fail(w, s.why)
	case s.peer != nil:
		s.pairs.findWait(s)
	}
}

// both are the sides of a nonblocking call that sends and receives.
type both struct{ out, in *side }

// CompletedBy says in which call the rank waited for both messages.
func (b both) CompletedBy(w *waits.Waiter) {
	w.Open++
	b.out.CompletedBy(w)
	b.in.CompletedBy(w)
}

// receiver returns the receive of an operation; nil: it has none.
func receiver(op waits.Operation) *side {
	switch op := op.(type) {
	case *side:
		if !op.send {
			return op
		}
	case both:
		return op.in
	}
	return nil
}

// IsSend reports whether an operation sends a message, and receives none.
func IsSend(op waits.Operation) bool {
	s, is := op.(*side)
	return is && s.send
}

// partner reports whether a rank argument names a rank.
func partner(rank int32) bool { return rank >= 0 }

// isNobody reports whether a rank argument says that there is no message.
func isNobody(rank int32) bool { return rank == mpi.ProcNull || rank == mpi.NoPeer }

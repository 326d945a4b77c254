package reader

import (
	"ompp-attach/mpi/match"
	"ompp-attach/mpi/match/messages"
	"ompp-attach/mpi/match/ranks"
)

// Run matches the calls of ranks. Each rank may have one log only. Calls of ranks on different
// machines are not matched (see RunAcross).
func Run(logs []*match.RankCalls) *match.Result { return read(logs, wish{waits: true}) }

// RunAcross is Run for logs of several machines.
func RunAcross(logs []*match.RankCalls, clocks match.Clocks) *match.Result {
	return read(logs, wish{waits: true, clocks: clocks})
}

// RunWith is RunAcross that also tells l of the calls.
func RunWith(logs []*match.RankCalls, clocks match.Clocks, l match.Listener) *match.Result {
	return read(logs, wish{waits: true, clocks: clocks, listener: l})
}

// Pairs matches the calls of ranks as Run does, and tells the two ends of each message. Messages
// with one sender, receiver, communicator and tag are told in their order. No waits are added up.
func Pairs(logs []*match.RankCalls, tell func(send, receive match.Place)) *match.Result {
	return read(logs, wish{messages: messages.Options{Tell: tell}})
}

// Orders calls tell for each pair of events on two machines with a certain order. It adds up no
// waits.
func Orders(logs []*match.RankCalls, tell ranks.Tell) {
	read(logs, wish{order: tell, clocks: uncompared{}})
}

// uncompared are clocks that nobody can compare.
type uncompared struct{}

func (uncompared) Comparable(_, _ string) bool                            { return true }
func (uncompared) Convert(_, _ string, t uint64) (at uint64, bound int64) { return t, 0 }

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
	read(all, wish{messages: messages.Options{Backlog: b, Counting: true}})
	if !b.Settle() {
		return nil
	}
	read(logs(), wish{messages: messages.Options{Backlog: b, Checking: true}})
	return b
}

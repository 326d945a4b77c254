package match

import "ompp-attach/mpi"

// Backlog says how many messages on MPI_COMM_WORLD have only one side in the logs of ranks that
// were attached to. Logs without such messages have no Backlog.
type Backlog struct {
	// first has, by route, how many receives [0] and sends [1] lack their other side: the first
	// ones of the route. Before Settle, it counts all receives and sends.
	first map[Route][2]uint64
	// whole tells, by rank, whether the log has all messages from the log's beginning to
	// MPI_Finalize.
	whole map[int32]bool
	// vague has the routes for which a receive asked without telling, later, which message came.
	// From may be mpi.AnySource here, and Tag may be AnyTag.
	vague map[Route]bool
	// contrary has pairs of sender and receiver. A message of such a pair would have been received
	// before it was sent: the program breaks MPI's rules.
	contrary map[[2]int32]bool
}

// Route names the messages on MPI_COMM_WORLD from one rank to another with one tag.
type Route struct{ From, To, Tag int32 }

// mostRoutes bounds the routes of a Backlog.
const mostRoutes = 1 << 18

// NewBacklog returns a Backlog that has counted no messages yet.
func NewBacklog() *Backlog {
	return &Backlog{first: map[Route][2]uint64{}, whole: map[int32]bool{}, vague: map[Route]bool{}, contrary: map[[2]int32]bool{}}
}

// Count notes a send (send is true), or a receive.
func (b *Backlog) Count(r Route, send bool) {
	if len(b.first) > mostRoutes {
		return
	}
	n := b.first[r]
	n[sideOf(send)]++
	b.first[r] = n
}

func sideOf(send bool) int {
	if send {
		return 1
	}
	return 0
}

// Whole notes that a rank's log has all messages since its beginning.
func (b *Backlog) Whole(rank int32) { b.whole[rank] = true }

// Vague notes a receive that did not tell which message came. asked is the route that the receive
// asks for.
func (b *Backlog) Vague(asked Route) {
	if len(b.vague) > mostRoutes {
		asked = Route{mpi.AnySource, asked.To, AnyTag}
	}
	b.vague[asked] = true
}

// isVague reports whether a receive that did not tell its message may have taken messages of a
// route.
func (b *Backlog) isVague(r Route) bool {
	for _, asked := range [...]Route{r, {mpi.AnySource, r.To, r.Tag}, {r.From, r.To, AnyTag}, {mpi.AnySource, r.To, AnyTag}} {
		if b.vague[asked] {
			return true
		}
	}
	return false
}

// Contrary notes that a message would have been received before it was sent.
func (b *Backlog) Contrary(from, to int32) { b.contrary[[2]int32{from, to}] = true }

// Settle says that all messages have been counted. From then on, the Backlog holds the messages
// that only one side has. ok is false if no rank's log has all its messages, or if there are too
// many routes.
func (b *Backlog) Settle() (ok bool) {
	for r, n := range b.first {
		if both := min(n[0], n[1]); n[0] == n[1] {
			delete(b.first, r)
		} else {
			b.first[r] = [2]uint64{n[0] - both, n[1] - both}
		}
	}
	return len(b.whole) > 0 && len(b.first) <= mostRoutes
}

// Unclear says whether, and why, messages of a route cannot be matched although those of other
// routes can.
func (b *Backlog) Unclear(r Route) (why Reason, is bool) {
	switch {
	case !b.whole[r.From] || !b.whole[r.To] || b.contrary[[2]int32{r.From, r.To}]:
		return OldComm, true
	case b.isVague(r):
		return Wildcard, true
	}
	return 0, false
}

// Remainder is the part of a Backlog that is left while calls are read.
type Remainder struct {
	of   *Backlog
	left map[Route][2]uint64
}

// Remainder returns all that a Backlog has. b may be nil.
func (b *Backlog) Remainder() Remainder { return Remainder{b, map[Route][2]uint64{}} }

// Take reports whether the other side of a send or receive is in no log. takes: the send or receive
// is counted, so the answer for the next one may differ.
func (m *Remainder) Take(r Route, send, takes bool) (early bool) {
	n, ok := m.left[r]
	if !ok {
		n = m.of.first[r]
	}
	i := sideOf(send)
	if n[i] == 0 {
		return false
	}
	if takes {
		n[i]--
		m.left[r] = n
	}
	return true
}

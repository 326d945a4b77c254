package match

// Messages on MPI_COMM_WORLD of ranks that were attached to. Some may have been on their way then,
// so the first send of a log need not belong to the first receive of another one. A program
// receives all messages before MPI_Finalize (MPI-3.1, 8.7). So the last message sent from one rank
// to another with a tag is the last one received, and the logs are counted back from the end.

// Backlog says how many messages on MPI_COMM_WORLD have only one side in the logs of ranks.
type Backlog struct {
	first map[route][2]uint64 // the first receives, and sends, without the other side
	whole map[int32]bool      // by rank: its log has all messages since its beginning
	vague map[int32]bool      // by rank: some receive did not tell what came
	// contrary are sender and receiver of messages that would have been received before they were
	// sent: the program is not as MPI wants it.
	contrary map[[2]int32]bool
}

// route names the messages on MPI_COMM_WORLD from one rank to another with one tag.
type route struct{ from, to, tag int32 }

// mostRoutes bounds the routes of a Backlog.
const mostRoutes = 1 << 18

// CountBack counts the messages on MPI_COMM_WORLD. Each call of logs returns the logs anew. It
// returns nil if no rank was attached to, or none called MPI_Finalize.
func CountBack(logs func() []*RankCalls) *Backlog {
	all, attached := logs(), false
	for _, l := range all {
		attached = attached || l.Attached
	}
	if !attached {
		return nil
	}
	b := &Backlog{first: map[route][2]uint64{}, whole: map[int32]bool{}, vague: map[int32]bool{}, contrary: map[[2]int32]bool{}}
	(&run{backlog: b, counting: true}).all(all)
	for l, n := range b.first { // from now on: the difference of both sides
		if both := min(n[0], n[1]); n[0] == n[1] {
			delete(b.first, l)
		} else {
			b.first[l] = [2]uint64{n[0] - both, n[1] - both}
		}
	}
	if len(b.whole) == 0 || len(b.first) > mostRoutes {
		return nil
	}
	all = logs()
	for _, l := range all {
		l.Backlog = b
	}
	(&run{checking: true}).all(all)
	return b
}

func sideOf(s *side) int { return count(s.send) }

// counts reports whether messages on an older communicator are counted.
func (r *run) counts(k *rank, group int) bool { return r.backlog != nil && group == k.comms[0] }

// unclear says if, and why, a message on MPI_COMM_WORLD cannot be matched though others are.
func (b *Backlog) unclear(from, to int32) (why Reason, is bool) {
	switch {
	case !b.whole[from] || !b.whole[to] || b.contrary[[2]int32{from, to}]:
		return OldComm, true
	case b.vague[to]:
		return Wildcard, true
	}
	return 0, false
}

// ended notes whether a rank's log has all messages since its beginning: it has MPI_Finalize.
func (b *Backlog) ended(k *rank, own int32) {
	if k.log.Until == 0 && !k.log.Cancels && !k.blind {
		b.whole[own] = true
	}
}

// count notes a message.
func (b *Backlog) count(l route, s *side) {
	if s.probes || len(b.first) > mostRoutes {
		return
	}
	n := b.first[l]
	n[sideOf(s)]++
	b.first[l] = n
}

// early reports whether the other side of a message is in no log. left is what is left of
// Backlog.first.
func (r *run) early(l route, s *side) bool {
	n, ok := r.left[l]
	if !ok {
		n = r.backlog.first[l]
	}
	i := sideOf(s)
	if n[i] == 0 {
		return false
	}
	if !s.probes {
		n[i]--
		r.left[l] = n
	}
	return true
}

// older takes a message on a communicator that may be older than the logs. early says that the
// message's other side is in no log. out says that the message is not to be placed.
func (r *run) older(g *group, l route, s *side) (early, out bool) {
	switch {
	case !g.old:
		return false, false
	case r.counting:
		r.backlog.count(l, s)
		r.drop(s, OldComm)
		return false, true
	}
	if why, is := r.backlog.unclear(l.from, l.to); is {
		r.drop(s, why)
		return false, true
	}
	return r.early(l, s), false
}

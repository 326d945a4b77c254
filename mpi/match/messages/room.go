package messages

import (
	"ompp-attach/mpi/match"
	"ompp-attach/mpi/match/handles"
	"ompp-attach/mpi/match/ranks"
	"ompp-attach/mpi/match/waits"
)

// Options say what a run yields besides waits.
type Options struct {
	Tell func(send, receive match.Place) // told of each message; nil: not wanted
	// Backlog says which messages on older communicators have a partner; nil: such messages are not
	// matched. Counting: the run fills Backlog in. Checking: the run tells Backlog of messages that
	// contradict it.
	Backlog            *match.Backlog
	Counting, Checking bool
}

// Room matches the sends and receives of ranks. Each method takes a call of a rank.
type Room struct {
	Counts
	line
	ranks []state
}

// state is what is known of a rank.
type state struct {
	probe *unplaced            // the latest call, if that is a probe
	taken handles.Table[*side] // messages that MPI_Mprobe took; nil: there is none
	blind bool                 // the rank started persistent operations that are unknown
}

// New returns a Room for ranks of which no call has been read yet.
func New(all *ranks.All, clocks *ranks.Clocks, ledger *waits.Ledger, o Options) *Room {
	r := &Room{ranks: make([]state, len(all.Ranks))}
	for i := range r.ranks {
		r.ranks[i].taken = handles.New[*side]()
	}
	p := &pairs{clocks: clocks, ledger: ledger, counts: &r.Counts, tell: o.Tell}
	if o.Checking {
		p.checked = o.Backlog
	}
	r.line = line{&boxes{
		pairs: p, older: older{o.Backlog, o.Counting, o.Backlog.Remainder()}, held: make([]int, len(all.Ranks)),
		inboxes: map[inboxKey]*inbox{}, outboxes: map[[2]*ranks.Rank]*outbox{},
	}}
	return r
}

// Message takes a call that sends, receives, or both. It returns the operation that the call
// begins; nil: there is none.
func (r *Room) Message(k *ranks.Rank, c *match.Call) (begun waits.Operation) {
	sends, receives := c.Sends && !isNobody(c.To), c.Receives && !isNobody(c.From)
	w := &waits.Waiter{Stay: waits.StayIn(k, c)}
	new := func(send bool) *side {
		s := &side{Stay: w.Stay, pairs: r.pairs, send: send, buffered: c.Buffered(), blocking: !c.Later}
		if !c.Later {
			s.by = w
			w.Open++
		}
		return s
	}
	var out, in *side
	if sends {
		out = new(true)
	}
	if receives {
		in = new(false)
		if !c.Later {
			r.ledger.Pending(k)
		}
	}
	if in != nil { // the receive first: a rank may send to itself in one call
		r.post(k, c, in)
	}
	if out != nil {
		r.post(k, c, out)
	}
	switch {
	case !c.Later:
	case out != nil && in != nil: // MPI_Isendrecv
		return both{out, in}
	case out != nil:
		return out
	case in != nil:
		return in
	}
	return nil
}

// post looks for a side's partner.
func (r *Room) post(k *ranks.Rank, c *match.Call, s *side) {
	g, own, ok := k.In(c)
	switch {
	case !ok:
		r.drop(s, k.Unnamed())
		return
	case g.Old && !r.older.counts(k, g):
		r.drop(s, match.OldComm)
		return
	}
	if !s.send {
		r.receive(r.inbox(g, own), c, s)
		return
	}
	if g.Members[c.To] == nil {
		r.drop(s, match.NoLog)
		return
	}
	b := r.inbox(g, c.To)
	r.cleanse(b, s.Start)
	r.place(b, s, queueKey{own, c.SendTag})
}

// Blind notes that a rank started persistent operations about which nothing is known.
func (r *Room) Blind(k *ranks.Rank) { r.ranks[k.Index].blind = true }

// Finalize takes MPI_Finalize. From then on, all messages of the rank on MPI_COMM_WORLD since the
// beginning of its log are known, unless records are missing.
func (r *Room) Finalize(k *ranks.Rank) {
	if r.older.counting && len(k.Log.Comms) > 0 && k.Log.Until == 0 && !k.Log.Cancels && !r.ranks[k.Index].blind {
		r.older.backlog.Whole(k.Log.Comms[0].Rank)
	}
}

// End drops the sends and receives that wait for a rank which has no more calls.
func (r *Room) End(k *ranks.Rank) {
	r.unfetched(r.ranks[k.Index].taken.All())
	for i, g := range k.Comms {
		if g == nil {
			continue
		}
		own := k.Log.Comms[i].Rank
		if b := r.inboxes[inboxKey{g, own}]; b != nil {
			r.giveUp(b)
		}
		r.end(g, own)
	}
}

package flows

import (
	"fmt"
	"maps"
	"slices"

	"ompp-attach/mpi"
	"ompp-attach/mpi/match"
	"ompp-attach/mpi/match/reader"
	"ompp-attach/timeline"
)

// job holds the known processes of MPI_COMM_WORLD.
type job struct {
	*finder
	of    map[int32]*rank
	ranks []int32 // the keys of of, in order
	whole bool    // all processes are known, and all their sends
	known map[channelID]*channel
	to    map[int32][]*channel // by receiver, in the order of senders and first sends
}

type channelID struct{ from, to, tag int32 }

// channel is the messages of one sender with one tag to one receiver.
type channel struct {
	channelID
	pairs []pair
}

// pair is a message, and the receive that took it.
type pair struct{ send, recv *call }

// messages tells which receive took which message.
func (f *finder) messages(of []*timeline.File) {
	j := job{finder: f, of: map[int32]*rank{}, known: map[channelID]*channel{}, to: map[int32][]*channel{}}
	for _, r := range f.ranks {
		if r.size == 0 {
			continue
		}
		n := int32(of[r.file].Rank())
		if other := j.of[n]; other != nil || f.calls > mostEnds {
			why := "two processes have this rank"
			if other == nil {
				why = fmt.Sprintf("there are more than %d sends and receives", mostEnds)
			} else {
				other.doubt(why)
			}
			r.doubt(why)
			continue
		}
		j.of[n] = r
	}
	j.ranks = slices.Sorted(maps.Keys(j.of))
	j.whole = len(j.ranks) > 0
	for _, n := range j.ranks {
		r := j.of[n]
		j.whole = j.whole && r.unsure == "" && r.until == 1<<64-1 && r.size == len(j.ranks)
		if r.unsure == "" && !alone(r.recvs) {
			r.unsure = "several of its threads receive"
		}
		if r.unsure != "" && r.uses {
			f.without("messages of "+title(r.of), r.unsure)
		}
	}
	j.channels()
	j.match()
	for _, n := range j.ranks {
		for _, c := range j.to[n] {
			j.tell(c)
		}
	}
}

// channels finds those on which messages were sent.
func (j *job) channels() {
	for _, n := range j.ranks {
		for i := range j.of[n].sends {
			s := &j.of[n].sends[i]
			id := channelID{n, s.peer, s.tag}
			if j.known[id] == nil {
				c := &channel{channelID: id}
				j.known[id] = c
				j.to[s.peer] = append(j.to[s.peer], c)
			}
		}
	}
}

// match finds the receive of each message (package match). Sends of several threads have no known
// order.
func (j *job) match() {
	var logs []*match.RankCalls
	for _, n := range j.ranks {
		r := j.of[n]
		sends, recvs := ends{list: r.sends, send: true}, ends{list: r.recvs}
		if !alone(r.sends) {
			sends.list = nil
		}
		if r.unsure != "" {
			recvs.list = nil
		}
		for i := range recvs.list {
			j.name(&recvs.list[i], j.to[n])
		}
		logs = append(logs, &match.RankCalls{Rank: int(n), Host: r.of.Dictionary.Meta.ClockName(),
			Comms: []match.Comm{{Name: "world", Size: int32(r.size), Rank: n}}, Threads: []match.Calls{&sends, &recvs}})
	}
	reader.Pairs(logs, func(send, recv match.Place) {
		from, to := int32(send.Rank), int32(recv.Rank)
		s := &j.of[from].sends[send.Site]
		c := j.known[channelID{from, to, s.tag}]
		c.pairs = append(c.pairs, pair{s, &j.of[to].recvs[recv.Site]})
	})
}

// name gives a receive from any source, or with any tag, the source and the tag, if only messages
// with these can be meant. Otherwise another sender, or a send that is not recorded, may be meant.
func (j *job) name(x *call, list []*channel) {
	if x.peer >= 0 && x.tag >= 0 || !j.whole {
		return
	}
	var only *channel
	for _, c := range list {
		switch {
		case !c.matches(x):
		case only != nil:
			return
		default:
			only = c
		}
	}
	if only != nil {
		x.peer, x.tag = only.from, only.tag
	}
}

// matches tells whether a receive may take a message of the channel.
func (c *channel) matches(x *call) bool {
	return (x.tag < 0 || x.tag == c.tag) && (x.peer == mpi.AnySource || x.peer == c.from)
}

// ends are sends or receives of a rank, as package match takes them. A call's site is its index.
type ends struct {
	list []call
	send bool
	next int
	call match.Call
}

// Next implements match.Calls.
func (e *ends) Next() (*match.Call, bool) {
	if e.next == len(e.list) {
		return nil, false
	}
	x := &e.list[e.next]
	e.call = match.Call{Op: receiving, Start: x.from, End: x.to, Site: e.next, To: mpi.NoPeer, From: x.peer, RecvTag: x.tag, Receives: true}
	if e.send {
		e.call.Op, e.call.To, e.call.From, e.call.SendTag, e.call.Sends, e.call.Receives = sending, x.peer, mpi.NoPeer, x.tag, true, false
	}
	e.next++
	return &e.call, true
}

var (
	sending, _   = mpi.ParseOp("MPI_Send")
	receiving, _ = mpi.ParseOp("MPI_Recv")
)

// tell tells the messages of a channel. If one contradicts the times or sizes, others may be wrong,
// too: then none is told.
func (j *job) tell(c *channel) {
	from, to := j.of[c.from], j.of[c.to]
	for _, p := range c.pairs {
		if p.recv.returns && p.recv.to < p.send.from || p.send.known && p.recv.known && p.send.bytes > p.recv.bytes {
			j.without(fmt.Sprintf("messages from %s to %s with the tag %d", title(from.of), title(to.of), c.tag), "sends and receives do not fit together")
			return
		}
	}
	for _, p := range c.pairs {
		if !p.recv.returns {
			continue
		}
		j.flows++
		j.Messages++
		j.mark(from.file, p.send.id, Sends, j.flows, p.send.from)
		j.mark(to.file, p.recv.id, Receives, j.flows, p.recv.to)
	}
}

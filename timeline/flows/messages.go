package flows

import (
	"fmt"
	"maps"
	"slices"

	"ompp-attach/mpi"
	"ompp-attach/timeline"
)

// job is the processes of MPI_COMM_WORLD that are known.
type job struct {
	*finder
	of    map[int32]*rank
	whole bool // all processes are known, and all their sends are
}

// channel is the messages of one sender with one tag to one receiver, in the order of their sends.
type channel struct {
	from    *rank
	tag     int32
	sends   []*call
	next    int  // the message that is received next
	stopped bool // from here on it is not known which message is received
	pairs   []pair
}

// pair is a message, and the receive that took it.
type pair struct{ send, recv *call }

// messages tells which receive took which message.
func (f *finder) messages(of []*timeline.File) {
	j := job{finder: f, of: map[int32]*rank{}}
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
	ranks := slices.Sorted(maps.Keys(j.of))
	j.whole = len(ranks) > 0
	for _, n := range ranks {
		r := j.of[n]
		j.whole = j.whole && r.unsure == "" && r.until == 1<<64-1 && r.size == len(ranks)
		if r.unsure == "" && !alone(r.recvs) {
			r.unsure = "several of its threads receive"
		}
		if r.unsure != "" && r.uses {
			f.without("messages of "+title(r.of), r.unsure)
		}
	}
	for _, n := range ranks {
		if r := j.of[n]; r.unsure == "" {
			j.receive(n, r)
		}
	}
}

// receive tells which messages a rank received.
func (j *job) receive(n int32, r *rank) {
	list := j.channels(n)
	for i := range r.recvs {
		x := &r.recvs[i]
		var may []*channel
		for _, c := range list {
			if c.matches(x, j) {
				may = append(may, c)
			}
		}
		// Another sender, or a send that is not recorded, may be meant.
		sure := j.whole || x.peer >= 0 && x.tag >= 0
		for _, c := range may {
			if len(may) > 1 || !sure || c.next == len(c.sends) {
				c.stopped = true
			} else if !c.stopped {
				c.pairs = append(c.pairs, pair{c.sends[c.next], x})
				c.next++
			}
		}
	}
	for _, c := range list {
		j.tell(c, r)
	}
}

// channels returns those of the messages to a rank.
func (j *job) channels(to int32) (out []*channel) {
	type key struct{ from, tag int32 }
	known := map[key]*channel{}
	for _, n := range slices.Sorted(maps.Keys(j.of)) {
		from := j.of[n]
		single := alone(from.sends)
		for i := range from.sends {
			s := &from.sends[i]
			if s.peer != to {
				continue
			}
			c := known[key{n, s.tag}]
			if c == nil {
				c = &channel{from: from, tag: s.tag, stopped: !single}
				known[key{n, s.tag}] = c
				out = append(out, c)
			}
			c.sends = append(c.sends, s)
		}
	}
	return out
}

// matches tells whether a receive may take a message of the channel.
func (c *channel) matches(x *call, j *job) bool {
	return (x.tag < 0 || x.tag == c.tag) && (x.peer == mpi.AnySource || j.of[x.peer] == c.from)
}

// tell tells the messages of a channel. Two that contradict what happened show that others may be
// wrong, too: then none is told. The times of two machines are not compared.
func (j *job) tell(c *channel, to *rank) {
	if to.of.Dictionary.Meta.Host != c.from.of.Dictionary.Meta.Host {
		return
	}
	for _, p := range c.pairs {
		if p.recv.returns && p.recv.to < p.send.from || p.send.known && p.recv.known && p.send.bytes > p.recv.bytes {
			j.without(fmt.Sprintf("messages from %s to %s with the tag %d", title(c.from.of), title(to.of), c.tag), "sends and receives do not fit together")
			return
		}
	}
	for _, p := range c.pairs {
		if !p.recv.returns {
			continue
		}
		j.flows++
		j.Messages++
		j.mark(c.from.file, p.send.id, Sends, j.flows, p.send.from)
		j.mark(to.file, p.recv.id, Receives, j.flows, p.recv.to)
	}
}

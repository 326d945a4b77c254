package mpicall

import (
	"cmp"
	"slices"

	"ompp-attach/event"
	"ompp-attach/mpi"
	"ompp-attach/profile"
)

// Comms are the communicators and windows of a process, as far as calls have named them. The zero
// value holds none.
type Comms struct {
	list   []profile.Comm
	made   []uint64       // when each of list was made; 0: not known
	byMade map[uint64]int // index in list
	self   int            // index in list of MPI_COMM_SELF; 0: it has not been named yet
	// Index in list of the entry for all not seen being made; 0: there is none yet.
	unseen int
	noRoom int // the same of the entry for all that the list has no room for
	groups groups
}

// mostComms bounds the list: some programs make communicators without end.
const mostComms = 1024

// Of returns the index of a call's communicator.
func (cs *Comms) Of(c *event.MPICall) int {
	switch {
	case c.Flags&mpi.World != 0:
		return cs.world()
	case c.Flags&mpi.Self != 0:
		if cs.self == 0 {
			cs.world()
			cs.self = cs.add(profile.Comm{Parent: -1, Size: 1}, 0)
		}
		return cs.self
	case c.Made == 0:
		return cs.together(&cs.unseen, profile.Comm{Parent: -1, Several: true})
	}
	return cs.at(c.Made)
}

func (cs *Comms) world() int {
	if len(cs.list) == 0 {
		cs.add(profile.Comm{Parent: -1}, 0)
	}
	return 0
}

// together returns the index of an entry for several communicators.
func (cs *Comms) together(at *int, c profile.Comm) int {
	if *at == 0 {
		cs.world()
		*at = cs.add(c, 0)
	}
	return *at
}

// at returns the index of the communicator that was made at a time. The call that made it may be
// read later than those on it.
func (cs *Comms) at(made uint64) int {
	cs.world()
	i, known := cs.byMade[made]
	switch {
	case known:
		return i
	case len(cs.list) >= mostComms:
		return cs.together(&cs.noRoom, profile.Comm{Parent: -1, Several: true, NoRoom: true})
	}
	if cs.byMade == nil {
		cs.byMade = map[uint64]int{}
	}
	i = cs.add(profile.Comm{Parent: -1}, made)
	cs.byMade[made] = i
	return i
}

func (cs *Comms) add(c profile.Comm, made uint64) int {
	cs.list, cs.made = append(cs.list, c), append(cs.made, made)
	return len(cs.list) - 1
}

// Begun notes the communicator or window that a call has made.
func (cs *Comms) Begun(c *event.MPICall) {
	parent := cs.Of(c)
	i := cs.at(c.New.Made)
	if i <= parent || i == cs.noRoom { // no room, or its calls were read before its parent's
		return
	}
	op := c.Op
	cs.list[i] = profile.Comm{Parent: parent, By: &op, Made: c.New.Made, Decides: c.New.Decides, Size: c.New.Size, Rank: c.New.Rank, Inter: c.New.Inter}
}

// Finished returns the list, with orders.
func (cs *Comms) Finished() []profile.Comm {
	out := slices.Clone(cs.list)
	byTime := make([]int, len(out))
	for i := range byTime {
		byTime[i] = i
	}
	slices.SortStableFunc(byTime, func(a, b int) int { return cmp.Compare(cs.made[a], cs.made[b]) })
	orders := map[int]int{}
	for _, i := range byTime {
		c := &out[i]
		if c.By == nil {
			continue
		}
		if m, _ := c.By.Info().Makes(); !m.Apart {
			orders[c.Parent]++
			c.Order = orders[c.Parent]
		}
	}
	return out
}

// Exchanged adds a call's messages to its thread's traffic at the call site.
func (cs *Comms) Exchanged(to **profile.Traffic, c *event.MPICall) {
	m := c.Op.Messages(&c.Args)
	if !m.Sends && !m.Recvs && !m.Colls {
		return
	}
	if *to == nil {
		*to = &profile.Traffic{}
	}
	t := *to
	if m.Sends {
		t.Add(cs.Of(c), m.To, profile.Exchange{Sends: 1, Out: m.Out})
	}
	if m.Recvs {
		t.Add(cs.Of(c), m.From, profile.Exchange{Recvs: 1, In: m.In})
	}
	if !m.Known {
		return
	}
	if m.Sends {
		t.Sent.Count(m.Out)
	}
	if m.Recvs {
		t.Received.Count(m.In)
	}
	if m.Colls {
		t.Moved.Count(m.Data)
	}
}

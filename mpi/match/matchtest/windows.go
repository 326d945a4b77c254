package matchtest

import (
	"cmp"
	"slices"

	"ompp-attach/mpi/match/pattern"
)

// epochs lets some ranks access memory that some ranks expose.
func (m *Model) epochs() {
	n := len(m.Now)
	var origins, targets = make([][]int32, n), make([][]int32, n) // of each rank
	for from := range n {
		for to := range n {
			if m.Rand.IntN(3) == 0 {
				origins[to], targets[from] = append(origins[to], int32(from)), append(targets[from], int32(to))
			}
		}
	}
	var posts, starts, completes, waits [16]*Event
	each := func(events *[16]*Event, name string, sides [][]int32, end func(others []int32) uint64) {
		for rank, others := range sides {
			if len(others) == 0 {
				continue
			}
			m.sleep(rank)
			e := &Event{Rank: rank, Kind: pattern.Of(Op(name))}
			c := Call(name, 0, 0)
			if e.Kind == pattern.Posting || e.Kind == pattern.Starting {
				With(others...)(&c)
			}
			m.begin(e, c, max(m.Now[rank], end(others))+m.Rand.Uint64N(50))
			events[rank] = e
		}
	}
	last := func(events *[16]*Event, often int) func(others []int32) uint64 {
		return func(others []int32) (at uint64) {
			for _, o := range others {
				at = max(at, m.Of(events[o]).Start)
			}
			if m.Rand.IntN(often) == 1 { // the call need not wait
				at = 0
			}
			return at
		}
	}
	each(&posts, "Win_post", origins, func([]int32) uint64 { return 0 })
	each(&starts, "Win_start", targets, last(&posts, 2))
	each(&completes, "Win_complete", targets, last(&posts, 3))
	each(&waits, "Win_wait", origins, last(&completes, 1))
	for rank := range n {
		for _, o := range targets[rank] {
			starts[rank].With, completes[rank].With = append(starts[rank].With, posts[o]), append(completes[rank].With, posts[o])
		}
		for _, o := range origins[rank] {
			posts[rank].With, waits[rank].With = append(posts[rank].With, starts[o]), append(waits[rank].With, completes[o])
		}
		if posts[rank] != nil {
			posts[rank].Wait = -1
		}
	}
}

// Locks lets some ranks ask for the lock of a target, which is given in the order of asking.
func (m *Model) Locks() {
	target := m.Rand.IntN(len(m.Now))
	type turn struct {
		Rank      int
		exclusive bool
		free      uint64 // when it gave the lock back
		unlock    *Event
	}
	var turns []turn
	for rank := range m.Now {
		if m.Rand.IntN(3) > 0 {
			m.Now[rank] = max(m.Now[rank], m.unlocked) // from then on all locks are free
			m.sleep(rank)
			turns = append(turns, turn{Rank: rank, exclusive: m.Rand.IntN(2) == 0})
		}
	}
	slices.SortFunc(turns, func(a, b turn) int { return cmp.Compare(m.Now[a.Rank], m.Now[b.Rank]) })
	for i := range turns {
		x := &turns[i]
		e := &Event{Rank: x.Rank, Kind: pattern.Locking}
		from := m.Now[x.Rank]
		for _, o := range turns[:i] {
			if o.exclusive || x.exclusive {
				from, e.With = max(from, o.free), append(e.With, o.unlock)
			}
		}
		set := Shared(int32(target))
		if x.exclusive {
			set = Exclusive(int32(target))
		}
		m.begin(e, Call("Win_lock", 0, 0, set), from+m.Rand.Uint64N(50))
		m.sleep(x.Rank)
		x.free = m.Now[x.Rank] + 1 + m.Rand.Uint64N(50)
		x.unlock = &Event{Rank: x.Rank, Kind: pattern.Unlocking}
		m.unlocked = max(m.unlocked, x.free)
		x.unlock.Begin = m.call(x.Rank, Call("Win_unlock", 0, 0, set), x.free+m.Rand.Uint64N(50))
	}
}

package waits

import (
	"math"

	"ompp-attach/attribution/tree"
)

// Meter matches the barriers of all teams of a process.
type Meter struct {
	teams     []*Team     `copy:"-"` // for reuse
	instances []*instance `copy:"-"` // for reuse
	made      uint64      // number of teams
	// Quiet: what is incomplete is not counted as dropped, because it goes on in another engine.
	Quiet bool
}

// maxSlots bounds the arrivals of a team that wait for others to be read. Threads are read in
// turn, so there are few unless one of them cannot be read for long.
const maxSlots = 1 << 17

// Team holds the barriers of one execution of a team that not all threads have passed.
type Team struct {
	id     uint64
	size   int32
	first  int // number of open[0]
	open   []*instance
	last   uint64 // last arrival of the instance before open[0], ns
	limit  int    // the instances from this number on cannot be matched
	nested bool   // threads are in another team around, which has the critical path
}

// NewTeam returns the barriers of a team of several threads.
func (m *Meter) NewTeam(size int32) *Team {
	n := len(m.teams) - 1
	m.made++
	if n < 0 {
		return &Team{id: m.made, size: size, limit: math.MaxInt}
	}
	tm := m.teams[n]
	m.teams = m.teams[:n]
	*tm = Team{id: m.made, size: size, open: tm.open[:0], limit: math.MaxInt}
	return tm
}

// Arrival is a thread's arrival at a barrier.
type Arrival struct {
	Barrier *tree.Node // the barrier, or the construct that ends in it
	From    *tree.Node // the innermost region before the barrier
	Seat    int        // the thread's seat of the figures
	At      uint64     // ns
	// The thread may have arrived only at Second. Second is 0 for a thread that is sure to have
	// arrived at At; then the other threads have, too.
	Second uint64
	Final  bool // the region's final barrier
}

// Arrive notes that a thread has come to its next barrier.
func (m *Meter) Arrive(iv *Interval, a *Arrival) {
	tm := iv.team
	if iv.at != nil { // nothing has told that it left the last one
		m.Leave(iv, 0)
	}
	if iv.running {
		iv.Note(a.From, a.Seat, false, a.At)
	}
	iv.running, iv.working, iv.pending = false, false, false
	x := tm.instance(m, iv)
	if x == nil {
		m.stop(tm, iv.seq)
		waitsAt(a.Barrier, a.Seat).Dropped++
		iv.forget(m)
		iv.own, iv.hint, iv.noCore, iv.awaited = iv.own[:0], 0, 0, iv.awaited[:0]
		return
	}
	iv.seq++
	iv.at, iv.idle = x, a.At
	x.arrive(iv, a)
	if x.arrived++; x.arrived == tm.size {
		m.complete(iv, x)
	}
}

// Leave notes that a thread leaves its barrier at a time (ns); 0: it has left, and it is not known
// when.
func (m *Meter) Leave(iv *Interval, at uint64) {
	if iv.at != nil {
		m.gone(iv, at)
	}
	iv.resume(at)
}

// gone ends a thread's part in a barrier.
func (m *Meter) gone(iv *Interval, at uint64) {
	x := iv.at
	if iv.at = nil; !x.dropped {
		m.leave(iv.team, x, iv.num, at)
	}
}

func (m *Meter) leave(tm *Team, x *instance, num int32, at uint64) {
	s := &x.slots[num]
	s.left, s.leave = true, at
	if !x.complete {
		x.told(at)
		return
	}
	if m.finish(tm, x, num); x.ended == tm.size {
		tm.close(m)
	}
}

// instance returns the instance that is a thread's next one, nil if it cannot be known.
func (tm *Team) instance(m *Meter, iv *Interval) *instance {
	i := iv.seq - tm.first
	if iv.seq >= tm.limit || i < 0 || i > len(tm.open) || uint32(iv.num) >= uint32(tm.size) {
		return nil
	}
	if i == len(tm.open) {
		if i > 1 && i*int(tm.size) > maxSlots {
			return nil
		}
		tm.open = append(tm.open, m.newInstance(int(tm.size)))
	}
	if x := tm.open[i]; x.slots[iv.num].barrier == nil {
		return x
	}
	return nil // another thread has the same number
}

// lastBefore returns the last arrival at the instance before an open one (ns).
func (tm *Team) lastBefore(x *instance) uint64 {
	last := tm.last
	for _, o := range tm.open {
		if o == x {
			break
		}
		last = o.at
	}
	return last
}

// close forgets the instances that all threads have left.
func (tm *Team) close(m *Meter) {
	n := 0
	for n < len(tm.open) && tm.open[n].ended == tm.size {
		tm.last = tm.open[n].at
		tm.open[n].chargeTasks(tm.nested)
		tm.open[n].chargeLast()
		m.instances = append(m.instances, tm.open[n])
		n++
	}
	if n > 0 {
		tm.open = tm.open[:copy(tm.open, tm.open[n:])]
		tm.first += n
	}
}

// Break notes that none of a team's open instances can be matched, nor later ones.
func (m *Meter) Break(tm *Team) {
	if tm != nil {
		m.stop(tm, tm.first)
	}
}

// stop notes that a team's instances from a number on cannot be matched.
func (m *Meter) stop(tm *Team, from int) {
	if from >= tm.limit {
		return
	}
	tm.limit = from
	for _, x := range tm.open[min(len(tm.open), max(0, from-tm.first)):] {
		m.drop(x)
	}
}

// drop counts the arrivals of an instance that cannot be matched.
func (m *Meter) drop(x *instance) {
	x.dropped = true
	x.chargeLast()
	for i := range x.slots {
		if s := &x.slots[i]; s.barrier != nil && !x.complete && !m.Quiet {
			for j := range s.uses {
				s.uses[j].unmatched()
			}
			s.uses = s.uses[:0]
		}
		x.slots[i].drop(m)
	}
}

// drop counts an arrival that is not charged yet as dropped.
func (s *slot) drop(m *Meter) {
	if s.barrier != nil && !s.ended && !m.Quiet {
		waitsAt(s.barrier, s.seat).Dropped++
	}
	s.ended = true
}

// CutOff ends a thread's part in a barrier when measurement ends at a time (ns).
func (m *Meter) CutOff(iv *Interval, end uint64) {
	x := iv.at
	iv.at, iv.running, iv.working = nil, false, false
	iv.forget(m)
	if x != nil && x.complete && !x.dropped && x.at <= end && !x.slots[iv.num].ended {
		m.finish(iv.team, x, iv.num)
		x.chargeLast()
	}
}

// Lose notes that events of a thread were lost. Its part in the barrier that it is in is not known,
// nor are the barriers that it has come to since.
func (m *Meter) Lose(iv *Interval) {
	if x := iv.at; x != nil && !x.dropped {
		if iv.at = nil; !x.slots[iv.num].ended {
			x.slots[iv.num].lost = true
			m.leave(iv.team, x, iv.num, 0)
		}
	}
	m.stop(iv.team, iv.seq)
}

// End charges the final barrier of a team. All threads had nothing more to do at the time done, and
// the primary thread was back at joined (ns). The team is forgotten.
func (m *Meter) End(tm *Team, done, joined uint64) {
	for _, x := range tm.open {
		switch {
		case x.dropped:
		case !x.complete:
			m.drop(x)
		default:
			x.at = min(x.at, joined)
			for i := range x.slots {
				if s := &x.slots[i]; !s.ended {
					if x.finals > 0 {
						s.at, s.leave = min(s.at, joined), max(done, x.at)
					}
					m.finish(tm, x, int32(i))
				}
			}
			x.chargeTasks(tm.nested)
			x.chargeLast()
			m.instances = append(m.instances, x)
		}
	}
	tm.open = tm.open[:0]
	m.teams = append(m.teams, tm)
}

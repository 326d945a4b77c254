package stack

import (
	"ompp-attach/attribution/ledger"
	"ompp-attach/attribution/strip"
	"ompp-attach/attribution/tree"
	"ompp-attach/attribution/waits"
	"ompp-attach/profile"
)

// League is an execution of a teams construct in libomp. Each team of the league runs on a thread
// of its own, and that thread is thread 0 of its team.
type League struct {
	Team     *Team // its members are the threads that execute the teams
	Fn       uint64
	Instance uint16
}

const noteLeague = "a row is a team of the league: 0 runs on the thread that encountered the construct, " +
	"the others are numbered in the order in which they were seen to begin, which need not be that of their team numbers"

// TeamKey is the name by which a runtime knows a team.
type TeamKey struct {
	Instance uint16 // of the runtime library: two libraries may use the same addresses
	Key      uint64
}

// TeamList holds the executions of one team that are not charged yet.
type TeamList struct {
	key  TeamKey
	Open []*Team
}

// Team is one execution of a parallel region.
type Team struct {
	Key     TeamKey
	Bound   bool // key is known
	Told    bool // the primary thread has told the key, at Named
	Named   uint64
	list    *TeamList // nil: the team is in no list
	Node    *tree.Node
	Primary *Thread // the thread that forked it
	Root    int
	Size    int32 // 0: not known
	Forked  uint64
	Joined  uint64 // 0: not yet
	Members []Member
	Ended   int
	number  uint64 // of the execution, in a timeline
	last    uint64 // of a charged team: when the last of its threads had ended its body
	late    []lateSample
	// How much earlier the last thread's body would have ended without probes, ns (early).
	earlier  int64
	lastTask uint64 // when the last task ended that was executed in the final barrier
	Charged  bool
	// Time that the fork's hit took after its time stamp: all threads begin later by that much.
	ForkToll  int64
	JoinTolls ledger.Tolls // from the end of the primary thread's body to the join
	Queued    bool         // it is in Teams.Joined
	Waits     *waits.Team  // its barriers; nil: they are not matched

	turns   turns     // barriers that not all threads have passed
	waiters []*Thread // their next events wait for arrivals of the team
	Torn    bool      // the numbers of its threads' barriers are not known
	Derived Derived   // which of its times are no measured ones
}

// Derived says which times of a team were derived: the begin of the primary thread's body,
// the join.
type Derived struct{ Begin, Join bool }

// Derive notes that the join, or the begin of the primary thread's body, is derived.
func (m *Team) Derive(join bool) {
	if join {
		m.Derived.Join = true
	} else {
		m.Derived.Begin = true
	}
}

// of tells whether figures of the thread with a number hold a derived time.
func (d Derived) of(num int32) bool { return d.Join || d.Begin && num == 0 }

// addWait adds the part of a member's time in a team that passed without a core. Only the member's
// own such time counts, so that a thread's parts add up to no more than the scheduler tells. While
// the primary thread starts or ends a team and has no core, the workers are not ready to run. A
// worker in the final barrier reports nothing, so its time without a core there is not known.
func (m *Team) addWait(mem *Member, last, joined uint64, to **profile.Cost) {
	enter, barrier, exit := mem.Entered(ledger.ByWait), mem.InBarrier(ledger.ByWait), int64(0)
	if mem.num == 0 {
		joinWait := m.JoinTolls[ledger.ByWait]
		exit = min(joinWait, ledger.Between(last, joined))
		barrier += joinWait - exit
	}
	mem.AddCost(ledger.ByWait, enter, barrier, exit, 0, to)
}

// addCost adds the part of a member's time in a team that probes took. All threads leave the final
// barrier when the last thread has come to it. The hit at the end of that thread's body is of the
// same kind as the one at the end of the primary thread's body. So this hit and the hit at the join
// count for the exit of every thread. A thread in the barrier waits for others. Of its own hits
// there, only those of the tasks that it executes cost it time.
func (m *Team) addCost(mem *Member, last uint64, to **profile.Cost) {
	enter := mem.Entered(ledger.ByProbes)
	if mem.num != 0 {
		enter += m.ForkToll
	}
	late := m.lateOf(mem, last)
	mem.AddCost(ledger.ByProbes, enter, mem.InBarrier(ledger.ByProbes)+late, m.JoinTolls[ledger.ByProbes], late, to)
}

// paid returns how much later a thread ended its body because of its own probes and the fork's
// (ns).
func (m *Team) paid(mem *Member) int64 {
	d := mem.Taken()
	if mem.num != 0 {
		d += m.ForkToll
	}
	return d
}

// early returns how much earlier the last of a team's threads would have ended its body without
// probes (ns). All bodies began at one time. The last thread may have waited for others within the
// region, so it cannot have ended before any of them.
func (m *Team) early(last uint64) int64 {
	bare := int64(0)
	for i := range m.Members {
		mem := &m.Members[i]
		bare = max(bare, ledger.Between(m.Forked, min(mem.End, last))-m.paid(mem))
	}
	return max(0, ledger.Between(m.Forked, last)-bare)
}

// lateOf returns a part of a thread's wait in the final barrier (ns). That part is due to threads
// which probes slowed down more than this one. If tasks were executed meanwhile, the thread may
// have waited for these, and the part is not known: 0.
func (m *Team) lateOf(mem *Member, last uint64) int64 {
	if mem.Tasks > 0 || m.lastTask > 0 || m.earlier == 0 {
		return 0
	}
	return max(0, min(m.earlier-m.paid(mem), ledger.Between(min(mem.End, last), last)))
}

// Since returns the first time at which the team is known to have had its address. That is the time
// at which the primary thread told the address, or the fork if the thread has not told it yet.
func (m *Team) Since() uint64 {
	if m.Told {
		return m.Named
	}
	return m.Forked
}

// Held tells whether the team certainly had its address at a time. It had if the primary thread had
// told the address, and was not at the end of the body yet. At other times another team may have
// had that address.
func (m *Team) Held(at uint64) bool {
	p := m.Member(0)
	return m.Told && m.Named <= at && (p == nil || p.End == 0 || at <= p.End)
}

// NextInLeague returns the next thread's number in a league. Thread 0 is the thread that
// encountered the construct. The true team number would have to be read from the runtime's
// internals.
func (m *Team) NextInLeague() int32 {
	m.Node.Note(noteLeague)
	n := int32(1)
	for m.Member(n) != nil {
		n++
	}
	return n
}

// Member returns the part of the thread with a number, nil if it has none.
func (m *Team) Member(num int32) *Member {
	// Threads mostly begin in order of their numbers.
	if i := int(num); i < len(m.Members) && m.Members[i].num == num {
		return &m.Members[i]
	}
	for i := range m.Members {
		if m.Members[i].num == num {
			return &m.Members[i]
		}
	}
	return nil
}

// Share returns the account of a thread's part in a team, nil if the part is not known.
func (m *Team) Share(num int32) *ledger.Share {
	if mem := m.Member(num); mem != nil {
		return &mem.Share
	}
	return nil
}

// Member is one thread's part in a team.
type Member struct {
	num   int32
	tid   uint32
	Seat  int
	Begin uint64
	End   uint64        // 0: not yet
	turns int           // number of barriers that it has come to
	strip *strip.Thread // of its thread
	in    strip.State   // of its thread around the team
	Body  profile.Sum   // of parallel sections, or of a league: what the thread executed
	ledger.Share
}

// EndLost ends a member's body at a time, because its end was lost.
func (mem *Member) EndLost(at uint64) {
	mem.End = at
	mem.Lose()
}

// lateSample is a sample behind a thread's body in its team. It waits until the time of the team's
// join is known.
type lateSample struct {
	time, weight uint64
	id           tree.SampleID
}

// entered notes that a seat's thread begins a team's body.
func (m *Team) entered(seat int) {
	p := m.Node.Present(seat)
	p.Count++
	if m.Joined != 0 { // the thread was read late
		p.Time += ledger.Between(m.Forked, m.Joined)
	}
}

// Left notes that a team is joined.
func (m *Team) Left() {
	for i := range m.Members {
		m.Node.Present(m.Members[i].Seat).Time += ledger.Between(m.Forked, m.Joined)
	}
}

// CutOffPresence notes that a seat's thread is still in a team when measurement ends.
func (m *Team) CutOffPresence(seat int, end uint64) {
	if m.Joined == 0 {
		m.Node.Present(seat).Time += ledger.Between(m.Forked, end)
	}
}

package profile

import (
	"cmp"
	"slices"
)

// OffCore divides a time T of a thread by what the scheduler did with the thread (ns). The rest of
// T, without Asleep, Late and Preempted, is time on a core.
type OffCore struct {
	T int64 `json:"t,omitempty"`
	// Asleep is the part in which the thread had given its core up, until it was woken.
	Asleep int64 `json:"asleep,omitempty"`
	// Late is the part in which the thread had been woken, and had no core yet.
	Late int64 `json:"late,omitempty"`
	// Preempted is the part in which the thread had lost or yielded its core, and was ready to run.
	Preempted int64 `json:"preempted,omitempty"`
	// Foreign is the part of Late and Preempted in which other processes are known to have had the
	// core.
	Foreign int64 `json:"foreign,omitempty"`
	// Moves is how often the thread was moved to another core meanwhile.
	Moves uint64 `json:"moves,omitempty"`
}

// OnCore returns the part of the time in which the thread had a core (ns).
func (o *OffCore) OnCore() int64 { return o.T - o.Asleep - o.Late - o.Preempted }

// Ready returns the part of the time in which the thread was ready to run without a core (ns).
func (o *OffCore) Ready() int64 { return o.Late + o.Preempted }

func (o *OffCore) times() [5]*int64 {
	return [5]*int64{&o.T, &o.Asleep, &o.Late, &o.Preempted, &o.Foreign}
}

// Add adds other times.
func (o *OffCore) Add(other OffCore) {
	for i, t := range o.times() {
		*t += *other.times()[i]
	}
	o.Moves += other.Moves
}

// Less takes other times away.
func (o *OffCore) Less(other OffCore) {
	for i, t := range o.times() {
		*t -= *other.times()[i]
	}
	o.Moves = less(o.Moves, other.Moves)
}

// Scale multiplies all times by a factor.
func (o *OffCore) Scale(by float64) {
	for _, t := range o.times() {
		*t = int64(float64(*t) * by)
	}
}

// Share is a time in which a rival had the core (ns).
type Share struct {
	Rival int   `json:"rival"` // index in Profile.Rivals
	T     int64 `json:"t"`
}

// Rival is a process whose threads had the core while threads of this process were ready to run:
// another process, a thread of the kernel, or this process itself.
type Rival struct {
	PID  int    `json:"pid"`
	Name string `json:"name"` // of the program, as the kernel has it: 15 characters at most
	Own  bool   `json:"own,omitempty"`
	// T is how long the process had a core while a thread of this process was ready to run there,
	// in waits or not (ns). For each time off the core,
	// only the process with the longest turn counts.
	T int64 `json:"t,omitempty"`
}

// AddShare adds a time to a rival's.
func AddShare(list []Share, s Share) []Share {
	i, found := slices.BinarySearchFunc(list, s.Rival, func(a Share, rival int) int { return cmp.Compare(a.Rival, rival) })
	if !found {
		return slices.Insert(list, i, s)
	}
	list[i].T += s.T
	return list
}

// Sched divides a thread's waits at one node by what the scheduler did (--sched). The times are of
// the program's clock, and include the time that probes took.
type Sched struct {
	Wait OffCore `json:"wait,omitzero"` // at a barrier, until the team's last thread came
	Done OffCore `json:"done,omitzero"` // from then until the thread left the barrier
	Lock OffCore `json:"lock,omitzero"` // before a critical or lock was got
	Task OffCore `json:"task,omitzero"` // for tasks, without tasks executed meanwhile
	MPI  OffCore `json:"mpi,omitzero"`  // in MPI calls
	// Due is the part of the others' waits at barriers for this thread that is due to its time
	// off its core. That is the time by which the thread was off its core for longer than they
	// were, since they were last together.
	Due OffCore `json:"due,omitzero"`
	// Held is the others' wait for a lock while this thread held it.
	Held OffCore `json:"held,omitzero"`
	// By and DueBy say which processes had the core while the thread was Late or Preempted: By in
	// Wait to MPI, DueBy in Due and Held. For each time off the core, only the process with the
	// longest turn counts.
	By    []Share `json:"by,omitempty"`
	DueBy []Share `json:"due_by,omitempty"`
}

// Parts lists the times of s.
func (s *Sched) Parts() [7]*OffCore {
	return [7]*OffCore{&s.Wait, &s.Done, &s.Lock, &s.Task, &s.MPI, &s.Due, &s.Held}
}

// Plus returns the sum of two threads', or two places', figures; either may be nil. It changes
// neither.
func (s *Sched) Plus(o *Sched) *Sched {
	if s == nil || o == nil {
		return cmp.Or(s, o)
	}
	sum := *s
	for i, p := range sum.Parts() {
		p.Add(*o.Parts()[i])
	}
	sum.By, sum.DueBy = sumShares(s.By, o.By, 1), sumShares(s.DueBy, o.DueBy, 1)
	return &sum
}

// minus takes away an earlier state of the same figures.
func (s *Sched) minus(o *Sched) *Sched {
	if s == nil || o == nil {
		return s
	}
	out := *s
	some := false
	for i, p := range out.Parts() {
		p.Less(*o.Parts()[i])
		some = some || *p != OffCore{}
	}
	out.By, out.DueBy = sumShares(s.By, o.By, -1), sumShares(s.DueBy, o.DueBy, -1)
	if !some && len(out.By)+len(out.DueBy) == 0 {
		return nil
	}
	return &out
}

// caused returns the figures about the waits of others, without those about the thread's own; nil
// if there are none.
func (s *Sched) caused() *Sched {
	if s == nil || s.Due == (OffCore{}) && s.Held == (OffCore{}) {
		return nil
	}
	return &Sched{Due: s.Due, Held: s.Held, DueBy: s.DueBy}
}

// sumShares returns a + by*b, without rivals that have nothing left.
func sumShares(a, b []Share, by int64) []Share {
	if len(b) == 0 {
		return a
	}
	out := slices.Clone(a)
	for _, s := range b {
		out = AddShare(out, Share{s.Rival, by * s.T})
	}
	return slices.DeleteFunc(out, func(s Share) bool { return s.T == 0 })
}

// SchedRecords counts the records of times off a core (--sched).
type SchedRecords struct {
	Records  uint64 `json:"records"`             // times off a core that were written
	Lost     uint64 `json:"lost,omitempty"`      // and that were not, because a ring had no room
	LostTime uint64 `json:"lost_time,omitempty"` // the sum of these times, ns
	// Unseen is how many switches the kernel did not tell of. The scheduler's account of the
	// thread's processor time has told when they were.
	Unseen uint64 `json:"unseen,omitempty"`
}

// valid tells whether all shares are of one of so many rivals, and in order.
func (s *Sched) valid(rivals int) bool {
	for _, list := range [][]Share{s.By, s.DueBy} {
		for i, x := range list {
			if x.Rival < 0 || x.Rival >= rivals || i > 0 && list[i-1].Rival >= x.Rival {
				return false
			}
		}
	}
	return true
}

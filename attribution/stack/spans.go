package stack

import (
	"ompp-attach/attribution/ledger"
	"ompp-attach/attribution/spans"
	"ompp-attach/profile"
	"ompp-attach/timeline"
)

// What a timeline is told of regions and teams (package spans).

// tellEnded tells of the i-th region of a thread, which was charged with a time (ns) when it ended.
func tellEnded(sp *spans.Spans, t *Thread, i int, at uint64, exec int64, l *ledger.Ledger) {
	open := &t.Stack[i]
	s := sp.Begin(t.Tid, open.Node, open.Seat)
	s.Counts = l.Counts(&open.Account, sp.Counts())
	s.From, s.To = open.began(), at
	if !IsContext(open.Node.Key.Construct) {
		s.To += t.suspendedAt(i)
	}
	s.Exec = profile.Sum{T: exec, C: 1}
	copy(s.Parts[:], open.Parts[profile.Enter:])
	s.Lock, s.Task = open.Resource, open.task
	if open.Resumed {
		s.Exec.C--
		s.Parts[timeline.Enter].C--
	}
	if open.Team != nil {
		s.From, s.Team = open.Team.Forked, open.Team.number
		if open.Team.Derived.of(t.Num) {
			s.Flags |= timeline.Approximate
		}
	}
	sp.Tell(s)
}

// tellMember tells of a thread's part in a team. was holds the thread's figures before the part was
// charged, counts its counters; nil: counters are not read.
func tellMember(sp *spans.Spans, m *Team, mem *Member, was *[profile.NumParts]profile.Sum, counts *profile.Counts, joined uint64) {
	s := sp.Begin(mem.tid, m.Node, mem.Seat)
	s.Counts = counts
	s.From, s.To, s.Team = m.Forked, joined, m.number
	if m.Derived.of(mem.num) {
		s.Flags |= timeline.Approximate
	}
	now := m.Node.Stat(mem.Seat).Parts()
	for i := range now {
		d := profile.Sum{T: now[i].T - was[i].T, C: now[i].C - was[i].C}
		if i == int(profile.Exec) {
			s.Exec = d
		} else {
			s.Parts[i-int(profile.Enter)] = d
		}
	}
	sp.Tell(s)
}

// figures returns a copy of the times and counts of a seat.
func figures(s *profile.ThreadStats) (out [profile.NumParts]profile.Sum) {
	for i, p := range s.Parts() {
		out[i] = *p
	}
	return out
}

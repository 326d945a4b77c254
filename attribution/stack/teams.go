package stack

import (
	"slices"

	"ompp-attach/attribution/ledger"
	"ompp-attach/attribution/seats"
	"ompp-attach/attribution/spans"
	"ompp-attach/attribution/tree"
	"ompp-attach/event"
	"ompp-attach/profile"
)

// Teams holds the teams whose threads have not all been charged yet.
type Teams struct {
	*Sampling
	Barriers
	*seats.Seats
	Tree   *tree.Tree
	Ledger *ledger.Ledger
	Spans  *spans.Spans `copy:"-"` // nil: no timeline is recorded

	TeamsByKey map[TeamKey]*TeamList
	Lists      [64]*TeamList // cache of TeamsByKey, indexed by the last digits of the team's key
	Joined     []*Team       // some of their threads' events are still missing
	Leagues    []League      // leagues of libomp that are not charged yet
	Woken      []TeamKey     // teams that became known: threads may wait for them
	Ready      []*Thread     // threads whose pending ends may be decided now
	FreeTeams  []*Team       `copy:"-"`
}

// CutOffTeam charges workers that had reached the final barrier of a region that was never joined:
// they have no open region any more. The primary thread still has the region open.
func (tm *Teams) CutOffTeam(m *Team, end uint64) {
	for i := range m.Members {
		mem := &m.Members[i]
		if mem.End == 0 || mem.num == 0 {
			continue
		}
		m.Node.Note(NoteCutOff)
		last := max(end, mem.End)
		m.CutOffPresence(mem.Seat, last)
		tm.chargeMember(m, mem, mem.End, last, last)
	}
}

func (tm *Teams) closeLeague(m *Team) {
	tm.Leagues = slices.DeleteFunc(tm.Leagues, func(l League) bool { return l.Team == m })
}

// teamsOf returns the list of a team, nil if there is none.
func (tm *Teams) teamsOf(k TeamKey) *TeamList {
	slot := &tm.Lists[(k.Key>>4^k.Key>>10^k.Key>>16)%uint64(len(tm.Lists))]
	if l := *slot; l != nil && l.key == k {
		return l
	}
	l := tm.TeamsByKey[k]
	if l != nil {
		*slot = l
	}
	return l
}

// OpenTeams returns the executions of a team that are not charged yet.
func (tm *Teams) OpenTeams(k TeamKey) []*Team {
	if l := tm.teamsOf(k); l != nil {
		return l.Open
	}
	return nil
}

// NewTeam returns an empty team.
func (tm *Teams) NewTeam() *Team {
	if n := len(tm.FreeTeams); n > 0 {
		m := tm.FreeTeams[n-1]
		tm.FreeTeams = tm.FreeTeams[:n-1]
		*m = Team{Members: m.Members[:0], late: m.late[:0], turns: turns{list: m.turns.list[:0]}, waiters: m.waiters[:0], number: tm.Spans.NextTeam()}
		return m
	}
	return &Team{number: tm.Spans.NextTeam()}
}

// Bind gives a team its name. Threads may wait for it (Woken).
func (tm *Teams) Bind(m *Team, k TeamKey) {
	m.Key, m.Bound = k, true
	m.list = tm.teamsOf(k)
	if m.list == nil {
		m.list = &TeamList{key: k}
		tm.TeamsByKey[k] = m.list
	}
	m.list.Open = append(m.list.Open, m)
	tm.Woken = append(tm.Woken, k)
}

// BeginAs begins the body of a team on a thread, which has a number in it.
func (tm *Teams) BeginAs(t *Thread, open *OpenRegion, m *Team, num int32, at uint64) {
	t.Num, t.Seat, t.Known = num, tm.Seat(m.Root, int(num)), true
	tm.NoteTID(t.Seat, t.Tid)
	open.Seat, open.Phase, open.Mark = t.Seat, InBody, at
	m.Members = append(m.Members, Member{num: num, tid: t.Tid, Seat: t.Seat, Begin: at, strip: t.Strip, in: t.around(open)})
	m.entered(t.Seat)
	tm.beginWaits(t, open, m)
}

// Charge charges a team: each thread's execT is the sum of startup, body, barrier and shutdown.
func (tm *Teams) Charge(m *Team) {
	last := max(m.Forked, m.lastTask)
	for i := range m.Members {
		last = max(last, m.Members[i].End)
	}
	last = min(last, m.Joined)
	m.earlier = m.early(last)
	for i := range m.Members {
		mem := &m.Members[i]
		tm.chargeMember(m, mem, min(mem.End, last), last, m.Joined)
	}
	if m.Waits != nil {
		tm.Waits.End(m.Waits, last, m.Joined)
		m.Waits = nil
	}
	m.Charged, m.last = true, last
	tm.ChargeLate(m)
	tm.closeLeague(m)
	tm.Unbind(m)
	if !m.Queued {
		tm.FreeTeams = append(tm.FreeTeams, m)
	}
}

// Unbind takes a team out of the list of its name.
func (tm *Teams) Unbind(m *Team) {
	if m.list == nil {
		return
	}
	if i := slices.Index(m.list.Open, m); i >= 0 {
		m.list.Open = slices.Delete(m.list.Open, i, i+1)
	}
	m.list = nil
}

// abandonTeam counts the threads of a team whose join was not seen. Other threads may still point
// to the team, so its memory is not used again.
func (tm *Teams) abandonTeam(m *Team) {
	for i := range m.Members {
		s := m.Node.Stat(m.Members[i].Seat)
		s.Exec.C++
		tm.Ledger.CountUnknown(s)
		if tm.Spans != nil {
			tm.Spans.Unseen(m.Members[i].tid, m.Node, m.Members[i].Seat, m.Forked, m.number)
		}
	}
	tm.Waits.Break(m.Waits)
	m.Waits = nil
	m.Charged = true
	tm.ChargeLate(m)
	tm.Unbind(m)
}

// chargeMember charges one thread's part in a team. The thread's body ended at end, the body of the
// team's last thread at last, and the primary thread was back at joined. Events of the member after
// joined belong to another team whose begin was lost, and are left out.
func (tm *Teams) chargeMember(m *Team, mem *Member, end, last, joined uint64) {
	s := m.Node.Stat(mem.Seat)
	if tm.Spans == nil {
		tm.addMember(m, mem, s, end, last, joined)
		return
	}
	was, counts := figures(s), tm.Ledger.CountsOfShare(&mem.Share, tm.Spans.Counts())
	tm.addMember(m, mem, s, end, last, joined)
	tellMember(tm.Spans, m, mem, &was, counts, joined)
}

// addMember adds a thread's part in a team to its figures.
func (tm *Teams) addMember(m *Team, mem *Member, s *profile.ThreadStats, end, last, joined uint64) {
	begin := min(mem.Begin, end)
	if c := m.Node.Key.Construct; mem.strip.Due(c, joined-m.Forked) {
		mem.show(c, m.Forked, begin, end, last, joined)
	}
	tm.Ledger.Count(&mem.Share, s)
	s.Exec.T += ledger.Between(m.Forked, joined)
	s.Exec.C++
	s.Enter.T += ledger.Between(m.Forked, begin)
	s.Enter.C++
	s.Barrier.T += ledger.Between(end, last)
	s.Barrier.C++
	s.Exit.T += ledger.Between(last, joined)
	s.Exit.C++
	m.addCost(mem, last, &s.Cost)
	if mem.Some(ledger.ByWait) || m.JoinTolls[ledger.ByWait] != 0 {
		m.addWait(mem, last, joined, &s.NoCore)
	}
	task := min(mem.Task, ledger.Between(end, joined))
	s.Child += min(mem.Child, ledger.Between(begin, end)) + task
	s.Task += task
	s.Tasks += mem.Tasks
	switch c := m.Node.Key.Construct; {
	case c == event.ParallelSections:
		s.Body.Add(mem.Body)
	case c == event.Teams && m.Node.Key.Runtime == event.Gomp:
		s.Body.T += ledger.Between(begin, end)
		s.Body.C += mem.Body.C
	default:
		s.Body.T += ledger.Between(begin, end)
		s.Body.C++
	}
}

// GiveUp charges a team although events of some of its threads were lost.
func (tm *Teams) GiveUp(m *Team) {
	for i := range m.Members {
		if m.Members[i].End == 0 {
			m.Members[i].EndLost(m.Joined)
			m.Node.Note("the end of some threads' bodies was lost: their bodyT reaches to the join")
		}
	}
	if int(m.Size) > len(m.Members) {
		m.Node.Note("the start of some threads in this region was lost: their part is missing")
	}
	tm.Charge(m)
}

package attribution

import (
	"ompp-attach/attribution/ledger"
	"ompp-attach/attribution/place"
	"ompp-attach/attribution/stack"
	"ompp-attach/event"
	"ompp-attach/profile"
)

// Teams. The times of a parallel region are charged when the last thread of its team has reported.
// Startup, implicit barrier and shutdown of every thread depend on the others (ompP, Fig. 1: fork,
// begin, end, join).

// parallel applies the events of teams.
type parallel struct {
	*stack.Stacks
	*progress
	// Tasks were seen: a team is charged only when all events before its join are read.
	tasksSeen bool
}

func (pa *parallel) fork(t *stack.Thread, ev *event.Event) {
	c := ev.Construct
	if ev.Flags&event.IfSerial != 0 && ev.Num != 0 {
		return // the Fork of the call of __kmpc_fork_call follows
	}
	if ev.Runtime == event.Gomp && c == event.Parallel {
		if s := pa.Tree.Answers.Team(ev.Site); s != event.NoConstruct {
			c = s
		}
	}
	if t.Lossy {
		pa.leaveLost(t, ev)
	}
	pa.leaveUnknown(t, ev)
	k := place.Key{RuntimeConstruct: place.RuntimeConstruct{Construct: c, Runtime: ev.Runtime}, Fn: ev.Fn, Loc: ev.Loc}
	if k.Fn == 0 {
		k.Site = ev.Site
	}
	r := pa.Push(t, k, ev)
	m := pa.NewTeam()
	m.Node, m.Primary, m.Size, m.Forked = r.Node, t, ev.Size, ev.Time
	m.Root = pa.Seats.List[t.Seat].Root
	m.ForkToll = t.Due
	r.Team, r.Num, r.Phase, r.Seat = m, t.Num, stack.Starting, pa.Seat(m.Root, 0)
	t.SetClock()
	if ev.Key != 0 {
		m.Told, m.Named = true, ev.Time
		pa.Bind(m, stack.TeamKey{Instance: ev.Instance, Key: ev.Key})
	}
	if c == event.Teams && ev.Runtime == event.Kmpc {
		pa.Leagues = append(pa.Leagues, stack.League{Team: m, Fn: ev.Fn, Instance: ev.Instance})
	}
	if ev.Flags&event.AtOnce != 0 {
		m.Size = 1
		pa.BeginAs(t, r, m, 0, ev.Time)
	}
}

// leaveUnknown drops the open region for one under way at attach when its thread turns out to be in
// no region.
func (pa *parallel) leaveUnknown(t *stack.Thread, ev *event.Event) {
	if len(t.Stack) == 0 || ev.Num > 0 || !t.UserOnly() {
		return
	}
	if r := &t.Stack[0]; r.Team == nil && r.Node.Key.Construct == event.Unknown {
		pa.OutsideAll(t)
	}
}

// leaveLost drops regions whose end was among a thread's lost events. A thread that starts a team
// is not inside such a region if it is outside any team. The same holds if its stack is no deeper
// than at the start of the team that it seems to be in.
func (pa *parallel) leaveLost(t *stack.Thread, ev *event.Event) {
	for i := t.Level(); i >= 0; i = t.Level() {
		if r := &t.Stack[i]; r.Team != nil && (r.Num < 0 || ev.SP < r.Sp) {
			return
		}
		if r := pa.UnwindTo(t, i, ev.Time); r.Team == nil {
			return
		}
		pa.Abandon(t)
	}
	for len(t.Stack) > 0 {
		pa.Abandon(t)
	}
	t.Lossy = false
}

// begin starts a team's body on a thread. It answers false if the team's fork has not been read
// yet.
func (pa *parallel) begin(t *stack.Thread, ev *event.Event) bool {
	// The primary thread begins the team that it has just forked.
	if r := t.Top(); r != nil && r.Team != nil && r.Phase == stack.Starting && ev.Num == 0 {
		m := r.Team
		// In a league, Size and Key are those of the inner team.
		inLeague := m.Node.Key.Construct == event.Teams
		if m.Size == 0 && !inLeague {
			m.Size = ev.Size
		}
		pa.Tax(t, ev)
		pa.BeginAs(t, r, m, ev.Num, ev.Time)
		if ev.Key != 0 && !inLeague {
			m.Told, m.Named = true, ev.Time
			pa.rename(m, stack.TeamKey{Instance: ev.Instance, Key: ev.Key})
		}
		return true
	}
	if r := t.Top(); r != nil && r.Flags&event.IfSerial != 0 && r.Phase == stack.InBody && ev.Num == 0 {
		pa.Tax(t, ev)
		return true // the region began at its fork
	}
	m := pa.openTeam(t, ev)
	if m != nil {
		pa.enlist(t, m, ev)
	}
	return m != nil
}

// rename gives a team the name that its primary thread tells, unless a worker told the same.
func (pa *parallel) rename(m *stack.Team, k stack.TeamKey) {
	if !m.Bound || m.Key != k {
		pa.Unbind(m)
		pa.Bind(m, k)
	}
}

// enlist makes a worker a member of a team: the worker takes over the team's stack.
func (pa *parallel) enlist(t *stack.Thread, m *stack.Team, ev *event.Event) {
	pa.LeaveAll(t)
	t.Lossy, t.GivenUp, t.Serves = false, false, m.Primary.Tid
	r := t.Open(m.Node, ev)
	r.Team, r.Num, r.Flags = m, -1, 0
	t.Due = 0 // that was due in the final barrier of its last region
	num := ev.Num
	if m.Node.Key.Construct == event.Teams {
		num, t.InLeague = m.NextInLeague(), true
	}
	t.Seat = pa.Seat(m.Root, int(num))
	r.Seat = t.Seat
	pa.LeaveOutIdle(t, m, ev.Time)
	pa.Tax(t, ev)
	pa.BeginAs(t, t.Top(), m, num, ev.Time)
}

func (pa *parallel) end(t *stack.Thread, ev *event.Event) {
	pa.BeginLost(t, ev)
	i := t.Level()
	if i < 0 {
		if !afterLeague(t, ev) {
			pa.Unmatched++
		}
		return
	}
	if r := &t.Stack[i]; r.Team == nil {
		if ev.Num > 1 {
			r.Mark = ev.Time // until here the thread was in the region: see CutOffExisting
			return           // the end of an inner region, which was under way as well
		}
		// The region was under way when measurement began: the thread is known to have been
		// in it since then.
		r = pa.UnwindTo(t, i, ev.Time)
		r.Parts[profile.Body].T = ledger.Between(r.Start, ev.Time)
		r.Uncounted = true
		pa.ChargeTop(t, ev.Time, r.Parts[profile.Body].T)
		t.Stack = t.Stack[:0]
		// A thread that has begun as a worker remains one. Other threads may be initial threads.
		t.Known = t.Tid == pa.Pid || t.Known && t.Num > 0
		return
	}
	r := &t.Stack[i]
	if ev.Flags&event.Inside != 0 && r.Flags&(event.NoReturn|event.AtOnce) == 0 || r.Phase == stack.InBarrier {
		return // reported twice: the return of the call itself follows
	}
	r = pa.UnwindTo(t, i, ev.Time)
	pa.endMember(t, r, ev.Time)
}

func (pa *parallel) endMember(t *stack.Thread, r *stack.OpenRegion, at uint64) {
	mem := r.Team.Member(t.Num)
	if mem == nil || mem.End != 0 {
		return
	}
	if r.Section != 0 { // a section that no further call ended
		r.Parts[profile.Body].T += ledger.Between(r.Section, at)
		r.Section = 0
	}
	mem.End, mem.Body = at, r.Parts[profile.Body]
	pa.ArriveLast(r, mem.Seat, at)
	pa.Ledger.EndBody(&mem.Share, &r.Account, r.Num < 0)
	r.Phase, r.Mark = stack.InBarrier, at
	r.Node.Present(mem.Seat).Taken += r.Taken()
	if pa.Switching {
		r.Node.NoteSpread(mem.Seat)
	}
	r.Team.Ended++
	if r.Team.Ended >= int(r.Team.Size) {
		pa.WakeWaiters(r.Team)
	}
	pa.chargeIfComplete(r.Team)
}

func (pa *parallel) join(t *stack.Thread, ev *event.Event) {
	if ofLeague(t, ev) {
		return // the return of __kmpc_fork_teams follows
	}
	i := t.Forked()
	if i < 0 {
		pa.Partial++ // its fork was before measurement began
		if t.Level() < 0 {
			t.Stack = t.Stack[:0]
		}
		return
	}
	if ev.Flags&event.Inside != 0 && t.Stack[i].Flags&(event.NoReturn|event.AtOnce) == 0 {
		return // reported twice
	}
	r := pa.UnwindTo(t, i, ev.Time)
	m := r.Team
	if r.Phase != stack.InBarrier { // the end of the body was not reported
		pa.endMember(t, r, ev.Time)
	}
	m.JoinTolls = pa.Ledger.Join(&r.Account, m.Share(t.Num))
	m.Joined = ev.Time
	m.Left()
	t.LeaveTeam(r, ev.Time)
	pa.HandUp(t, i, ev.Time)
	t.Num = r.Num
	t.Stack = t.Stack[:i]
	t.SetClock()
	if i > 0 {
		t.Seat = t.Stack[i-1].Seat
	} else {
		t.Seat = pa.Seat(m.Root, 0)
	}
	if !pa.chargeIfComplete(m) {
		m.Queued = true
		pa.Joined = append(pa.Joined, m)
		if m.Bound {
			pa.Woken = append(pa.Woken, m.Key)
		}
	}
}

// chargeIfComplete charges a team's threads if all have reported. It tells whether the team is
// charged.
func (pa *parallel) chargeIfComplete(m *stack.Team) bool {
	if m.Charged {
		return true
	}
	if m.Joined == 0 || m.Ended < len(m.Members) {
		return false
	}
	if int(m.Size) > len(m.Members) || m.Size == 0 && (pa.now < m.Joined+stragglerWait || !pa.allRead(m.Joined)) {
		return false // a parked thread may be a member
	}
	if pa.tasksSeen && !pa.allRead(m.Joined) { // tasks may have been executed in its final barrier
		return false
	}
	pa.Charge(m)
	return true
}

// openTeam finds the execution that a worker begins, nil if it is not known yet. Each thread number
// takes part in an execution once, and executions of one team follow each other. An execution
// without a join so far may in truth be over, and followed by another one. So the events of the
// primary thread must have been read up to the worker's begin.
func (pa *parallel) openTeam(t *stack.Thread, ev *event.Event) *stack.Team {
	k := stack.TeamKey{Instance: ev.Instance, Key: ev.Key}
	var found *stack.Team
	for _, m := range pa.OpenTeams(k) {
		if m.Forked > ev.Time || m.Member(ev.Num) != nil || m.Size > 0 && ev.Num >= m.Size ||
			m.Joined != 0 && ev.Time > m.Joined {
			continue
		}
		if found == nil || goesFirst(m, found) {
			found = m
		}
	}
	if found == nil {
		return pa.openLeague(ev)
	}
	if found.Joined == 0 {
		// Its join may be lost, and the fork of another one not read.
		if found.Primary.Lossy && !pa.allRead(ev.Time) {
			return nil
		}
		if !pa.caughtUp(found.Primary, ev.Time) {
			return pa.openLeague(ev)
		}
	}
	if !found.Held(ev.Time) && !t.GivenUp && !pa.isNext(k, found, ev) {
		return nil
	}
	return found
}

// goesFirst tells whether a worker's begin more likely belongs to execution m than to another
// execution of the same team. The earlier execution gets its workers first. An execution whose join
// may be lost comes last, because it may be over.
func goesFirst(m, other *stack.Team) bool {
	over, otherOver := m.Joined == 0 && m.Primary.Lossy, other.Joined == 0 && other.Primary.Lossy
	if over != otherOver {
		return otherOver
	}
	return (m.Since() < other.Since()) != over
}

// isNext tells whether a worker's begin belongs to the first execution that lacks the worker's
// number. Another thread's team may have the same address. An earlier team's join is reported after
// the address is free, and a later team's fork before the address is taken. So all earlier begins
// of that number must have been applied, and all earlier executions must be known.
func (pa *parallel) isNext(k stack.TeamKey, m *stack.Team, begin *event.Event) bool {
	return pa.noneBefore(k, begin.Num, begin.Time) && (m.Since() <= begin.Time || pa.noneBefore(k, 0, m.Since()))
}

// openLeague finds the league of a thread that begins as thread 0. It is the open execution of that
// teams construct, and the primary thread's events must have been read up to the begin (see
// openTeam). If two threads execute one teams construct at once, their leagues cannot be told
// apart.
func (pa *parallel) openLeague(ev *event.Event) *stack.Team {
	if ev.Num != 0 {
		return nil
	}
	for _, l := range pa.Leagues {
		m := l.Team
		if l.Fn != ev.Fn || l.Instance != ev.Instance || m.Forked > ev.Time || m.Joined != 0 && ev.Time > m.Joined {
			continue
		}
		if m.Joined != 0 || pa.caughtUp(m.Primary, ev.Time) {
			return m
		}
	}
	return nil
}

// afterLeague tells whether an end on a thread outside of all regions may be the end of a team of a
// libomp league. libomp reports such an end twice, and the thread may have left the league's stack
// by then.
func afterLeague(t *stack.Thread, ev *event.Event) bool {
	return ev.Runtime == event.Kmpc && t.InLeague
}

// ofLeague tells whether a join is that of a team of a libomp league, or of the league itself
// before its call returns. libomp ends such teams like those of other regions.
func ofLeague(t *stack.Thread, ev *event.Event) bool {
	if ev.Runtime != event.Kmpc || ev.Construct == event.Teams {
		return false
	}
	i := t.Level()
	return i < 0 && t.InLeague || i >= 0 && t.Stack[i].Team != nil && t.Stack[i].Node.Key.Construct == event.Teams
}

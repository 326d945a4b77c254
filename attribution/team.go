package attribution

import (
	"slices"

	"ompp-attach/attribution/ledger"
	"ompp-attach/attribution/place"
	"ompp-attach/attribution/tree"
	"ompp-attach/event"
	"ompp-attach/profile"
)

// Teams. The times of a parallel region are settled when the last thread of its team has reported:
// startup, implicit barrier and shutdown of every thread depend on the others (ompP, Fig. 1: fork,
// begin, end, join).

type teamKey struct {
	instance uint16 // of the runtime library: two libraries may use the same addresses
	key      uint64
}

// teamList holds the executions of one team that are not settled yet.
type teamList struct {
	key  teamKey
	open []*team
}

// teams are those whose threads have not all been charged.
type teams struct {
	*sampling
	*rows
	tree   *tree.Tree
	ledger *ledger.Ledger

	teamsByKey map[teamKey]*teamList
	lists      [64]*teamList // cache of teamsByKey, indexed by the last digits of the team's key
	joined     []*team       // some of their threads' events are still missing
	leagues    []league      // leagues of libomp that are not charged yet
	woken      []teamKey     // teams that became known: threads may wait for them
	freeTeams  []*team       `copy:"-"`
}

// parallel applies the events of teams.
type parallel struct {
	*stacks
	*progress
	// Tasks were seen: a team is charged only when all events before its join are read.
	tasksSeen bool
}

// teamsOf returns the list of a team, nil if there is none.
func (tm *teams) teamsOf(k teamKey) *teamList {
	slot := &tm.lists[(k.key>>4^k.key>>10^k.key>>16)%uint64(len(tm.lists))]
	if l := *slot; l != nil && l.key == k {
		return l
	}
	l := tm.teamsByKey[k]
	if l != nil {
		*slot = l
	}
	return l
}

func (tm *teams) openTeams(k teamKey) []*team {
	if l := tm.teamsOf(k); l != nil {
		return l.open
	}
	return nil
}

// team is one execution of a parallel region.
type team struct {
	key     teamKey
	bound   bool      // key is known
	list    *teamList // nil: the team is in no list
	node    *tree.Node
	primary *thread // the thread that forked it
	root    int
	size    int32 // 0: not known
	forked  uint64
	joined  uint64 // 0: not yet
	members []member
	ended   int
	last    uint64 // of a charged team: when the last of its threads had ended its body
	late    []lateSample
	// How much earlier the last thread's body would have ended without probes, ns (early).
	earlier  int64
	lastTask uint64 // when the last task ended that was executed in the final barrier
	charged  bool
	// Time that the fork's hit took after its time stamp: all threads begin later by that much.
	forkToll  int64
	joinTolls ledger.Tolls // from the end of the primary thread's body to the join
	queued    bool         // it is in Engine.settle
}

// teamSize returns the number of threads in the thread's current team, 0 if not known.
func (t *thread) teamSize() int32 {
	if i := t.level(); i >= 0 && t.stack[i].team != nil {
		return t.stack[i].team.size
	}
	return 0
}

// member is one thread's part in a team.
type member struct {
	num   int32
	row   int
	begin uint64
	end   uint64       // 0: not yet
	body  profile.Span // of parallel sections, or of a league: what the thread executed
	ledger.Share
}

func (m *team) member(num int32) *member {
	// Threads mostly begin in order of their numbers.
	if i := int(num); i < len(m.members) && m.members[i].num == num {
		return &m.members[i]
	}
	for i := range m.members {
		if m.members[i].num == num {
			return &m.members[i]
		}
	}
	return nil
}

// share returns the account of a thread's part in a team, nil if the part is not known.
func (m *team) share(num int32) *ledger.Share {
	if mem := m.member(num); mem != nil {
		return &mem.Share
	}
	return nil
}

// lose ends a member's body at a time, because its end was lost.
func (mem *member) lose(at uint64) {
	mem.end = at
	mem.Lose()
}

func (pa *parallel) fork(t *thread, ev *event.Event) {
	c := ev.Construct
	if ev.Flags&event.IfSerial != 0 && ev.Num != 0 {
		return // the Fork of the call of __kmpc_fork_call follows
	}
	if ev.Runtime == event.Gomp && c == event.Parallel {
		if s := pa.tree.Answers.Team(ev.Site); s != event.NoConstruct {
			c = s
		}
	}
	if t.lossy {
		pa.leaveLost(t, ev)
	}
	pa.leaveUnknown(t, ev)
	k := place.Key{Kind: place.Kind{Construct: c, Runtime: ev.Runtime}, Fn: ev.Fn, Loc: ev.Loc}
	if k.Fn == 0 {
		k.Site = ev.Site
	}
	f := pa.push(t, k, ev)
	m := pa.newTeam()
	m.node, m.primary, m.size, m.forked = f.node, t, ev.Size, ev.Time
	m.root = pa.rows.list[t.row].Root
	m.forkToll = t.due
	f.team, f.num, f.phase, f.row = m, t.num, starting, pa.row(m.root, 0)
	t.setClock()
	if ev.Key != 0 {
		pa.bind(m, teamKey{ev.Instance, ev.Key})
	}
	if c == event.Teams && ev.Runtime == event.Kmpc {
		pa.leagues = append(pa.leagues, league{m, ev.Fn, ev.Instance})
	}
	if ev.Flags&event.AtOnce != 0 {
		m.size = 1
		pa.beginAs(t, f, m, 0, ev.Time)
	}
}

// leaveUnknown drops the frame for a region under way at attach when its thread turns out to be in
// no region.
func (pa *parallel) leaveUnknown(t *thread, ev *event.Event) {
	if len(t.stack) == 0 || ev.Num > 0 || !t.userOnly() {
		return
	}
	if f := &t.stack[0]; f.team == nil && f.node.Key.Construct == event.Unknown {
		pa.outsideAll(t)
	}
}

// leaveLost drops regions whose end was among a thread's lost events. A thread that starts a team
// shows that it is not inside them: it is outside any team, or its stack is no deeper than at the
// start of the team that it seems to be in.
func (pa *parallel) leaveLost(t *thread, ev *event.Event) {
	for i := t.level(); i >= 0; i = t.level() {
		if f := &t.stack[i]; f.team != nil && (f.num < 0 || ev.SP < f.sp) {
			return
		}
		if f := pa.unwindTo(t, i, ev.Time); f.team == nil {
			return
		}
		pa.abandon(t)
	}
	for len(t.stack) > 0 {
		pa.abandon(t)
	}
	t.lossy = false
}

func (tm *teams) newTeam() *team {
	if n := len(tm.freeTeams); n > 0 {
		m := tm.freeTeams[n-1]
		tm.freeTeams = tm.freeTeams[:n-1]
		*m = team{members: m.members[:0], late: m.late[:0]}
		return m
	}
	return &team{}
}

func (tm *teams) bind(m *team, k teamKey) {
	m.key, m.bound = k, true
	m.list = tm.teamsOf(k)
	if m.list == nil {
		m.list = &teamList{key: k}
		tm.teamsByKey[k] = m.list
	}
	m.list.open = append(m.list.open, m)
	tm.woken = append(tm.woken, k)
}

// begin starts a team's body on a thread. It answers false if the team's fork has not been read
// yet.
func (pa *parallel) begin(t *thread, ev *event.Event) bool {
	// The primary thread begins the team that it has just forked.
	if f := t.top(); f != nil && f.team != nil && f.phase == starting && ev.Num == 0 {
		m := f.team
		// In a league, Size and Key are those of the inner team.
		inLeague := m.node.Key.Construct == event.Teams
		if m.size == 0 && !inLeague {
			m.size = ev.Size
		}
		pa.tax(t, ev)
		pa.beginAs(t, f, m, ev.Num, ev.Time)
		// Otherwise the name that a worker told was right.
		if k := (teamKey{ev.Instance, ev.Key}); ev.Key != 0 && !inLeague && (!m.bound || m.key != k) {
			pa.unbind(m)
			pa.bind(m, k)
		}
		return true
	}
	if f := t.top(); f != nil && f.flags&event.IfSerial != 0 && f.phase == inBody && ev.Num == 0 {
		pa.tax(t, ev)
		return true // the region began at its fork
	}
	m := pa.openTeam(teamKey{ev.Instance, ev.Key}, ev)
	if m != nil {
		pa.enlist(t, m, ev)
	}
	return m != nil
}

// enlist makes a worker a member of a team: the worker takes over the team's stack.
func (pa *parallel) enlist(t *thread, m *team, ev *event.Event) {
	pa.leaveAll(t)
	t.lossy = false
	f := t.open(m.node, ev)
	f.team, f.num, f.flags = m, -1, 0
	t.due = 0 // that was due in the final barrier of its last region
	num := ev.Num
	if m.node.Key.Construct == event.Teams {
		num = m.numberInLeague(t)
	}
	t.row = pa.row(m.root, int(num))
	pa.leaveOutIdle(t, m, ev.Time)
	pa.tax(t, ev)
	pa.beginAs(t, t.top(), m, num, ev.Time)
}

// leaveAll drops regions on the thread's stack whose end was not seen.
func (st *stacks) leaveAll(t *thread) {
	for len(t.stack) > 0 {
		if t.top().node.Key.Construct == event.Unknown {
			t.stack = t.stack[:0]
			return
		}
		st.abandon(t)
	}
}

func (tm *teams) beginAs(t *thread, f *frame, m *team, num int32, at uint64) {
	t.num, t.row, t.known = num, tm.row(m.root, int(num)), true
	tm.bear(t)
	f.row, f.phase, f.Mark = t.row, inBody, at
	m.members = append(m.members, member{num: num, row: t.row, begin: at})
	m.entered(t.row)
}

func (pa *parallel) end(t *thread, ev *event.Event) {
	pa.beginLost(t, ev)
	i := t.level()
	if i < 0 {
		if !afterLeague(t, ev) {
			pa.unmatched++
		}
		return
	}
	if f := &t.stack[i]; f.team == nil {
		if ev.Num > 1 {
			return // the end of an inner region that was under way as well
		}
		// The region was under way when measurement began: the thread is known to have been
		// in it since then.
		f = pa.unwindTo(t, i, ev.Time)
		f.Parts[profile.Body].T = ledger.Span(f.Start, ev.Time)
		f.Uncounted = true
		pa.ledger.Charge(&f.Account, f.node.Stat(f.row), f.Parts[profile.Body].T)
		t.stack = t.stack[:0]
		t.known = t.tid == pa.pid
		return
	}
	f := &t.stack[i]
	if ev.Flags&event.Inside != 0 && f.flags&(event.NoReturn|event.AtOnce) == 0 || f.phase == inBarrier {
		return // reported twice: the return of the call itself follows
	}
	f = pa.unwindTo(t, i, ev.Time)
	pa.endMember(t, f, ev.Time)
}

// idle tells whether the thread is a worker that has reached the final barrier of its region. It
// may still execute tasks there.
func (t *thread) idle() bool {
	return len(t.stack) == 1 && t.stack[0].team != nil && t.stack[0].num < 0 && t.stack[0].phase == inBarrier
}

func (pa *parallel) endMember(t *thread, f *frame, at uint64) {
	mem := f.team.member(t.num)
	if mem == nil || mem.end != 0 {
		return
	}
	if f.section != 0 { // a section that no further call ended
		f.Parts[profile.Body].T += ledger.Span(f.section, at)
		f.section = 0
	}
	mem.end, mem.body, mem.Share = at, f.Parts[profile.Body], pa.ledger.EndBody(&f.Account, f.num < 0)
	f.phase, f.Mark = inBarrier, at
	f.node.Present(mem.row).Paid += f.Taken()
	if pa.budgeted {
		f.node.NoteSpread(mem.row)
	}
	f.team.ended++
	pa.trySettle(f.team)
}

func (pa *parallel) join(t *thread, ev *event.Event) {
	i := t.forked()
	if i < 0 && afterLeague(t, ev) {
		return
	}
	if i < 0 {
		pa.partial++ // its fork was before measurement began
		if t.level() < 0 {
			t.stack = t.stack[:0]
		}
		return
	}
	if ev.Flags&event.Inside != 0 && t.stack[i].flags&(event.NoReturn|event.AtOnce) == 0 {
		return // reported twice
	}
	f := pa.unwindTo(t, i, ev.Time)
	m := f.team
	if f.phase != inBarrier { // the end of the body was not reported
		pa.endMember(t, f, ev.Time)
	}
	m.joinTolls = pa.ledger.Join(&f.Account, m.share(t.num))
	m.joined = ev.Time
	m.left()
	pa.handUp(t, i, ev.Time)
	t.num = f.num
	t.stack = t.stack[:i]
	t.setClock()
	if i > 0 {
		t.row = t.stack[i-1].row
	} else {
		t.row = pa.row(m.root, 0)
	}
	if !pa.trySettle(m) {
		m.queued = true
		pa.joined = append(pa.joined, m)
		if m.bound {
			pa.woken = append(pa.woken, m.key)
		}
	}
}

// forked returns the index of the innermost region that this thread started, -1 if there is none.
func (t *thread) forked() int {
	for i := len(t.stack) - 1; i >= 0; i-- {
		if t.stack[i].team != nil && t.stack[i].num >= 0 {
			return i
		}
	}
	return -1
}

// trySettle charges a team's threads if all have reported. It tells whether the team is charged.
func (pa *parallel) trySettle(m *team) bool {
	if m.charged {
		return true
	}
	if m.joined == 0 || m.ended < len(m.members) {
		return false
	}
	if int(m.size) > len(m.members) || m.size == 0 && pa.now < m.joined+stragglerWait {
		return false
	}
	if pa.tasksSeen && !pa.allRead(m.joined) { // tasks may have been executed in its final barrier
		return false
	}
	pa.charge(m)
	return true
}

// charge settles a team: each thread's execT is the sum of startup, body, barrier and shutdown.
func (tm *teams) charge(m *team) {
	last := max(m.forked, m.lastTask)
	for i := range m.members {
		last = max(last, m.members[i].end)
	}
	last = min(last, m.joined)
	m.earlier = m.early(last)
	for i := range m.members {
		mem := &m.members[i]
		tm.settleMember(m, mem, min(mem.end, last), last, m.joined)
	}
	m.charged, m.last = true, last
	tm.settleSamples(m)
	tm.closeLeague(m)
	tm.unbind(m)
	if !m.queued {
		tm.freeTeams = append(tm.freeTeams, m)
	}
}

func (tm *teams) unbind(m *team) {
	if m.list == nil {
		return
	}
	if i := slices.Index(m.list.open, m); i >= 0 {
		m.list.open = slices.Delete(m.list.open, i, i+1)
	}
	m.list = nil
}

// abandonTeam counts the threads of a team whose join was not seen. Other threads may still point
// to the team, so its memory is not used again.
func (tm *teams) abandonTeam(m *team) {
	for i := range m.members {
		s := m.node.Stat(m.members[i].row)
		s.Exec.C++
		tm.ledger.CountUnknown(s)
	}
	m.charged = true
	tm.settleSamples(m)
	tm.unbind(m)
}

// settleMember charges one thread's part in a team. The thread's body ended at end, the body of the
// team's last thread at last, and the primary thread was back at joined. Events of the member after
// joined belong to another team whose begin was lost, and are left out.
func (tm *teams) settleMember(m *team, mem *member, end, last, joined uint64) {
	begin := min(mem.begin, end)
	s := m.node.Stat(mem.row)
	tm.ledger.Count(&mem.Share, s)
	s.Exec.T += ledger.Span(m.forked, joined)
	s.Exec.C++
	s.Enter.T += ledger.Span(m.forked, begin)
	s.Enter.C++
	s.Barrier.T += ledger.Span(end, last)
	s.Barrier.C++
	s.Exit.T += ledger.Span(last, joined)
	s.Exit.C++
	s.AddCost(m.costOf(mem, last))
	s.AddNoCore(m.waitOf(mem, begin, last, joined))
	task := min(mem.Task, ledger.Span(end, joined))
	s.Child += min(mem.Child, ledger.Span(begin, end)) + task
	s.Task += task
	s.Tasks += mem.Tasks
	switch c := m.node.Key.Construct; {
	case c == event.ParallelSections:
		s.Body.Add(mem.body)
	case c == event.Teams && m.node.Key.Runtime == event.Gomp:
		s.Body.T += ledger.Span(begin, end)
		s.Body.C += mem.body.C
	default:
		s.Body.T += ledger.Span(begin, end)
		s.Body.C++
	}
}

// giveUp settles a team although events of some of its threads were lost.
func (tm *teams) giveUp(m *team) {
	for i := range m.members {
		if m.members[i].end == 0 {
			m.members[i].lose(m.joined)
			m.node.Note("the end of some threads' bodies was lost: their bodyT reaches to the join")
		}
	}
	if int(m.size) > len(m.members) {
		m.node.Note("the start of some threads in this region was lost: their part is missing")
	}
	tm.charge(m)
}

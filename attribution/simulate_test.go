package attribution

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"ompp-attach/attribution/stack"
	"ompp-attach/event"
	"ompp-attach/profile"
)

// simulation executes a random program on one clock. It writes down what the probes would tell. By
// counting every tick for what is then on each thread's stack, it writes what the figures must be.
type simulation struct {
	rnd     *rand.Rand
	runtime event.Runtime
	tick    uint64 // the clock's longest step
	now     uint64
	threads []*simThread
	events  []event.Event
	want    map[figureKey]*figures
	tasks   []uint64 // free addresses
	teams   []uint64
	untied  map[uint64]bool // functions of tasks that went on in parts
	regions int
	forked  map[int]uint64 // when the n-th outermost region started
	rootOf  map[int]int
	created map[creation]bool
	folded  map[*figures]*figures // what fold has added to which
	ending  bool
	stops   bool
	states  stateTruth // what each thread did
}

type figureKey struct {
	path      string
	root, num int
}

// figures are what is compared: ThreadStats with the thread's exclusive time
// in place of its children's.
type figures struct {
	Exec, Enter, Body, Barrier, Exit profile.Sum
	Own, Task                        int64
	Tasks                            uint64
}

type simThread struct {
	tid     uint32
	root    int // of initial threads; -1: a worker
	stack   []*simRegion
	pending *simTeam // it is to begin there
	num     int32
}

type simRegion struct {
	c        event.Construct
	path     string
	phase    stack.Phase
	figures  *figures
	sum      *profile.Sum // where the time of the phase goes
	team     *simTeam
	num      int32 // in the team
	begin    uint64
	end      uint64
	task     *simTask
	internal bool
	atOnce   bool
	untold   bool     // of a loop: the thread's next event tells the end
	waits    bool     // tasks may be executed here
	steps    []func() // what it does next, whatever else it could do
}

type simTeam struct {
	key      uint64
	root     int
	size     int32
	level    int32
	forked   uint64
	lastTask uint64
	workers  []*simThread
	bodies   []*simRegion // of members that have begun
	pool     []*simTask
	busy     int
}

type simTask struct {
	key      uint64
	path     string
	created  uint64
	fn       uint64
	parts    int // begun
	open     int // queued or executing: the address is in use
	untied   bool
	internal bool
	team     *simTeam
}

// simulate executes a program to its end.
func simulate(rnd *rand.Rand, rt event.Runtime, steps int) *simulation {
	s := newSimulation(rnd, rt)
	s.run(steps)
	s.ending = true
	for slices.ContainsFunc(s.threads, func(t *simThread) bool { return len(t.stack) > 0 || t.pending != nil }) {
		s.pass()
		s.act(s.threads[rnd.IntN(len(s.threads))])
	}
	s.fold()
	s.nameUntied()
	return s
}

// stopped executes a program that is stopped in the middle.
func stopped(rnd *rand.Rand, rt event.Runtime, steps int) *simulation {
	s := newSimulation(rnd, rt)
	s.stops = true
	s.run(steps)
	s.pass()
	for _, t := range s.threads {
		for _, f := range t.stack {
			if f.team != nil {
				f.figures.Exec.T += int64(s.now - f.team.forked)
				f.figures.Exec.C++
			}
		}
	}
	s.fold()
	s.nameUntied()
	return s
}

func newSimulation(rnd *rand.Rand, rt event.Runtime) *simulation {
	s := &simulation{rnd: rnd, runtime: rt, tick: []uint64{20, 1e5, 2e6, 3e7}[rnd.IntN(4)], now: 1000,
		want: map[figureKey]*figures{}, untied: map[uint64]bool{}, created: map[creation]bool{}, forked: map[int]uint64{}, rootOf: map[int]int{}}
	for key := uint64(1); key <= 12; key++ {
		s.tasks, s.teams = append(s.tasks, 0x100*key), append(s.teams, 0x10000*key)
	}
	for tid := range 7 {
		s.threads = append(s.threads, &simThread{tid: uint32(tid + 1), root: max(-1, []int{0, 1, -1, -1, -1, -1, -1}[tid])})
	}
	return s
}

func (s *simulation) run(steps int) {
	for range steps {
		s.pass()
		s.act(s.threads[s.rnd.IntN(len(s.threads))])
	}
}

func (s *simulation) nameUntied() {
	for at := range s.want { // a function is known to be untied from its first further part on
		p := at.path
		for fn := range s.untied {
			p = strings.ReplaceAll(p, fmt.Sprintf("/TASK@%d", fn), fmt.Sprintf("/UTASK@%d", fn))
			p = strings.ReplaceAll(p, fmt.Sprintf("/TASKEXEC@%d", fn), fmt.Sprintf("/UTASKEXEC@%d", fn))
		}
		if p != at.path {
			s.want[figureKey{p, at.root, at.num}] = s.want[at]
			delete(s.want, at)
		}
	}
}

// pass lets time pass.
func (s *simulation) pass() {
	d := 1 + s.rnd.Uint64N(s.tick)
	for _, t := range s.threads {
		s.states.pass(t, s.now, s.now+d)
	}
	s.now += d
	for _, t := range s.threads {
		t.count(int64(d))
	}
}

// visible is the stack without the runtime's own tasks, which count for what
// they interrupt.
func (t *simThread) visible() []*simRegion {
	return slices.DeleteFunc(slices.Clone(t.stack), func(f *simRegion) bool { return f.internal })
}

func (f *simRegion) isTask() bool { return f.task != nil }

func (t *simThread) count(d int64) {
	st := t.visible()
	still := make([]bool, len(st)) // suspended
	below := func(j int) int {
		for c := j - 1; c >= 0; c-- {
			if st[c].isTask() || st[c].team != nil {
				return c
			}
		}
		return -1
	}
	for j, f := range st {
		if !f.isTask() || j == 0 {
			continue
		}
		if c := below(j); c >= 0 && st[c].isTask() {
			for i := c; i < j; i++ {
				still[i] = true
			}
		} else if st[j-1].c.IsTasking() {
			still[j-1] = true
		}
	}
	for j, f := range st {
		if f.team == nil && !still[j] {
			f.figures.Exec.T += d
			if f.sum != nil {
				f.sum.T += d
			}
		}
		if j == len(st)-1 {
			f.figures.Own += d
		}
		if f.isTask() && j > 0 && st[j-1].waits {
			if c := below(j); c < 0 || !st[c].isTask() || !still[j] {
				st[j-1].figures.Task += d
			}
		}
	}
}

func (t *simThread) top() *simRegion {
	if len(t.stack) == 0 {
		return nil
	}
	return t.stack[len(t.stack)-1]
}

func (t *simThread) team() *simTeam {
	for _, f := range slices.Backward(t.stack) {
		if f.team != nil {
			return f.team
		}
	}
	return nil
}

func (s *simulation) figuresOf(t *simThread, path string) *figures {
	at := figureKey{path, t.root, 0}
	for _, f := range slices.Backward(t.stack) {
		if f.team != nil {
			at.root, at.num = f.team.root, int(f.num)
			break
		}
	}
	if s.want[at] == nil {
		s.want[at] = &figures{}
	}
	return s.want[at]
}

func (s *simulation) emit(t *simThread, c event.Construct, edge event.Edge, more event.Event) {
	more.SP = uint64(0x7000 - 0x100*len(t.stack))
	more.Time, more.PID, more.TID, more.Runtime, more.Construct, more.Edge = s.now, 1, t.tid, s.runtime, c, edge
	s.events = append(s.events, more)
}

// push opens a region; id is the line that the engine's resolver will tell.
func (s *simulation) push(t *simThread, c event.Construct, id uint64) *simRegion {
	path := ""
	if f := t.top(); f != nil {
		path = f.path
	}
	f := &simRegion{c: c, path: fmt.Sprintf("%s/%s@%d", path, c, id), phase: stack.InBody}
	f.figures = s.figuresOf(t, f.path)
	f.figures.Exec.C++
	t.stack = append(t.stack, f)
	return f
}

func (t *simThread) pop() { t.stack = t.stack[:len(t.stack)-1] }

// act does something with a thread.
func (s *simulation) act(t *simThread) {
	f := t.top()
	switch {
	case t.pending != nil:
		s.begin(t, t.pending)
	case f == nil && t.root < 0, f == nil && s.ending:
	case f == nil:
		if s.rnd.IntN(3) > 0 {
			s.fork(t)
		} else {
			s.userCode(t)
		}
	case len(f.steps) > 0:
		step := f.steps[0]
		f.steps = f.steps[1:]
		step()
	case f.team != nil && f.phase == stack.Starting:
		s.begin(t, f.team)
	case f.waits:
		s.wait(t, f)
	default:
		s.userCode(t)
	}
}

func (s *simulation) fork(t *simThread) {
	m := &simTeam{size: 1, root: t.root, forked: s.now}
	if up := t.team(); up != nil {
		m.root, m.level = up.root, up.level+1
	}
	m.key, s.teams = s.teams[len(s.teams)-1], s.teams[:len(s.teams)-1]
	for _, w := range s.threads {
		if w.root < 0 && len(w.stack) == 0 && w.pending == nil && m.size < 4 && s.rnd.IntN(2) == 0 {
			w.pending, w.num = m, m.size
			m.size++
		}
	}
	id := uint64(700 + s.rnd.IntN(2))
	if m.level == 0 {
		s.regions++
		s.forked[s.regions], s.rootOf[s.regions], id = s.now, t.root, uint64(s.regions)
	}
	more := event.Event{Fn: id}
	if s.runtime == event.Gomp {
		more.Key, more.Size, more.Num = m.key, m.size, m.level
	}
	s.emit(t, event.Parallel, event.Fork, more)
	// Its figures are those of the team's number 0, which the thread is not yet.
	path := fmt.Sprintf("/PARALLEL@%d", id)
	if f := t.top(); f != nil {
		path = f.path + path
	}
	f := &simRegion{c: event.Parallel, path: path, phase: stack.Starting, team: m}
	t.stack = append(t.stack, f)
	f.figures = s.figuresOf(t, path)
	m.workers, t.num = append(m.workers, t), 0
}

func (s *simulation) begin(t *simThread, m *simTeam) {
	more := event.Event{Key: m.key, Num: t.num}
	if s.runtime == event.Kmpc {
		more.Size = m.size
	}
	f := t.top()
	if t.pending != nil {
		f = &simRegion{c: event.Parallel, path: m.workers[0].top0(m).path, team: m, num: t.num}
		t.stack = append(t.stack, f)
		f.figures = s.figuresOf(t, f.path)
		f.figures.Own += int64(s.now - m.forked)
		m.workers, t.pending = append(m.workers, t), nil
	} else {
		more.Num = 0
	}
	f.phase, f.begin = stack.InBody, s.now
	m.bodies = append(m.bodies, f)
	s.emit(t, event.Parallel, event.Begin, more)
}

// top0 is the thread's open region of a team.
func (t *simThread) top0(m *simTeam) *simRegion {
	return t.stack[slices.IndexFunc(t.stack, func(f *simRegion) bool { return f.team == m })]
}

func (s *simulation) join(t *simThread, m *simTeam) {
	last := m.lastTask
	for _, f := range m.bodies {
		last = max(last, f.end)
	}
	s.states.joined(m, last)
	for _, f := range m.bodies {
		add := func(to *profile.Sum, from, until uint64) { to.T += int64(until - from); to.C++ }
		add(&f.figures.Exec, m.forked, s.now)
		add(&f.figures.Enter, m.forked, f.begin)
		add(&f.figures.Body, f.begin, f.end)
		add(&f.figures.Barrier, f.end, last)
		add(&f.figures.Exit, last, s.now)
	}
	s.emit(t, event.Parallel, event.Join, event.Event{Num: m.level + 1})
	for _, w := range m.workers {
		w.pop()
	}
	s.teams = append(s.teams, m.key)
}

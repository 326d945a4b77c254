package attribution

import (
	"fmt"
	"slices"

	"ompp-attach/attribution/stack"
	"ompp-attach/event"
)

// What a simulated thread does in the user's code, and the creation and
// execution of tasks.

// deep bounds stacks.
const deep = 14

// userCode: the thread enters a construct or leaves the innermost.
func (s *simulation) userCode(t *simThread) {
	f := t.top()
	if f != nil && (s.ending || len(t.stack) > deep || s.rnd.IntN(3) == 0) {
		s.leave(t, f)
		return
	}
	site := uint64(400 + 10*s.rnd.IntN(2))
	implicit := f != nil && f.team != nil
	switch s.rnd.IntN(10) {
	case 0:
		s.enterCritical(t, site)
	case 1, 2:
		s.enterWait(t, event.TaskWait, event.Event{Site: site + 1}, site+1)
	case 3:
		g := s.push(t, event.TaskGroup, site+2)
		g.sum = &g.figures.Body
		g.figures.Body.C++
		s.emit(t, event.TaskGroup, event.Enter, event.Event{Site: site + 2})
	case 4:
		if s.runtime == event.Gomp {
			s.emit(t, event.TaskYield, event.Wait, event.Event{Site: site + 3})
			s.push(t, event.TaskYield, site+3)
			t.pop()
			return
		}
		s.enterWait(t, event.TaskYield, event.Event{Site: site + 3}, site+3)
	case 5:
		if implicit && s.runtime == event.Gomp {
			s.enterWait(t, event.Barrier, event.Event{Site: site + 4}, site+4)
		} else if implicit {
			s.enterWait(t, event.Barrier, event.Event{Loc: 22}, 22)
		}
	case 6:
		if implicit {
			s.loop(t, site+5)
		}
	case 7:
		if len(s.teams) > 4 {
			s.fork(t)
		}
	default:
		if len(s.tasks) > 4 {
			s.create(t)
		}
	}
}

// wait: a thread executes tasks, or stops waiting.
func (s *simulation) wait(t *simThread, f *simRegion) {
	m := t.team()
	if m != nil && len(m.pool) > 0 && s.rnd.IntN(3) > 0 {
		i := s.rnd.IntN(len(m.pool))
		x := m.pool[i]
		m.pool = slices.Delete(m.pool, i, i+1)
		if x.parts == 0 && s.rnd.IntN(20) == 0 { // cancelled: created, and freed
			s.forget(x)
			return
		}
		s.execute(t, x)
		return
	}
	switch {
	case f.team == nil:
		edge := event.Waited
		if f.c == event.TaskLoop {
			edge = event.Released
			f.figures.Body.C++
		} else if f.c != event.Barrier {
			f.figures.Barrier.C++
		}
		s.emit(t, f.c, edge, event.Event{})
		t.pop()
	case f.num == 0 && m == f.team && m.busy == 0 && len(m.pool) == 0 && len(m.bodies) == int(m.size) &&
		!slices.ContainsFunc(m.bodies, func(f *simRegion) bool { return f.end == 0 }):
		s.join(t, m)
	}
}

func (s *simulation) enterWait(t *simThread, c event.Construct, more event.Event, id uint64) {
	f := s.push(t, c, id)
	f.phase, f.waits = stack.InBarrier, true
	if c != event.Barrier {
		f.sum = &f.figures.Barrier
	}
	s.emit(t, c, event.Wait, more)
}

func (s *simulation) enterCritical(t *simThread, site uint64) {
	f := s.push(t, event.Critical, site)
	f.figures.Enter.C++
	f.figures.Body.C++
	f.sum = &f.figures.Body
	more := event.Event{Site: site}
	if f.atOnce = s.rnd.IntN(2) == 0; f.atOnce {
		more.Flags = event.FreeAtOnce | event.NoReturn
	} else {
		f.sum = &f.figures.Enter
		f.steps = append(f.steps, func() {
			f.sum = &f.figures.Body
			s.emit(t, event.Critical, event.Acquired, event.Event{})
		})
	}
	s.emit(t, event.Critical, event.Enter, more)
}

func (s *simulation) loop(t *simThread, site uint64) {
	more := event.Event{Site: site}
	if s.runtime == event.Kmpc {
		more.Loc, site = 202, 202
		if s.now%2 == 0 {
			more.Flags = event.EndsNext
		}
	}
	f := s.push(t, event.Loop, site)
	f.sum = &f.figures.Body
	f.figures.Body.C++
	f.untold = more.Flags&event.EndsNext != 0
	s.emit(t, event.Loop, event.Open, more)
}

// leave: the thread leaves the innermost construct.
func (s *simulation) leave(t *simThread, f *simRegion) {
	switch {
	case f.team != nil:
		s.emit(t, event.Parallel, event.End, event.Event{})
		f.end, f.phase, f.waits = s.now, stack.InBarrier, true
	case f.isTask():
		s.leaveTask(t, f)
	case f.c == event.Critical:
		more := event.Event{Flags: event.FreeAtOnce | event.NoReturn}
		if !f.atOnce {
			more.Flags, f.sum = 0, &f.figures.Exit
			f.steps = append(f.steps, func() {
				s.emit(t, event.Critical, event.Released, event.Event{})
				t.pop()
			})
		}
		s.emit(t, event.Critical, event.Release, more)
		if f.atOnce {
			t.pop()
		}
	case f.c == event.TaskGroup:
		f.phase, f.waits, f.sum = stack.InBarrier, true, &f.figures.Barrier
		s.emit(t, event.TaskGroup, event.Wait, event.Event{})
	case s.runtime == event.Kmpc && f.untold && s.now%3 == 0: // without a barrier
		t.pop()
		if below := t.top(); below.team != nil && (s.ending || s.now%5 == 0) {
			s.leave(t, below)
			return
		}
		s.loop(t, 0)
	case s.runtime == event.Kmpc: // a loop
		if !f.untold {
			s.emit(t, event.Loop, event.Close, event.Event{})
		}
		step := func() { s.emit(t, event.Barrier, event.Wait, event.Event{Loc: 42}); s.atBarrier(f) }
		if s.stops { // a loop ends here, for all that is known until its barrier
			step()
			return
		}
		f.steps = append(f.steps, step)
	default:
		s.emit(t, event.Loop, event.Wait, event.Event{})
		s.atBarrier(f)
	}
}

func (s *simulation) atBarrier(f *simRegion) {
	f.phase, f.waits, f.sum = stack.InBarrier, true, &f.figures.Barrier
}

// create: the thread creates a task or, by a taskloop, several.
func (s *simulation) create(t *simThread) {
	fn := uint64(321 + s.rnd.IntN(4))
	execute, flags := "TASKEXEC", event.Flag(0)
	c := event.Task
	untied := fn == 324
	if untied && s.runtime == event.Gomp {
		c, execute, flags = event.UntiedTask, "UTASKEXEC", event.Untied
	}
	if fn == 323 {
		c = event.TaskLoop
	}
	f := s.push(t, c, fn)
	f.sum = &f.figures.Body
	more := event.Event{Fn: fn, Flags: flags, Site: 0}
	path := fmt.Sprintf("%s/%s@%d", f.path, execute, fn) // what folds is folded in the end
	add := func(internal bool) *simTask {
		s.noteCreation(path)
		x := &simTask{path: path, created: s.now, fn: fn, open: 1, untied: untied && s.runtime == event.Kmpc, internal: internal, team: t.team()}
		x.key, s.tasks = s.tasks[0], s.tasks[1:]
		return x
	}
	result := func(x *simTask) event.Event {
		ev := event.Event{Key: x.key}
		if x.internal {
			ev.Flags = event.Inside
		}
		return ev
	}
	done := func() {
		f.figures.Body.C++
		s.emit(t, event.Task, event.Released, event.Event{})
		t.pop()
	}
	atOnce := t.team() == nil || s.rnd.IntN(4) == 0
	if c == event.TaskLoop {
		s.emit(t, c, event.Enter, more)
		f.waits = true
		for range s.rnd.IntN(4) {
			f.steps = append(f.steps, func() { s.part(t, f, add, result, atOnce) })
		}
		return
	}
	switch gomp := s.runtime == event.Gomp; {
	case gomp && atOnce:
		s.emit(t, event.Task, event.Enter, more)
		f.steps = append(f.steps, func() {
			s.noteCreation(path)
			s.execute(t, &simTask{path: path, created: s.now, fn: fn, open: 1})
		}, done)
	case gomp:
		s.emit(t, event.Task, event.Enter, more)
		f.steps = append(f.steps, func() {
			x := add(false)
			x.team.pool = append(x.team.pool, x)
			s.emit(t, event.Task, event.Result, result(x))
		}, done)
	case s.rnd.IntN(4) == 0: // if(0)
		x := add(false)
		x.untied = false
		more.Key, more.Flags = x.key, event.AtOnce
		s.emit(t, event.Task, event.Enter, more)
		f.figures.Body.C++
		s.execute(t, x)
		t.top().atOnce = true
	default:
		x := add(false)
		more.Key = x.key
		s.emit(t, event.Task, event.Enter, more)
		if atOnce {
			f.steps = append(f.steps, func() { s.execute(t, x) })
		} else {
			x.team.pool = append(x.team.pool, x)
		}
		f.steps = append(f.steps, done)
	}
}

// part: a taskloop creates one of its tasks.
func (s *simulation) part(t *simThread, f *simRegion, add func(bool) *simTask, result func(*simTask) event.Event, atOnce bool) {
	switch {
	case len(s.tasks) == 0:
	case atOnce && s.runtime == event.Gomp:
		x := add(false)
		s.forget(x)
		x.key = 0
		s.execute(t, x)
	default:
		x := add(s.runtime == event.Kmpc && s.rnd.IntN(3) == 0)
		s.emit(t, event.Task, event.Result, result(x))
		if atOnce {
			t.top().steps = slices.Insert(t.top().steps, 0, func() { s.execute(t, x) })
		} else {
			x.team.pool = append(x.team.pool, x)
		}
	}
}

// execute: the thread begins a task, or goes on with it.
func (s *simulation) execute(t *simThread, x *simTask) {
	f := &simRegion{c: event.TaskExec, path: x.path, phase: stack.InBody, task: x, internal: x.internal}
	if !x.internal {
		f.figures = s.figuresOf(t, x.path)
		f.sum = &f.figures.Body
		f.figures.Body.C++
		f.figures.Enter.T += int64(s.now - x.created)
		if x.parts == 0 {
			f.figures.Exec.C++
			f.figures.Enter.C++
		}
	}
	x.parts++
	if x.team != nil {
		x.team.busy++
	}
	if t.top() == nil || t.top().c != event.Task || len(s.events) == 0 || s.events[len(s.events)-1].Flags&event.AtOnce == 0 || s.events[len(s.events)-1].Time != s.now {
		s.emit(t, event.TaskExec, event.Begin, event.Event{Key: x.key})
	}
	t.stack = append(t.stack, f)
	if x.internal { // it creates tasks of a part of the loop
		add := func(bool) *simTask {
			y := &simTask{path: x.path, created: s.now, fn: x.fn, open: 1, team: x.team, internal: s.rnd.IntN(3) == 0}
			y.key, s.tasks = s.tasks[0], s.tasks[1:]
			return y
		}
		for range s.rnd.IntN(3) {
			f.steps = append(f.steps, func() {
				s.part(t, f, add, func(y *simTask) event.Event {
					if y.internal {
						return event.Event{Key: y.key, Flags: event.Inside}
					}
					return event.Event{Key: y.key}
				}, x.team == nil || s.rnd.IntN(4) == 0)
			})
		}
		f.steps = append(f.steps, func() { s.leaveTask(t, f) })
	}
}

// leaveTask: the thread is back from a task, or from a part of it.
func (s *simulation) leaveTask(t *simThread, f *simRegion) {
	x := f.task
	if x.untied && !s.ending && s.rnd.IntN(2) == 0 && !x.internal {
		s.untied[x.fn] = true
		s.emit(t, event.Task, event.Enter, event.Event{Key: x.key, Fn: x.fn})
		x.created = s.now
		x.open++
		if x.team == nil || s.rnd.IntN(4) == 0 { // executed at once
			f.steps = append(f.steps, func() { s.execute(t, x) })
		} else {
			x.team.pool = append(x.team.pool, x)
		}
		f.steps = append(f.steps, func() { s.emit(t, event.Task, event.Released, event.Event{}) }, func() { s.endPart(t, f) })
		return
	}
	s.endPart(t, f)
}

func (s *simulation) endPart(t *simThread, f *simRegion) {
	x := f.task
	more := event.Event{Key: x.key}
	if f.atOnce {
		more.Flags = event.AtOnce
	}
	s.emit(t, event.TaskExec, event.End, more)
	t.pop()
	if x.team != nil {
		x.team.busy--
	}
	st := t.visible()
	if n := len(st); n > 0 && st[n-1].waits {
		if !f.internal {
			st[n-1].figures.Tasks++
		}
		if m := st[n-1].team; m != nil {
			m.lastTask = s.now
		}
	}
	if f.atOnce {
		t.pop()
	}
	s.forget(x)
}

// forget: a task, or a part of it, is over. The last frees its address, which
// is used again at once.
func (s *simulation) forget(x *simTask) {
	if x.open--; x.open == 0 && x.key != 0 {
		s.tasks = slices.Insert(s.tasks, 0, x.key)
		x.key = 0
	}
}

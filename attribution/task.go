package attribution

import "ompp-attach/event"

// Tasks. A task's regions lie below the place that created it (its call path of
// creation); its time is charged to the thread that executes it. While a
// thread executes one, whatever it had open stands still: a task that waits in
// a taskwait is suspended, and what it executes there is not its time. So each
// task has a clock of its own, which runs only while it does.

type taskKey struct {
	instance uint16 // of the runtime library
	key      uint64 // the runtime's own address of the task
}

// task is one that was created and has not begun, or, untied, not gone on yet.
type task struct {
	node     *node // of its execution
	created  uint64
	resumed  bool  // it has begun before
	internal bool  // the runtime's own: libomp splits a taskloop by such
	older    *task // at the same address, not begun as far as we have read
}

const (
	noteEarlyTask  = "tasks that were created before measurement began, or whose creation was lost"
	noteUndeferred = "some executions were undeferred: the creating thread executed them at once, inside the creating call"
)

// construct returns the task constructs for tied or untied tasks.
func taskConstructs(untied bool) (create, execute event.Construct) {
	if untied {
		return event.UntiedTask, event.UntiedTaskExec
	}
	return event.Task, event.TaskExec
}

// createTask: a thread calls the runtime to create a task, or, for a taskloop,
// several.
func (e *Engine) createTask(t *thread, ev *event.Event) {
	c := ev.Construct
	untied := ev.Flags&event.Untied != 0
	if t.lossy { // or a task at an ended one's address would be taken for that one's rest
		e.leaveContexts(t, c, ev)
	}
	if c == event.Task {
		c, _ = taskConstructs(untied)
		if x := t.executing(); x != nil && ev.Key != 0 && x.id == ev.Key {
			// An untied task queues its own rest: no new task.
			e.queueTask(taskKey{ev.Instance, ev.Key}, task{node: x.node, created: ev.Time + t.suspended, resumed: true})
			e.untied[x.node.key.Fn] = true // libomp's calls do not tell
			return
		}
	}
	k := t.key(c, ev)
	if ev.Fn != 0 { // one construct, however often the compiler has copied its call
		k.Fn, k.Site = ev.Fn, 0
	}
	f := e.push(t, k, ev)
	f.phase, f.bodies, f.id = inBody, 1, ev.Key
	switch {
	case ev.Flags&event.AtOnce != 0:
		begin := *ev
		begin.Time += t.suspended // the new task's clock
		e.beginTask(t, &begin)
	case ev.Key != 0 && ev.Construct == event.Task:
		e.addTask(t, ev)
	}
}

// addTask: a task that the innermost open call creates exists at an address.
func (e *Engine) addTask(t *thread, ev *event.Event) {
	if f := t.top(); t.lossy && (f == nil || !creates(f.node.key.Construct) && !isExecution(f.node.key.Construct)) {
		return // the call's beginning was lost: so the task's creation is
	}
	e.queueTask(taskKey{ev.Instance, ev.Key}, task{node: e.executionOf(t), created: ev.Time + t.suspended,
		internal: ev.Flags&event.Inside != 0})
}

// queueTask notes a task at its place among those at its address, the latest
// first: they come from several threads, in any order.
func (e *Engine) queueTask(id taskKey, v task) {
	var x *task
	if n := len(e.freeTasks); n > 0 {
		x = e.freeTasks[n-1]
		e.freeTasks = e.freeTasks[:n-1]
	} else {
		x = new(task)
	}
	*x = v
	newer := e.tasks[id]
	if newer != nil && newer.older != nil && e.allRead(newer.created) {
		newer.older = nil // they were cancelled, or their beginning was lost
	}
	if newer == nil || newer.created <= x.created {
		x.older = newer
		e.tasks[id] = x
		return
	}
	for newer.older != nil && newer.older.created > x.created {
		newer = newer.older
	}
	x.older, newer.older = newer.older, x
}

// executionOf returns the node for executions of what the thread is creating.
func (e *Engine) executionOf(t *thread) *node {
	n := e.root
	if f := t.top(); f != nil {
		n = f.node
	}
	if isExecution(n.key.Construct) { // libomp: a task of the runtime's own that creates a taskloop's
		return n
	}
	return e.execution(n)
}

// executing returns the frame of the task that the thread executes, nil if its
// implicit task.
func (t *thread) executing() *frame {
	if i := t.context(); i >= 0 && isExecution(t.stack[i].node.key.Construct) {
		return &t.stack[i]
	}
	return nil
}

// context returns the index of the innermost frame that is an implicit or
// explicit task; -1 outside any.
func (t *thread) context() int {
	for i := len(t.stack) - 1; i >= 0; i-- {
		if isContext(t.stack[i].node.key.Construct) {
			return i
		}
	}
	return -1
}

// isContext tells whether a construct's frame is an implicit or explicit task.
func isContext(c event.Construct) bool { return c.IsParallel() || isExecution(c) }

func isExecution(c event.Construct) bool { return c == event.TaskExec || c == event.UntiedTaskExec }

// setClock makes the clock that of the innermost task.
func (t *thread) setClock() {
	t.suspended = 0
	if x := t.executing(); x != nil {
		t.suspended = x.suspended
	}
}

// beginTask: a thread starts a task's function. It answers false where the
// creation may not have been read yet.
func (e *Engine) beginTask(t *thread, ev *event.Event) bool {
	var n *node
	var x *task
	f := t.top()
	switch {
	case f != nil && creates(f.node.key.Construct) && (ev.Key == 0 || ev.Flags&event.AtOnce != 0):
		n = e.executionOf(t)
		n.note(noteUndeferred)
	default:
		if !e.certain(t, ev) {
			return false
		}
		if x = e.takeTask(ev); x == nil {
			if !e.existed(ev) && e.now < ev.Time+stragglerWait {
				return false
			}
			n = e.child(e.child(e.root, Key{Kind: Kind{Construct: event.Unknown}}), Key{Kind: Kind{Construct: event.TaskExec, Runtime: ev.Runtime}, Fn: ev.Fn})
			n.note(noteEarlyTask)
			e.partial++
		} else {
			n = x.node
			if f != nil && f.id == ev.Key && f.node.key.Construct != event.TaskLoop && creates(f.node.key.Construct) && !x.resumed {
				n.note(noteUndeferred) // libomp runs included tasks, and those of a full queue, in the call that creates them
			}
		}
	}
	if ev.Edge == event.Begin { // else the call's that creates it
		e.mend(t, event.TaskExec, ev)
		e.tax(t, ev)
	}
	if len(t.stack) > 0 || !e.existing[t.tid] { // else in the final barrier of a region that was under way at attach
		e.initial(t)
	}
	t.stack = append(t.stack, frame{node: n, row: t.row, phase: inBody, start: ev.Time, mark: ev.Time, paid: ev.Time,
		id: ev.Key, sp: ev.SP, enters: 1, bodies: 1})
	if x != nil {
		f := t.top()
		f.enter, f.resumed, f.internal = span(x.created, ev.Time), x.resumed, x.internal
		e.freeTasks = append(e.freeTasks, x)
	}
	t.suspended = 0
	return true
}

func creates(c event.Construct) bool {
	return c == event.Task || c == event.UntiedTask || c == event.TaskLoop
}

// takeTask removes the latest task created at the address before the event.
// Older ones there are over: their execution was lost, or has not been applied.
func (e *Engine) takeTask(ev *event.Event) *task {
	id := taskKey{ev.Instance, ev.Key}
	var newer *task
	for x := e.tasks[id]; x != nil; newer, x = x, x.older {
		if x.created > ev.Time {
			continue
		}
		older := x.older
		if older != nil && e.allRead(x.created) {
			older = nil
		}
		x.older = nil
		switch {
		case newer != nil:
			newer.older = older
		case older != nil:
			e.tasks[id] = older
		default:
			delete(e.tasks, id)
		}
		return x
	}
	return nil
}

// certain tells whether everything that happened before a task's begin has been
// applied: the task's address may have been another's a moment ago, created
// and executed by any thread.
func (e *Engine) certain(t *thread, ev *event.Event) bool {
	if i := t.level(); i >= 0 && t.stack[i].team != nil && t.stack[i].team.size == 1 {
		return true // nobody else could have created it
	}
	if t.replaying { // which others have let go on
		return e.now >= ev.Time+clockSlack && e.others >= ev.Time
	}
	return e.allRead(ev.Time)
}

// existed tells whether a task may be older than the measurement, or the
// observation of tasks.
func (e *Engine) existed(ev *event.Event) bool {
	w := &e.watch
	return e.began != 0 && ev.Time < e.began+stragglerWait || w.tasksBack != 0 && ev.Time < w.tasksBack+stragglerWait
}

// endTask: a thread is back from a task's function.
func (e *Engine) endTask(t *thread, ev *event.Event) {
	i := t.context()
	if t.lossy && ev.Key != 0 { // the ends of tasks that this one executed may be lost
		for i >= 0 && t.stack[i].id != ev.Key && !t.stack[i].node.key.Construct.IsParallel() {
			i--
		}
	}
	if i < 0 || !isExecution(t.stack[i].node.key.Construct) || ev.Key != 0 && t.stack[i].id != ev.Key {
		return // begun before we came, or a place that other code shares
	}
	real := ev.Time + t.suspended
	e.unwindTo(t, i, ev.Time)
	e.leaveTask(t, real)
	if f := t.top(); ev.Flags&event.AtOnce != 0 && f != nil && creates(f.node.key.Construct) {
		e.endCreation(t, real-t.suspended)
	}
}

// leaveTask charges the task that a thread executes, whose frame is the
// innermost, and goes on with what the thread had suspended for it.
func (e *Engine) leaveTask(t *thread, at uint64) {
	f := t.top()
	wall := span(f.start, at)
	active := wall - int64(f.suspended)
	f.body = active
	n := uint64(1)
	if f.internal { // counts for what it interrupted
		wall, active, n = int64(f.suspended), f.task, f.tasks
	} else {
		f.charge(f.node.stat(f.row), active)
	}
	if s := f.node.stat(f.row); f.resumed {
		s.Exec.C-- // a further part of an execution
		s.Enter.C--
	}
	tolls := t.leaveTaskTolls()
	counted, uncounted := e.leaveTaskCounts(t)
	t.stack = t.stack[:len(t.stack)-1]
	e.resume(t, wall, active, n, at)
	t.resumeTolls(&tolls)
	e.resumeCounts(t, &counted, uncounted)
}

// resume goes on with what a thread had suspended for n tasks. The innermost
// frame is the wait in which it executed them, or the call that created it.
func (e *Engine) resume(t *thread, wall, active int64, n, at uint64) {
	f := t.top()
	if x := t.executing(); x != nil {
		x.suspended += uint64(wall)
		t.suspended = x.suspended
		if f.waits() || f.internal {
			f.task += active
			f.tasks += n
		}
		return
	}
	t.suspended = 0
	switch {
	case f == nil:
	case f.team != nil && f.phase == inBarrier: // the body's figures have been taken
		m := f.team
		if mem := m.member(t.num); mem != nil && !m.charged && m.forked <= f.mark {
			m.lastTask = max(m.lastTask, at)
			mem.task += wall
			mem.tasks += n
		}
	default:
		switch { // the clock of a tasking construct stood still, in a task or not
		case !f.node.key.Construct.IsTasking():
			f.child += wall
		case f.phase == inBarrier: // its time is what it waited with nothing to do
			f.away += wall
			f.barrier -= wall
		default:
			f.away += wall
			f.body -= wall
		}
		if f.waits() {
			f.task += wall
			f.tasks += n
		}
	}
}

// waits tells whether tasks that are executed in a frame are executed because
// the thread has to wait there.
func (f *frame) waits() bool {
	return f.phase == inBarrier || f.node.key.Construct == event.TaskLoop || f.node.key.Construct == event.TaskYield
}

// endCreation: the call that creates tasks is over.
func (e *Engine) endCreation(t *thread, at uint64) {
	f := t.top()
	if f == nil || !creates(f.node.key.Construct) {
		return // an exit that other calls share, or an untied task's own
	}
	f.body += span(f.mark, at)
	e.pop(t, at)
}

// waitForTasks: a thread enters a taskwait, or the end of a taskgroup.
func (e *Engine) waitForTasks(t *thread, ev *event.Event) {
	if ev.Construct == event.TaskGroup {
		i := t.find(event.TaskGroup, func(f *frame) bool { return f.phase == inBody })
		if i < 0 {
			e.unmatched++
			return
		}
		f := e.unwindTo(t, i, ev.Time)
		f.body += span(f.mark, ev.Time)
		f.phase, f.mark = inBarrier, ev.Time
		return
	}
	f := e.push(t, t.key(ev.Construct, ev), ev)
	f.phase = inBarrier
	if ev.Construct == event.TaskYield && ev.Runtime == event.Gomp { // does nothing, has no return worth a probe
		e.pop(t, ev.Time)
	}
}

// waitedForTasks: it leaves it.
func (e *Engine) waitedForTasks(t *thread, ev *event.Event) {
	f := t.top()
	if f == nil || f.node.key.Construct != ev.Construct || f.phase != inBarrier {
		return // entered before we came, or an exit that other calls share
	}
	f.barrier += span(f.mark, ev.Time)
	f.bars++
	e.pop(t, ev.Time)
}

// taskEvent applies the events of tasks.
func (e *Engine) taskEvent(t *thread, ev *event.Event) bool {
	e.tasking = true
	switch ev.Construct {
	case event.TaskExec:
		if ev.Edge == event.Begin {
			return e.beginTask(t, ev)
		}
		e.endTask(t, ev)
	case event.Task, event.TaskLoop:
		switch ev.Edge {
		case event.Enter:
			e.createTask(t, ev)
		case event.Result:
			e.addTask(t, ev)
		case event.Released:
			e.endCreation(t, ev.Time)
		}
	default: // TASKWAIT, TASKGROUP, TASKYIELD
		switch ev.Edge {
		case event.Enter:
			f := e.push(t, t.key(ev.Construct, ev), ev)
			f.phase, f.bodies = inBody, 1
		case event.Wait:
			e.waitForTasks(t, ev)
		case event.Waited:
			e.waitedForTasks(t, ev)
		}
	}
	return true
}

// cutOffTask charges a task that is being executed when measurement ends.
func (e *Engine) cutOffTask(t *thread, at uint64) {
	f := t.top()
	if !f.internal {
		f.node.note(noteCutOff)
		e.partial++
		f.uncounted = true
	}
	e.leaveTask(t, at)
}

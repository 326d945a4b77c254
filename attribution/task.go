package attribution

import (
	"ompp-attach/attribution/ledger"
	"ompp-attach/attribution/place"
	"ompp-attach/attribution/tree"
	"ompp-attach/event"
	"ompp-attach/profile"
)

// Tasks. A task's regions lie below the place that created it (its creation path); its time is
// charged to the thread that executes it. While a thread executes a task, the clocks of the frames
// below it stand still. For example, a task in a taskwait is suspended, and the tasks executed
// there are not part of its time. So each task has a clock of its own, which runs only while the
// task does.

type taskKey struct {
	instance uint16 // of the runtime library
	key      uint64 // the address by which the runtime knows the task
}

// task is a task that was created and has not begun. It may also be the rest of an untied task that
// has not gone on yet.
type task struct {
	node     *tree.Node // the node of its executions
	created  uint64
	resumed  bool // a part of it has been executed before
	internal bool // the runtime's own task: libomp uses such tasks to split a taskloop
	// An older task at the same address that has not begun, as far as events are read.
	older *task
}

const (
	noteEarlyTask  = "tasks that were created before measurement began, or whose creation was lost"
	noteAwayTask   = "tasks that were created while tasks were not observed, or whose creation was lost"
	noteUndeferred = "some executions were undeferred: the creating thread executed them at once, inside the creating call"
)

// tasking applies the events of tasks.
type tasking struct {
	*stacks
	*progress
	tasksByKey map[taskKey]*task
	freeTasks  []*task         `copy:"-"`
	untied     map[uint64]bool // outlined functions of tasks that turned out to be untied
	tasksBack  uint64          // when tasks were last observed again
}

// createTask applies the start of a call that creates a task, or, for a taskloop, several tasks.
func (tk *tasking) createTask(t *thread, ev *event.Event) {
	c := ev.Construct
	untied := ev.Flags&event.Untied != 0
	// Otherwise a new task at an ended one's address would be taken for the rest of that one.
	if t.lossy {
		tk.leaveContexts(t, c, ev)
	}
	if c == event.Task {
		c, _ = tree.TaskConstructs(untied)
		if x := t.executing(); x != nil && ev.Key != 0 && x.taskAt == ev.Key {
			// An untied task queues its own rest: no new task.
			tk.queueTask(taskKey{ev.Instance, ev.Key}, task{node: x.node, created: ev.Time + t.suspended, resumed: true})
			tk.untied[x.node.Key.Fn] = true // libomp's calls do not say that a task is untied
			return
		}
	}
	k := t.key(c, ev)
	if ev.Fn != 0 { // one construct, even if the compiler has copied the call
		k.Fn, k.Site = ev.Fn, 0
	}
	f := tk.push(t, k, ev)
	f.phase, f.Parts[profile.Body].C, f.taskAt = inBody, 1, ev.Key
	switch {
	case ev.Flags&event.AtOnce != 0:
		begin := *ev
		begin.Time += t.suspended // the new task's clock
		tk.beginTask(t, &begin)
	case ev.Key != 0 && ev.Construct == event.Task:
		tk.addTask(t, ev)
	}
}

// addTask notes that a task exists at an address. The innermost open call creates it.
func (tk *tasking) addTask(t *thread, ev *event.Event) {
	if f := t.top(); t.lossy && (f == nil || !tree.Creates(f.node.Key.Construct) && !tree.IsExecution(f.node.Key.Construct)) {
		return // the start of the creating call was lost: the task counts as lost too
	}
	tk.queueTask(taskKey{ev.Instance, ev.Key}, task{node: tk.executionOf(t), created: ev.Time + t.suspended,
		internal: ev.Flags&event.Inside != 0})
}

// queueTask adds a task to the list of tasks at its address, in the order of creation, the latest
// first. Creations by several threads may come in any order.
func (tk *tasking) queueTask(id taskKey, v task) {
	var x *task
	if n := len(tk.freeTasks); n > 0 {
		x = tk.freeTasks[n-1]
		tk.freeTasks = tk.freeTasks[:n-1]
	} else {
		x = new(task)
	}
	*x = v
	newer := tk.tasksByKey[id]
	if newer != nil && newer.older != nil && tk.allRead(newer.created) {
		newer.older = nil // these were cancelled, or their begin was lost
	}
	if newer == nil || newer.created <= x.created {
		x.older = newer
		tk.tasksByKey[id] = x
		return
	}
	for newer.older != nil && newer.older.created > x.created {
		newer = newer.older
	}
	x.older, newer.older = newer.older, x
}

// executionOf returns the node for executions of the tasks that the thread is creating.
func (tk *tasking) executionOf(t *thread) *tree.Node {
	n := tk.tree.Root
	if f := t.top(); f != nil {
		n = f.node
	}
	// Libomp: one of the runtime's own tasks creates the tasks of a taskloop.
	if tree.IsExecution(n.Key.Construct) {
		return n
	}
	return tk.tree.Execution(n)
}

// executing returns the frame of the explicit task that the thread executes, nil if it executes its
// implicit task.
func (t *thread) executing() *frame {
	if i := t.context(); i >= 0 && tree.IsExecution(t.stack[i].node.Key.Construct) {
		return &t.stack[i]
	}
	return nil
}

// context returns the index of the innermost frame that is an implicit or
// explicit task; -1 outside any.
func (t *thread) context() int {
	for i := len(t.stack) - 1; i >= 0; i-- {
		if isContext(t.stack[i].node.Key.Construct) {
			return i
		}
	}
	return -1
}

// isContext tells whether a construct's frame is an implicit or explicit task.
func isContext(c event.Construct) bool { return c.IsParallel() || tree.IsExecution(c) }

// setClock sets the thread's clock to that of the innermost task.
func (t *thread) setClock() {
	t.suspended = 0
	if x := t.executing(); x != nil {
		t.suspended = uint64(x.Away)
	}
}

// beginTask applies the start of a task's function. It answers false if the creation of the task
// may not have been read yet.
func (tk *tasking) beginTask(t *thread, ev *event.Event) bool {
	var n *tree.Node
	var x *task
	f := t.top()
	switch {
	case f != nil && tree.Creates(f.node.Key.Construct) && (ev.Key == 0 || ev.Flags&event.AtOnce != 0):
		n = tk.executionOf(t)
		n.Note(noteUndeferred)
	default:
		if !tk.certain(t, ev) {
			return false
		}
		if x = tk.takeTask(ev); x == nil {
			if !tk.existed(ev) && tk.now < ev.Time+stragglerWait {
				return false
			}
			n = tk.tree.Child(tk.tree.Child(tk.tree.Root, place.Key{Kind: place.Kind{Construct: event.Unknown}}), place.Key{Kind: place.Kind{Construct: event.TaskExec, Runtime: ev.Runtime}, Fn: ev.Fn})
			if tk.tasksBack != 0 {
				n.Note(noteAwayTask)
			} else {
				n.Note(noteEarlyTask)
			}
			tk.partial++
		} else {
			n = x.node
			if f != nil && f.taskAt == ev.Key && f.node.Key.Construct != event.TaskLoop && tree.Creates(f.node.Key.Construct) && !x.resumed {
				// Libomp executes included tasks, and tasks that find the queue
				// full, in the creating call.
				n.Note(noteUndeferred)
			}
		}
	}
	if ev.Edge == event.Begin { // otherwise the creating call has done that
		tk.mend(t, event.TaskExec, ev)
		tk.tax(t, ev)
	}
	// Otherwise it is in the final barrier of a region that was under way at attach.
	if len(t.stack) > 0 || !tk.existing[t.tid] {
		tk.initial(t)
	}
	f = t.open(n, ev)
	f.phase, f.flags, f.taskAt = inBody, 0, ev.Key
	f.Parts[profile.Enter].C, f.Parts[profile.Body].C = 1, 1
	if x != nil {
		f.Parts[profile.Enter].T, f.resumed, f.internal = ledger.Span(x.created, ev.Time), x.resumed, x.internal
		tk.freeTasks = append(tk.freeTasks, x)
	}
	t.suspended = 0
	return true
}

// takeTask removes and returns the latest task that was created at the address before the event.
// Older tasks there are over: their execution was lost, or has not been applied yet.
func (tk *tasking) takeTask(ev *event.Event) *task {
	id := taskKey{ev.Instance, ev.Key}
	var newer *task
	for x := tk.tasksByKey[id]; x != nil; newer, x = x, x.older {
		if x.created > ev.Time {
			continue
		}
		if back := tk.tasksBack; x.created < back && back <= ev.Time {
			return nil // it was executed while tasks were not observed
		}
		older := x.older
		if older != nil && tk.allRead(x.created) {
			older = nil
		}
		x.older = nil
		switch {
		case newer != nil:
			newer.older = older
		case older != nil:
			tk.tasksByKey[id] = older
		default:
			delete(tk.tasksByKey, id)
		}
		return x
	}
	return nil
}

// certain tells whether all events before a task's begin have been applied. The task's address may
// have belonged to another task a moment ago, which any thread may have created and executed.
func (tk *tasking) certain(t *thread, ev *event.Event) bool {
	if i := t.level(); i >= 0 && t.stack[i].team != nil && t.stack[i].team.size == 1 {
		return true // no other thread could have created the task
	}
	if t.replaying { // its own queued events are the ones being applied: only the others count
		return tk.now >= ev.Time+clockSlack && tk.others >= ev.Time
	}
	return tk.allRead(ev.Time)
}

// existed tells whether a task may be older than the measurement, or older than the current
// observation of tasks.
func (tk *tasking) existed(ev *event.Event) bool {
	return tk.began != 0 && ev.Time < tk.began+stragglerWait || tk.tasksBack != 0 && ev.Time < tk.tasksBack+stragglerWait
}

// endTask applies the return from a task's function.
func (tk *tasking) endTask(t *thread, ev *event.Event) {
	i := t.context()
	if t.lossy && ev.Key != 0 { // the ends of tasks that this task executed may be lost
		for i >= 0 && t.stack[i].taskAt != ev.Key && !t.stack[i].node.Key.Construct.IsParallel() {
			i--
		}
	}
	if i < 0 || !tree.IsExecution(t.stack[i].node.Key.Construct) || ev.Key != 0 && t.stack[i].taskAt != ev.Key {
		return // it began before measurement did, or the hit was of other code at a shared address
	}
	real := ev.Time + t.suspended
	tk.unwindTo(t, i, ev.Time)
	tk.leaveTask(t, real)
	if f := t.top(); ev.Flags&event.AtOnce != 0 && f != nil && tree.Creates(f.node.Key.Construct) {
		tk.endCreationAt(t, real-t.suspended)
	}
}

// leaveTask charges the task in the innermost frame, and resumes the frames that the thread had
// suspended for it.
func (st *stacks) leaveTask(t *thread, at uint64) {
	f := t.top()
	var v ledger.Interval
	if f.internal { // its time counts for the frames that it interrupted
		v = st.ledger.Interrupted(&f.Account)
		st.disown(t, len(t.stack)-1)
	} else {
		v = st.ledger.Executed(&f.Account, ledger.Span(f.Start, at))
		f.Parts[profile.Body].T = v.Active
		st.ledger.Charge(&f.Account, f.node.Stat(f.row), v.Active)
		st.ledger.Release(&f.Account)
	}
	if s := f.node.Stat(f.row); f.resumed {
		s.Exec.C-- // the execution was counted with its first part
		s.Enter.C--
	}
	t.stack = t.stack[:len(t.stack)-1]
	st.resume(t, &v, at)
}

// resume lets the frames go on that a thread had suspended to execute tasks. The innermost frame is
// the wait in which the thread executed the tasks, or the call that created them.
func (st *stacks) resume(t *thread, v *ledger.Interval, at uint64) {
	f := t.top()
	if x := t.executing(); x != nil {
		st.ledger.StandStill(&x.Account, v)
		t.suspended = uint64(x.Away)
		if f.waits() || f.internal {
			f.Waited(v, true)
		}
		return
	}
	t.suspended = 0
	switch {
	case f == nil:
		return
	case f.team != nil && f.phase == inBarrier: // the figures of the body have been taken already
		st.resumeBarrier(t, v, at)
		return
	case f.node.Key.Construct.IsTasking(): // its clock stood still
		st.ledger.StandStill(&f.Account, v)
		// The barrier time of a tasking construct is the wait with nothing to do.
		if f.phase == inBarrier {
			f.Parts[profile.Barrier].T -= v.Wall
		} else {
			f.Parts[profile.Body].T -= v.Wall
		}
	default:
		st.ledger.Hold(&f.Account, v, f.part())
	}
	if f.waits() {
		f.Waited(v, false)
	}
}

// resumeBarrier charges a thread's part in a team with tasks that it executed in the final barrier.
func (st *stacks) resumeBarrier(t *thread, v *ledger.Interval, at uint64) {
	f := t.top()
	if f.num >= 0 { // the primary thread counts until the join
		st.ledger.HoldCounters(&f.Account, v)
	}
	m := f.team
	if mem := m.member(t.num); mem != nil && !m.charged && m.forked <= f.Mark {
		m.lastTask = max(m.lastTask, at)
		st.ledger.Execute(&mem.Share, v, f.num < 0)
		f.node.Present(mem.row).Paid += v.TakenBy()
	}
}

// waits tells whether a thread that executes tasks in this frame does so because it has to wait
// there.
func (f *frame) waits() bool {
	return f.phase == inBarrier || f.node.Key.Construct == event.TaskLoop || f.node.Key.Construct == event.TaskYield
}

// endCreation applies the end of a call that creates tasks.
func (tk *tasking) endCreation(t *thread, ev *event.Event) { tk.endCreationAt(t, ev.Time) }

func (tk *tasking) endCreationAt(t *thread, at uint64) {
	f := t.top()
	if f == nil || !tree.Creates(f.node.Key.Construct) {
		return // a return that other calls share, or one of an untied task
	}
	f.Pass(profile.Body, at)
	tk.pop(t, at)
}

// waitForTasks applies the start of a taskwait, or of the wait at the end of a taskgroup.
func (tk *tasking) waitForTasks(t *thread, ev *event.Event) {
	if ev.Construct == event.TaskGroup {
		i := t.find(event.TaskGroup, func(f *frame) bool { return f.phase == inBody })
		if i < 0 {
			tk.unmatched++
			return
		}
		f := tk.unwindTo(t, i, ev.Time)
		f.Pass(profile.Body, ev.Time)
		f.phase, f.Mark = inBarrier, ev.Time
		return
	}
	f := tk.push(t, t.key(ev.Construct, ev), ev)
	f.phase = inBarrier
	// libgomp's call does nothing, and its return has no probe.
	if ev.Construct == event.TaskYield && ev.Runtime == event.Gomp {
		tk.pop(t, ev.Time)
	}
}

// waitedForTasks applies the end of such a wait.
func (tk *tasking) waitedForTasks(t *thread, ev *event.Event) {
	f := t.top()
	if f == nil || f.node.Key.Construct != ev.Construct || f.phase != inBarrier {
		return // it was entered before measurement began, or other calls share the return
	}
	f.Pass(profile.Barrier, ev.Time)
	f.Parts[profile.Barrier].C++
	tk.pop(t, ev.Time)
}

// enterTasking applies the start of a construct that waits for tasks.
func (tk *tasking) enterTasking(t *thread, ev *event.Event) {
	f := tk.push(t, t.key(ev.Construct, ev), ev)
	f.phase, f.Parts[profile.Body].C = inBody, 1
}

// cutOffTask charges a task that is executed when measurement ends.
func (tk *tasking) cutOffTask(t *thread, at uint64) {
	f := t.top()
	if !f.internal {
		f.node.Note(noteCutOff)
		tk.partial++
		f.Uncounted = true
	}
	tk.leaveTask(t, at)
}

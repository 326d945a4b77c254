package attribution

import (
	"ompp-attach/attribution/ledger"
	"ompp-attach/attribution/place"
	"ompp-attach/attribution/stack"
	"ompp-attach/attribution/tree"
	"ompp-attach/attribution/waits"
	"ompp-attach/event"
	"ompp-attach/profile"
)

// Tasks. A task's regions lie below the place that created it (its creation path); its time is
// charged to the thread that executes it. While a thread executes a task, the clocks of the regions
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
	resumed  bool       // a part of it has been executed before
	number   uint64     // in a timeline
	internal bool       // the runtime's own task: libomp uses such tasks to split a taskloop
	by       *tree.Node // the construct that created it; nil: not known
	seat     int        // of the thread that created it
	// up is OpenRegion.Up of the task's execution. children is OpenRegion.Brood of the parts that
	// have been executed.
	up       [2]*waits.Brood
	children *waits.Brood
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
	*stack.Stacks
	*progress
	tasksByKey map[taskKey]*task
	freeTasks  []*task         `copy:"-"`
	untied     map[uint64]bool // outlined functions of tasks that turned out to be untied
	tasksBack  uint64          // when tasks were last observed again
}

// createTask applies the start of a call that creates a task, or, for a taskloop, several tasks.
func (tk *tasking) createTask(t *stack.Thread, ev *event.Event) {
	c := ev.Construct
	untied := ev.Flags&event.Untied != 0
	// Otherwise a new task at an ended one's address would be taken for the rest of that one.
	if t.Lossy {
		tk.LeaveContexts(t, c, ev)
	}
	if c == event.Task {
		c, _ = tree.TaskConstructs(untied)
		if x := t.Executing(); x != nil && ev.Key != 0 && x.TaskAt == ev.Key {
			// An untied task queues its own rest: no new task.
			tk.queueTask(taskKey{ev.Instance, ev.Key}, task{node: x.Node, created: ev.Time + t.Suspended, resumed: true, up: x.Up, children: x.Brood})
			x.Up = [2]*waits.Brood{}
			tk.untied[x.Node.Key.Fn] = true // libomp's calls do not say that a task is untied
			return
		}
	}
	k := t.Key(c, ev)
	if ev.Fn != 0 { // one construct, even if the compiler has copied the call
		k.Fn, k.Site = ev.Fn, 0
	}
	r := tk.Push(t, k, ev)
	r.Phase, r.Parts[profile.Body].C, r.TaskAt = stack.InBody, 1, ev.Key
	switch {
	case ev.Flags&event.AtOnce != 0:
		begin := *ev
		begin.Time += t.Suspended // the new task's clock
		tk.beginTask(t, &begin)
	case ev.Key != 0 && ev.Construct == event.Task:
		tk.addTask(t, ev)
	}
}

// addTask notes that a task exists at an address. The innermost open call creates it.
func (tk *tasking) addTask(t *stack.Thread, ev *event.Event) {
	if r := t.Top(); t.Lossy && (r == nil || !tree.Creates(r.Node.Key.Construct) && !tree.IsExecution(r.Node.Key.Construct)) {
		return // the start of the creating call was lost: the task counts as lost too
	}
	x := task{node: tk.executionOf(t), created: ev.Time + t.Suspended, internal: ev.Flags&event.Inside != 0, up: t.Enlist()}
	if r := t.Top(); r != nil && tree.Creates(r.Node.Key.Construct) {
		x.by, x.seat = r.Node, r.Seat
	}
	if tk.Spans != nil && !x.internal {
		x.number = tk.Spans.Created(t.Tid, x.node, t.Seat, x.created)
	}
	tk.queueTask(taskKey{ev.Instance, ev.Key}, x)
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
func (tk *tasking) executionOf(t *stack.Thread) *tree.Node {
	n := tk.Tree.Root
	if r := t.Top(); r != nil {
		n = r.Node
	}
	// Libomp: one of the runtime's own tasks creates the tasks of a taskloop.
	if tree.IsExecution(n.Key.Construct) {
		return n
	}
	return tk.Tree.Execution(n)
}

// beginTask applies the start of a task's function. It answers false if the creation of the task
// may not have been read yet.
func (tk *tasking) beginTask(t *stack.Thread, ev *event.Event) bool {
	var n *tree.Node
	var x *task
	r := t.Top()
	switch {
	case r != nil && tree.Creates(r.Node.Key.Construct) && (ev.Key == 0 || ev.Flags&event.AtOnce != 0):
		n = tk.executionOf(t)
		n.Note(noteUndeferred)
	default:
		if !tk.certain(t, ev) {
			return false
		}
		if x = tk.popTask(ev); x == nil {
			if !tk.existed(ev) && tk.now < ev.Time+stragglerWait {
				return false
			}
			n = tk.Tree.Child(tk.Tree.Child(tk.Tree.Root, place.Key{RuntimeConstruct: place.RuntimeConstruct{Construct: event.Unknown}}), place.Key{RuntimeConstruct: place.RuntimeConstruct{Construct: event.TaskExec, Runtime: ev.Runtime}, Fn: ev.Fn})
			if tk.tasksBack != 0 {
				n.Note(noteAwayTask)
			} else {
				n.Note(noteEarlyTask)
			}
			tk.Partial++
		} else {
			n = x.node
			if r != nil && r.TaskAt == ev.Key && r.Node.Key.Construct != event.TaskLoop && tree.Creates(r.Node.Key.Construct) && !x.resumed {
				// Libomp executes included tasks, and tasks that find the queue
				// full, in the creating call.
				n.Note(noteUndeferred)
			}
		}
	}
	if ev.Edge == event.Begin { // otherwise the creating call has done that
		tk.Mend(t, event.TaskExec, ev)
		tk.Tax(t, ev)
	}
	// Otherwise it is in the final barrier of a region that was under way at attach.
	if len(t.Stack) > 0 || !tk.Older[t.Tid] {
		tk.Initial(t)
	}
	if x != nil && x.by != nil && t.Interval != nil && !x.resumed {
		t.BeginTaskWaiting(x.created, x.by, x.seat)
	}
	if t.Interval != nil {
		t.BeginWork(ev.Time)
	}
	r = t.Open(n, ev)
	r.Phase, r.Flags, r.TaskAt = stack.InBody, 0, ev.Key
	r.Parts[profile.Enter].C, r.Parts[profile.Body].C = 1, 1
	if x != nil {
		r.Parts[profile.Enter].T, r.Resumed, r.Internal = ledger.Between(x.created, ev.Time), x.resumed, x.internal
		r.Executes(x.number)
		r.Up, r.Brood = x.up, x.children
		tk.freeTasks = append(tk.freeTasks, x)
	}
	t.Suspended = 0
	return true
}

// popTask removes and returns the latest task that was created at the address before the event.
// Older tasks there are over: their execution was lost, or has not been applied yet.
func (tk *tasking) popTask(ev *event.Event) *task {
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
func (tk *tasking) certain(t *stack.Thread, ev *event.Event) bool {
	if i := t.Level(); i >= 0 && t.Stack[i].Team != nil && t.Stack[i].Team.Size == 1 {
		return true // no other thread could have created the task
	}
	if t.Replaying { // its own queued events are the ones being applied: only the others count
		return tk.now >= ev.Time+clockSlack && tk.others >= ev.Time
	}
	return tk.allRead(ev.Time)
}

// existed tells whether a task may be older than the measurement, or older than the current
// observation of tasks.
func (tk *tasking) existed(ev *event.Event) bool {
	return tk.Began != 0 && ev.Time < tk.Began+stragglerWait || tk.tasksBack != 0 && ev.Time < tk.tasksBack+stragglerWait
}

// endTask applies the return from a task's function.
func (tk *tasking) endTask(t *stack.Thread, ev *event.Event) {
	i := t.Context()
	if t.Lossy && ev.Key != 0 { // the ends of tasks that this task executed may be lost
		for i >= 0 && t.Stack[i].TaskAt != ev.Key && !t.Stack[i].Node.Key.Construct.IsParallel() {
			i--
		}
	}
	if i < 0 || !tree.IsExecution(t.Stack[i].Node.Key.Construct) || ev.Key != 0 && t.Stack[i].TaskAt != ev.Key {
		return // it began before measurement did, or the hit was of other code at a shared address
	}
	real := ev.Time + t.Suspended
	tk.UnwindTo(t, i, ev.Time)
	tk.LeaveTask(t, real)
	if r := t.Top(); ev.Flags&event.AtOnce != 0 && r != nil && tree.Creates(r.Node.Key.Construct) {
		tk.endCreationAt(t, real-t.Suspended)
	}
}

// endCreation applies the end of a call that creates tasks.
func (tk *tasking) endCreation(t *stack.Thread, ev *event.Event) { tk.endCreationAt(t, ev.Time) }

func (tk *tasking) endCreationAt(t *stack.Thread, at uint64) {
	r := t.Top()
	if r == nil || !tree.Creates(r.Node.Key.Construct) {
		return // a return that other calls share, or one of an untied task
	}
	r.Pass(profile.Body, at)
	tk.Pop(t, at)
}

// waitForTasks applies the start of a taskwait, or of the wait at the end of a taskgroup.
func (tk *tasking) waitForTasks(t *stack.Thread, ev *event.Event) {
	if ev.Construct == event.TaskGroup {
		i := t.Find(event.TaskGroup, func(r *stack.OpenRegion) bool { return r.Phase == stack.InBody })
		if i < 0 {
			tk.Unmatched++
			return
		}
		r := tk.UnwindTo(t, i, ev.Time)
		r.Pass(profile.Body, ev.Time)
		r.Phase, r.Mark, r.Waiting, r.Idle = stack.InBarrier, ev.Time, ev.Time+t.Suspended, ev.Time+t.Suspended
		return
	}
	r := tk.Push(t, t.Key(ev.Construct, ev), ev)
	r.Phase, r.Waiting, r.Idle = stack.InBarrier, ev.Time+t.Suspended, ev.Time+t.Suspended
	// libgomp's call does nothing, and its return has no probe.
	if ev.Construct == event.TaskYield && ev.Runtime == event.Gomp {
		tk.Pop(t, ev.Time)
	}
}

// waitedForTasks applies the end of such a wait.
func (tk *tasking) waitedForTasks(t *stack.Thread, ev *event.Event) {
	r := t.Top()
	if r == nil || r.Node.Key.Construct != ev.Construct || r.Phase != stack.InBarrier {
		return // it was entered before measurement began, or other calls share the return
	}
	t.AwaitedTask(ev.Time + t.Suspended)
	if t.OffCore != nil {
		t.AskTasks(r, ev.Time+t.Suspended)
	}
	r.Pass(profile.Barrier, ev.Time)
	r.Parts[profile.Barrier].C++
	tk.Pop(t, ev.Time)
}

// enterTasking applies the start of a construct that waits for tasks.
func (tk *tasking) enterTasking(t *stack.Thread, ev *event.Event) {
	r := tk.Push(t, t.Key(ev.Construct, ev), ev)
	r.Phase, r.Parts[profile.Body].C = stack.InBody, 1
}

// cutOffTask charges a task that is executed when measurement ends.
func (tk *tasking) cutOffTask(t *stack.Thread, at uint64) {
	r := t.Top()
	if !r.Internal {
		r.Node.Note(stack.NoteCutOff)
		tk.Partial++
		r.Uncounted = true
	}
	tk.LeaveTask(t, at)
}

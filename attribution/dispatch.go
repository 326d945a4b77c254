package attribution

import (
	"ompp-attach/attribution/stack"
	"ompp-attach/event"
)

// handler applies an event of one edge and construct to its thread.
type handler func(e *engine, t *stack.Thread, ev *event.Event)

// beginner applies a begin. It answers false if the begin has to wait for earlier events of other
// threads.
type beginner func(e *engine, t *stack.Thread, ev *event.Event) bool

// The sizes of the table are powers of two above the numbers of edges and constructs, so that an
// index needs no check.
const (
	maxEdges      = 32
	maxConstructs = 64
)

// handlerTable holds what is to be done, by edge and construct; nil: nothing.
type handlerTable struct {
	handlers [maxEdges][maxConstructs]handler
	begins   [maxConstructs]beginner // in place of the handlers of the edge Begin
}

var handlers = newHandlers()

// dispatch applies an event by its handler. It answers false if the event has to wait.
func (h *handlerTable) dispatch(e *engine, t *stack.Thread, ev *event.Event) bool {
	c := ev.Construct % maxConstructs
	if ev.Edge == event.Begin && h.begins[c] != nil {
		return h.begins[c](e, t, ev)
	}
	if f := h.handlers[ev.Edge%maxEdges][c]; f != nil {
		f(e, t, ev)
	}
	return true
}

// set sets the handler of an edge for some constructs.
func (h *handlerTable) set(edge event.Edge, f handler, of ...event.Construct) {
	for _, c := range of {
		h.handlers[edge][c] = f
	}
}

// newHandlers fills the table: for each edge what most constructs do there, then the exceptions.
func newHandlers() *handlerTable {
	h := &handlerTable{}
	var all, tasking []event.Construct
	for c := range event.ReductionBarrier + 1 {
		if c.IsTasking() {
			tasking = append(tasking, c)
		} else {
			all = append(all, c)
		}
	}
	h.teams(all)
	h.worksharing(all)
	h.exclusive(all)
	h.tasks(tasking)
	h.set(event.Folded, (*engine).folded, all...)

	h.begins[event.UserRegion], h.begins[event.MPI] = nil, nil
	for edge := range event.Edge(maxEdges) {
		h.handlers[edge][event.UserRegion] = nil
		h.set(edge, (*engine).Apply, event.MPI)
	}
	h.set(event.Enter, (*engine).enterUser, event.UserRegion)
	h.set(event.Release, (*engine).exitUser, event.UserRegion)
	h.set(event.Released, (*engine).exitUser, event.UserRegion)
	h.set(event.Off, (*engine).switched, event.UserRegion)
	h.set(event.On, (*engine).switched, event.UserRegion)
	return h
}

func (e *engine) enterUser(t *stack.Thread, ev *event.Event) { e.user.Enter(t, ev) }
func (e *engine) exitUser(t *stack.Thread, ev *event.Event)  { e.user.Exit(t, ev) }

func (h *handlerTable) teams(all []event.Construct) {
	h.set(event.Fork, (*engine).fork, all...)
	for _, c := range all {
		h.begins[c] = (*engine).begin
	}
	h.set(event.End, (*engine).end, all...)
	h.set(event.Join, (*engine).join, all...)
}

func (h *handlerTable) worksharing(all []event.Construct) {
	h.set(event.Open, (*engine).Open, all...)
	h.set(event.Open, (*engine).nextTeam, event.Teams)
	h.set(event.Close, (*engine).Close, all...)
	h.set(event.Close, (*engine).teamDone, event.Teams)
	h.set(event.Wait, (*engine).Wait, all...)
	h.set(event.Waited, (*engine).waited, all...)
	h.set(event.Result, (*engine).Chosen, event.Single)
	h.set(event.Result, (*engine).StartSection, event.Sections)
	h.set(event.Result, (*engine).lastTeam, event.Teams)
	h.set(event.Result, (*engine).Reduced, event.ReductionBarrier)
}

func (h *handlerTable) exclusive(all []event.Construct) {
	h.set(event.Enter, (*engine).enter, all...)
	h.set(event.Enter, (*engine).enterMaster, event.Master)
	h.set(event.Enter, (*engine).enterMasked, event.Masked)
	h.set(event.Enter, (*engine).enterTarget, event.Target)
	h.set(event.Acquired, (*engine).acquired, all...)
	h.set(event.Release, (*engine).release, all...)
	h.set(event.Release, (*engine).EndSingle, event.Single)
	h.set(event.Release, (*engine).EndSection, event.Sections)
	h.set(event.Released, (*engine).released, all...)
	h.set(event.Result, (*engine).tested, event.Lock, event.NestLock)
	h.set(event.Result, (*engine).cancelled, event.Cancel, event.CancellationPoint)
	h.set(event.Result, (*engine).reduces, event.Reduction)
}

func (h *handlerTable) tasks(tasking []event.Construct) {
	h.set(event.Enter, (*engine).enterTasking, tasking...)
	h.set(event.Enter, (*engine).createTask, event.Task, event.TaskLoop)
	h.set(event.Result, (*engine).addTask, event.Task, event.TaskLoop)
	h.set(event.Released, (*engine).endCreation, event.Task, event.TaskLoop)
	h.set(event.Wait, (*engine).waitForTasks, tasking...)
	h.set(event.Waited, (*engine).waitedForTasks, tasking...)
	for edge := range event.Edge(maxEdges) {
		h.set(edge, (*engine).endTask, event.TaskExec)
	}
	h.begins[event.TaskExec] = (*engine).beginTask
	for _, edge := range []event.Edge{event.Wait, event.Waited} {
		h.handlers[edge][event.Task], h.handlers[edge][event.TaskLoop] = nil, nil
	}
}

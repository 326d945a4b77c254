package attribution

import (
	"ompp-attach/attribution/stack"
	"ompp-attach/event"
)

// handler applies an event of one edge and construct to its thread. It answers false if the event
// has to wait for earlier events of other threads.
type handler func(e *engine, t *stack.Thread, ev *event.Event) bool

// handlers holds what is to be done, by edge and construct; nil: nothing. The sizes are powers of
// two above the numbers of edges and constructs, so that an index needs no check.
var handlers = newHandlers()

const (
	maxEdges      = 32
	maxConstructs = 64
)

type handlerTable [maxEdges][maxConstructs]handler

func handlerOf(ev *event.Event) handler {
	return handlers[ev.Edge%maxEdges][ev.Construct%maxConstructs]
}

// set sets the handler of an edge for some constructs.
func (h *handlerTable) set(edge event.Edge, f func(*engine, *stack.Thread, *event.Event), of ...event.Construct) {
	for _, c := range of {
		h[edge][c] = func(e *engine, t *stack.Thread, ev *event.Event) bool {
			f(e, t, ev)
			return true
		}
	}
}

// newHandlers fills the table: for each edge what most constructs do there, then the exceptions.
func newHandlers() *handlerTable {
	h := &handlerTable{}
	var all, tasking []event.Construct
	for c := range event.Unknown + 1 {
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

	for edge := range event.Edge(maxEdges) {
		h[edge][event.UserRegion] = nil
		h.set(edge, (*engine).mpi, event.MPI)
	}
	h.set(event.Enter, (*engine).enterUser, event.UserRegion)
	h.set(event.Release, (*engine).exitUser, event.UserRegion)
	h.set(event.Released, (*engine).exitUser, event.UserRegion)
	h.set(event.Off, (*engine).switched, event.UserRegion)
	h.set(event.On, (*engine).switched, event.UserRegion)
	return h
}

func (h *handlerTable) teams(all []event.Construct) {
	h.set(event.Fork, (*engine).fork, all...)
	for _, c := range all {
		h[event.Begin][c] = (*engine).begin
	}
	h.set(event.End, (*engine).end, all...)
	h.set(event.Join, (*engine).join, all...)
}

func (h *handlerTable) worksharing(all []event.Construct) {
	h.set(event.Open, (*engine).open, all...)
	h.set(event.Open, (*engine).nextTeam, event.Teams)
	h.set(event.Close, (*engine).close, all...)
	h.set(event.Close, (*engine).teamDone, event.Teams)
	h.set(event.Wait, (*engine).wait, all...)
	h.set(event.Waited, (*engine).waited, all...)
	h.set(event.Result, (*engine).chosen, event.Single)
	h.set(event.Result, (*engine).startSection, event.Sections)
	h.set(event.Result, (*engine).lastTeam, event.Teams)
	h.set(event.Result, (*engine).reduced, event.NoConstruct)
}

func (h *handlerTable) exclusive(all []event.Construct) {
	h.set(event.Enter, (*engine).enter, all...)
	h.set(event.Enter, (*engine).enterMaster, event.Master)
	h.set(event.Enter, (*engine).enterMasked, event.Masked)
	h.set(event.Enter, (*engine).enterTarget, event.Target)
	h.set(event.Acquired, (*engine).acquired, all...)
	h.set(event.Release, (*engine).release, all...)
	h.set(event.Release, (*engine).endSingle, event.Single)
	h.set(event.Release, (*engine).endSection, event.Sections)
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
	h[event.Begin][event.TaskExec] = (*engine).beginTask
	for _, edge := range []event.Edge{event.Wait, event.Waited} {
		h[edge][event.Task], h[edge][event.TaskLoop] = nil, nil
	}
}

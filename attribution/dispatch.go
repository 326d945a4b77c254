package attribution

import "ompp-attach/event"

// handler applies an event of one edge and construct to its thread. It answers false if the event
// has to wait for earlier events of other threads.
type handler func(e *Engine, t *thread, ev *event.Event) bool

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
func (h *handlerTable) set(edge event.Edge, f func(*Engine, *thread, *event.Event), of ...event.Construct) {
	for _, c := range of {
		h[edge][c] = func(e *Engine, t *thread, ev *event.Event) bool {
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
	h.set(event.Folded, (*Engine).folded, all...)

	for edge := range event.Edge(maxEdges) {
		h[edge][event.UserRegion] = nil
		h.set(edge, (*Engine).mpi, event.MPI)
	}
	h.set(event.Enter, (*Engine).enterUser, event.UserRegion)
	h.set(event.Release, (*Engine).exitUser, event.UserRegion)
	h.set(event.Released, (*Engine).exitUser, event.UserRegion)
	h.set(event.Off, (*Engine).switched, event.UserRegion)
	h.set(event.On, (*Engine).switched, event.UserRegion)
	return h
}

func (h *handlerTable) teams(all []event.Construct) {
	h.set(event.Fork, (*Engine).fork, all...)
	for _, c := range all {
		h[event.Begin][c] = (*Engine).begin
	}
	h.set(event.End, (*Engine).end, all...)
	h.set(event.Join, (*Engine).join, all...)
}

func (h *handlerTable) worksharing(all []event.Construct) {
	h.set(event.Open, (*Engine).open, all...)
	h.set(event.Open, (*Engine).nextTeam, event.Teams)
	h.set(event.Close, (*Engine).close, all...)
	h.set(event.Close, (*Engine).teamDone, event.Teams)
	h.set(event.Wait, (*Engine).wait, all...)
	h.set(event.Waited, (*Engine).waited, all...)
	h.set(event.Result, (*Engine).chosen, event.Single)
	h.set(event.Result, (*Engine).startSection, event.Sections)
	h.set(event.Result, (*Engine).lastTeam, event.Teams)
	h.set(event.Result, (*Engine).reduced, event.NoConstruct)
}

func (h *handlerTable) exclusive(all []event.Construct) {
	h.set(event.Enter, (*Engine).enter, all...)
	h.set(event.Enter, (*Engine).enterMaster, event.Master)
	h.set(event.Enter, (*Engine).enterMasked, event.Masked)
	h.set(event.Enter, (*Engine).enterTarget, event.Target)
	h.set(event.Acquired, (*Engine).acquired, all...)
	h.set(event.Release, (*Engine).release, all...)
	h.set(event.Release, (*Engine).endSingle, event.Single)
	h.set(event.Release, (*Engine).endSection, event.Sections)
	h.set(event.Released, (*Engine).released, all...)
	h.set(event.Result, (*Engine).tested, event.Lock, event.NestLock)
	h.set(event.Result, (*Engine).cancelled, event.Cancel, event.CancellationPoint)
	h.set(event.Result, (*Engine).reduces, event.Reduction)
}

func (h *handlerTable) tasks(tasking []event.Construct) {
	h.set(event.Enter, (*Engine).enterTasking, tasking...)
	h.set(event.Enter, (*Engine).createTask, event.Task, event.TaskLoop)
	h.set(event.Result, (*Engine).addTask, event.Task, event.TaskLoop)
	h.set(event.Released, (*Engine).endCreation, event.Task, event.TaskLoop)
	h.set(event.Wait, (*Engine).waitForTasks, tasking...)
	h.set(event.Waited, (*Engine).waitedForTasks, tasking...)
	for edge := range event.Edge(maxEdges) {
		h.set(edge, (*Engine).endTask, event.TaskExec)
	}
	h[event.Begin][event.TaskExec] = (*Engine).beginTask
	for _, edge := range []event.Edge{event.Wait, event.Waited} {
		h[edge][event.Task], h[edge][event.TaskLoop] = nil, nil
	}
}

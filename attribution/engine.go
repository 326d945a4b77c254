package attribution

import (
	"ompp-attach/attribution/calls"
	"ompp-attach/attribution/deepcopy"
	"ompp-attach/attribution/ledger"
	"ompp-attach/attribution/spans"
	"ompp-attach/event"
	"ompp-attach/profile"
	"ompp-attach/timeline"
)

// Engine turns the events of one process into a Profile. Events of one thread must come in order;
// events of different threads may be interleaved in any way.
type Engine struct{ in *engine }

// New returns an engine for the process pid.
func New(pid uint32, r Resolver) *Engine { return &Engine{newEngine(pid, r)} }

// MainStack sets the bounds of the process's first stack: all addresses in it belong to one stack.
func (e *Engine) MainStack(lo, hi uint64) { e.in.StackLo, e.in.StackHi = lo, hi }

// Timeline makes the engine tell a sink of each execution that ends. Call it before the first
// event. A copy of the engine tells nobody, until it is given a sink of its own (CopyTo).
func (e *Engine) Timeline(to timeline.Sink) { e.in.Spans = spans.New(to, e.in.Seats) }

// LogCalls makes the engine record MPI calls one by one (Profile.Calls). Call it before the first
// event.
func (e *Engine) LogCalls() { e.in.MPI.Log = calls.NewLog() }

// Costs sets the time that hits of probes take (ns). Before Costs is called, hits count as free.
func (e *Engine) Costs(c event.HitCosts) { e.in.Ledger.SetCosts(c) }

// NoCoreBefore sets how long each thread had been without a core when measurement began (ns, by
// thread id).
func (e *Engine) NoCoreBefore(before map[uint32]int64) { e.in.NoCoreBefore = before }

// TellsOffCore says that events tell when threads are off their cores. Call it before the first
// event.
func (e *Engine) TellsOffCore() { e.in.OffCoreTold = true }

// Began says when the process's measured time began (CLOCK_MONOTONIC, ns). No thread is without a
// core for longer than since then.
func (e *Engine) Began(at uint64) { e.in.From = e.in.clock.at(at) }

// Existing names the threads that ran before measurement began at a time (CLOCK_MONOTONIC, ns).
// Such a thread may be inside a region that was under way. Until it starts or joins a team that is
// seen, its events are charged to a region of the construct Unknown.
func (e *Engine) Existing(tids []int, at uint64) { e.in.presentSince(tids, e.in.clock.at(at)) }

// Budgeted says that changes of what is observed may come. Call it before the first event, so that
// the pace of the threads is followed from the beginning.
func (e *Engine) Budgeted() { e.in.Switching = true }

// Observe changes what is observed. Feed the changes in order, and each one before any later event.
// Events of unobserved constructs are ignored.
func (e *Engine) Observe(w Switch) { e.in.observe(w) }

// Feed takes one event. The engine keeps no reference to the memory that ev points to.
func (e *Engine) Feed(ev *event.Event) { e.in.feedAt(ev) }

// Advance says that every event older than now (CLOCK_MONOTONIC, ns) has been fed. Threads and
// teams that wait for an older event go on with what is known.
func (e *Engine) Advance(now uint64) { e.in.advance(e.in.clock.at(now)) }

// Stopped says that the process was stopped, and that all events of its threads before the stop
// have been fed. Call it in the order of the stops.
func (e *Engine) Stopped(s Stop) { e.in.stopped(s) }

// Pause switches the measurement off at a time (CLOCK_MONOTONIC, ns). All events up to that time
// must have been fed. Open regions are counted, with their time until then.
func (e *Engine) Pause(at uint64) { e.in.pauseAt(e.in.clock.at(at)) }

// Resume switches the measurement on again after Pause, at a time (CLOCK_MONOTONIC, ns). The
// threads named in tids run now and may be inside regions, as at attach.
func (e *Engine) Resume(tids []int, at uint64) { e.in.resumeAt(tids, e.in.clock.at(at)) }

// Events returns how many hits of probes the events fed so far stand for.
func (e *Engine) Events() uint64 { return e.in.events }

// Stops returns the stops that Stopped was told, in order.
func (e *Engine) Stops() []Stop { return e.in.clock.stops }

// Off returns how long measurement was switched off (ns), and how often.
func (e *Engine) Off() profile.Sum { return e.in.OffTime }

// Elapsed returns how long the program ran and was measured between two times (ns). from and to are
// times of CLOCK_MONOTONIC; if they are in reverse order, the result is 0.
func (e *Engine) Elapsed(from, to uint64) int64 {
	return max(0, ledger.Between(e.in.clock.at(from), e.in.clock.at(to))-e.in.OffTime.T)
}

// Copy returns an engine in the same state that asks another resolver. Either engine can be
// finished or fed without effect on the other.
func (e *Engine) Copy(r Resolver) *Engine {
	in := deepcopy.Of(e.in)
	in.Tree.Answers.Resolver = r
	return &Engine{in}
}

// CopyTo copies the engine as Copy does. The copy tells its spans to the sink to. That sink has to
// know the spans that the original's sink was told so far (timeline.Recorder.Branch).
func (e *Engine) CopyTo(r Resolver, to timeline.Sink) *Engine {
	c := e.Copy(r)
	c.in.Spans = e.in.Spans.With(to, c.in.Seats)
	return c
}

// Clock converts a time of CLOCK_MONOTONIC to the engine's clock (ns). A timeline's spans have
// times of the engine's clock.
func (e *Engine) Clock(t uint64) uint64 { return e.in.clock.at(t) }

// Snapshot finishes a copy of an engine that goes on (see Copy). It ends at a time
// (CLOCK_MONOTONIC, ns) up to which all events have been fed. If an event waits for other threads,
// it ends earlier: at the oldest such event. It returns that time. Open regions are counted with
// their time until then, and waiting events are left out. So no figure is higher than the original
// engine's will be, except figures of regions whose end will never be seen.
func (e *Engine) Snapshot(end uint64) (p *profile.Profile, ended uint64) { return e.in.snapshot(end) }

// WasInside tells whether a thread was inside a construct when Finish, Snapshot or Pause last
// closed all constructs. Threads that libgomp has ended are inside none, though no probe told of
// their end.
func (e *Engine) WasInside(tid uint32) bool { return e.in.threads.inside[tid] }

// Finish closes all open regions at a time (CLOCK_MONOTONIC, ns), gives every construct its place
// in the source, and returns the profile's figures. Do not feed the engine afterwards. The caller
// fills in the rest of Meta, which describes the measurement.
func (e *Engine) Finish(end uint64) *profile.Profile { return e.in.finish(end) }

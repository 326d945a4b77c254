package collect

import (
	"ompp-attach/bpf"
	"ompp-attach/collect/target"
	"ompp-attach/event"
)

// feedNoCore tells the engine how long a thread was ready to run and had no core. Records of the
// walk over all threads at the end count as at the process's end.
func (p *Process) feedNoCore(w bpf.NoCore) {
	ev := event.Event{Time: w.Time, PID: w.PID, TID: w.TID, Edge: event.NoCore, Value: int64(w.More), Key: w.InCall}
	if w.First {
		ev.Num = 1
	}
	if p.ended != 0 {
		ev.Time = min(ev.Time, p.ended)
	}
	p.feed(&ev)
}

// readNoCore tells the engine how long each thread has waited for a core so far. Where the
// kernel keeps no such sum, hits do not report one either.
func (p *Process) readNoCore() {
	before := map[uint32]int64{}
	for _, tid := range target.ThreadsOf(int(p.pid)) {
		if wait, ok := target.NoCore(int(p.pid), tid); ok {
			before[uint32(tid)] = wait
		}
	}
	p.engine.NoCoreBefore(before)
	if p.recorder != nil {
		p.recorder.Stream.NoCoreBefore = before
	}
}

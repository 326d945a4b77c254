package collect

import (
	"bytes"
	"fmt"

	"ompp-attach/bpf"
	"ompp-attach/event"
	"ompp-attach/profile"
)

// TraceSched makes the kernel side record when threads leave their cores and get one again, and
// which processes have the cores meanwhile. It must be called before any process is measured.
func (m *Measurement) TraceSched() error {
	k, err := m.kernel.LoadSched()
	if err != nil {
		return fmt.Errorf("watch the scheduler: %w", err)
	}
	m.reader.sched = k
	return nil
}

// beginSched begins to record when a process's threads are off their cores.
func (rd *reader) beginSched(p *Process) {
	if rd.sched == nil {
		return
	}
	if err := rd.sched.Begin(int(p.pid)); err != nil {
		rd.logf("%v", err)
	}
}

// endSched ends these records of a process, and notes how many were lost.
func (rd *reader) endSched(p *Process) {
	if rd.sched == nil {
		return
	}
	w := rd.sched.End(int(p.pid))
	rd.mu.Lock()
	defer rd.mu.Unlock()
	if p.schedRecords == nil {
		p.schedRecords = &profile.SchedRecords{}
	}
	p.schedRecords.Records += w.Records
	p.schedRecords.Lost += w.Lost
	p.schedRecords.LostTime += w.LostTime
	p.schedRecords.Unseen += w.Unseen
}

// feedOffCore tells the engine that a thread was off its core. If the thread got a core again only
// after the end of the process's measured time, it counts as off until that end.
func (p *Process) feedOffCore(r *bpf.OffCoreRecord, a *event.OffCoreTime) {
	*a = event.OffCoreTime{Off: r.Off, Woken: r.Woken, Rival: r.By, Had: int64(r.ByTime), Moves: r.Moves, Own: int64(r.Own), Foreign: int64(r.Foreign), Lost: r.Lost}
	name, _, _ := bytes.Cut(r.ByName[:], []byte{0})
	a.Name = string(name)
	ev := event.Event{Time: r.Time, PID: r.Pid, TID: r.Tid, Edge: event.OffCore, OffCore: a}
	if p.ended != 0 && ev.Time > p.ended && a.Off < p.ended {
		ev.Time = p.ended
		a.Woken = min(a.Woken, p.ended)
	}
	p.feed(&ev)
}

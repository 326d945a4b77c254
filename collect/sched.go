package collect

import (
	"bytes"
	"fmt"

	"ompp-attach/bpf"
	"ompp-attach/event"
	"ompp-attach/profile"
)

// WatchCores makes the measurement watch when threads leave their cores and get one again, and
// which processes have the cores meanwhile. It must be called before any process is measured.
func (m *Measurement) WatchCores() error {
	k, err := m.kernel.LoadSched()
	if err != nil {
		return fmt.Errorf("watch the scheduler: %w", err)
	}
	m.reader.sched = k
	return nil
}

// beginWatching begins to watch the cores of a process's threads.
func (rd *reader) beginWatching(p *Process) {
	if rd.sched == nil {
		return
	}
	if err := rd.sched.Watch(int(p.pid)); err != nil {
		rd.logf("%v", err)
	}
}

// endWatching ends the watching of a process, and keeps what was lost.
func (rd *reader) endWatching(p *Process) {
	if rd.sched == nil {
		return
	}
	w := rd.sched.Leave(int(p.pid))
	rd.mu.Lock()
	defer rd.mu.Unlock()
	if p.watched == nil {
		p.watched = &profile.Watched{}
	}
	p.watched.Records += w.Records
	p.watched.Lost += w.Lost
	p.watched.LostTime += w.LostTime
	p.watched.Unseen += w.Unseen
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

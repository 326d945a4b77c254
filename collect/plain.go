package collect

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"ompp-attach/attribution"
	"ompp-attach/bpf"
	"ompp-attach/event"
	"ompp-attach/probes"
	"ompp-attach/symbols"
)

// Most programs of a tree (shells, compilers) use no runtime. They are not stopped,
// and nobody hears of them: when a loader has loaded libraries, the kernel side looks
// whether any of the files is not plain, that is without anything to be measured. It
// learns of each file once.

// strangers are processes that are followed and not measured; guarded by
// Measurement.living.
type strangers struct {
	asked map[uint32][]bpf.FileKey      // files that the kernel side wants to know about
	stops map[uint32][]attribution.Stop // when they were stopped for that
}

func newStrangers() strangers {
	return strangers{map[uint32][]bpf.FileKey{}, map[uint32][]attribution.Stop{}}
}

// settledFor is how old a file's last change has to be for what was read of it to
// be true of what the kernel side knows by that time: clocks of file systems tick.
const settledFor = 50 * time.Millisecond

// judge looks at what a process maps, lets the kernel side learn of it, and tells
// whether all of it is plain, and whether the process's loader is watched.
func (m *Measurement) judge(pid uint32, mapped *symbols.Process) (plain, watched bool) {
	mods, err := mapped.Modules()
	m.scanning.Lock()
	defer m.scanning.Unlock()
	plain = err == nil && len(mods) > 0 && m.allPlain(mods)
	watched = m.watchLoader(nil, mods)
	for _, file := range m.strangers.asked[pid] {
		is, ok := m.fileOf(mods, file.Inode)
		if !ok && plain {
			is, ok = bpf.FilePlain, true // its file system numbers it in two ways
		}
		if !ok || is != bpf.FileWanted && time.Since(time.Unix(0, int64(file.Changed))) < settledFor {
			continue
		}
		if err := m.follower.Learn(file, is); err != nil {
			m.logf("%v", err)
		}
	}
	delete(m.strangers.asked, pid)
	return plain, watched
}

// fileOf tells what the one module with an inode is; scanning is held.
func (m *Measurement) fileOf(mods []symbols.Module, inode uint64) (is bpf.FileIs, ok bool) {
	for i := range mods {
		switch mod := &mods[i]; {
		case mod.Inode != inode:
			continue
		case ok: // of two file systems
			return is, false
		case isLoader(mod):
			if is = bpf.FileLoader; m.loaders[mod.Object()] == nil {
				is = bpf.FileWanted
			}
		case m.plain(mod):
			is = bpf.FilePlain
		default:
			is = bpf.FileWanted
		}
		ok = true
	}
	return is, ok
}

// allPlain tells whether no module holds anything to be measured; scanning is held.
func (m *Measurement) allPlain(mods []symbols.Module) bool {
	for i := range mods {
		if !m.plain(&mods[i]) {
			return false
		}
	}
	return true
}

// plain tells that of one module. A program that calls a runtime is plain, too, if
// nothing in its own code is probed: the runtime is a file of its own.
func (m *Measurement) plain(mod *symbols.Module) bool {
	o := mod.Object()
	known, ok := m.plains[o]
	if !ok {
		known = !isOffload(filepath.Base(mod.Path)) && !namedRuntime(mod.Path) &&
			!(mayBeRuntime(o) && probes.Identify(o) != event.NoRuntime) && !(mayBeMPI(o) && probes.IsMPI(o))
		if known && len(m.finders) > 0 {
			plan, err := m.codePlan(mod)
			known = plan == nil && err == nil
		}
		m.plains[o] = known
	}
	return known
}

// adoptAfter is how long a program may run before it is sampled although it uses no
// runtime so far: it may load one later.
const adoptAfter = 250 * time.Millisecond

// adopt begins to measure processes that have run for a while, so that they are
// sampled. What had a runtime from its start is measured from its start.
func (m *Measurement) adopt() {
	followed := m.follower.Followed()
	for pid := range m.strangers.asked {
		if _, ok := followed[pid]; !ok {
			delete(m.strangers.asked, pid)
		}
	}
	for pid := range m.strangers.stops {
		if _, ok := followed[pid]; !ok {
			delete(m.strangers.stops, pid)
		}
	}
	if m.sampling.kernel == nil {
		return
	}
	for pid, flags := range followed {
		if flags&bpf.FollowKnown != 0 {
			continue
		}
		s, ok := m.follower.Started(int(pid))
		g := m.programOf(flags)
		if ok && g != nil && g.launched && !g.over && ktime()-s.Began > uint64(adoptAfter) {
			m.newProcess(int(pid), g)
		}
	}
}

// startedBefore notes when a process began to run its program, if that was before
// we came to it.
func (m *Measurement) startedBefore(p *Process) {
	s, ok := m.follower.Started(int(p.pid))
	if !ok {
		return
	}
	used := since(p.cpu0.User, s.User) + since(p.cpu0.System, s.System)
	p.began, p.cpu0 = s.Began, CPUTimes{s.User, s.System}
	for _, stop := range m.strangers.stops[p.pid] {
		if stop.From >= s.Began {
			p.meta.Stopped.Add(int64(stop.To - stop.From))
			p.engine.Stopped(stop)
		}
	}
	delete(m.strangers.stops, p.pid)
	if m.sampling.kernel != nil && used > int64(2*clockTick) {
		p.sampled.late = ktime() - s.Began
	}
}

// wentOn says that a process was let go on before all its probes were in place.
func wentOn(pid uint32, stop attribution.Stop, now uint64) string {
	return fmt.Sprintf("Process %d was let go on after %.1f s, before its probes were in place, because ompp-attach was held up: what it did in the %.1f s that followed is not measured.",
		pid, float64(stop.To-stop.From)/1e9, float64(now-stop.To)/1e9)
}

// keepAlive gives the kernel side signs of life.
func (m *Measurement) keepAlive(ctx context.Context) {
	for ctx.Err() == nil {
		m.follower.Alive()
		select {
		case <-ctx.Done():
		case <-time.After(aliveEvery):
		}
	}
}

// aliveEvery is how often the kernel side has a sign of life from us.
const aliveEvery = time.Second

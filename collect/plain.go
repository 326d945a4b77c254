package collect

import (
	"fmt"
	"time"

	"ompp-attach/attribution"
	"ompp-attach/bpf"
	"ompp-attach/collect/target"
	"ompp-attach/symbols"
)

// Most programs of a process tree (shells, compilers) use no runtime. They are not stopped, and no
// life reports them. A file is plain if nothing in it can be measured. When a loader has loaded
// libraries, the kernel side looks whether all of the files are plain. We tell it of each file
// once.

// strangers are processes that are followed but not measured; guarded by lives.mu.
type strangers struct {
	asked map[uint32][]bpf.FileKey      // by process: files that the kernel side asks about
	stops map[uint32][]attribution.Stop // by process: the stops of the time before it was measured
}

func newStrangers() strangers {
	return strangers{map[uint32][]bpf.FileKey{}, map[uint32][]attribution.Stop{}}
}

// oldEnough is the least age of a file's last change for us to tell the kernel side that the file
// is plain. Clocks of file systems advance in steps, so a younger file could be changed again
// without a new time of change.
const oldEnough = 50 * time.Millisecond

// judge looks at the files that a process maps, and answers the questions of the kernel side about
// them. It tells whether all files are plain, and whether the process's loader is watched. lives.mu
// is held.
func (lv *lives) judge(pid uint32, mapped *symbols.Process) (plain, watched bool) {
	mods, err := mapped.Modules()
	lv.placer.mu.Lock()
	defer lv.placer.mu.Unlock()
	plain = err == nil && len(mods) > 0 && lv.placer.plans.AllPlain(mods)
	watched = lv.placer.watchLoader(nil, mods)
	for _, file := range lv.strangers.asked[pid] {
		is, ok := lv.placer.fileOf(mods, file.Inode)
		if !ok && plain {
			is, ok = bpf.FilePlain, true // its file system shows two inode numbers for one file
		}
		if !ok || is != bpf.FileWanted && time.Since(time.Unix(0, int64(file.Changed))) < oldEnough {
			continue
		}
		if err := lv.follower.Learn(file, is); err != nil {
			lv.logf("%v", err)
		}
	}
	delete(lv.strangers.asked, pid)
	return plain, watched
}

// fileOf tells what the module with an inode is. ok is false if no module or more than one has the
// inode; placer.mu is held.
func (pc *placer) fileOf(mods []symbols.Module, inode uint64) (is bpf.FileIs, ok bool) {
	pc.plans.TellMapped(mods)
	for i := range mods {
		switch mod := &mods[i]; {
		case mod.Inode != inode:
			continue
		case ok: // two files of different file systems
			return is, false
		case target.IsLoader(mod):
			if is = bpf.FileLoader; pc.loaders[mod.Object()] == nil {
				is = bpf.FileWanted
			}
		case pc.plans.Plain(mod):
			is = bpf.FilePlain
		default:
			is = bpf.FileWanted
		}
		ok = true
	}
	return is, ok
}

// adoptAfter is how long a program that uses no runtime may run before it is sampled nevertheless:
// it may load a runtime later.
const adoptAfter = 250 * time.Millisecond

// adopt begins to measure processes that use no runtime and have run for adoptAfter, so that they
// are sampled. It also forgets strangers that are not followed any more. A process with a runtime
// is measured from its start. lives.mu is held.
func (lv *lives) adopt() {
	followed := lv.follower.Followed()
	for pid := range lv.strangers.asked {
		if _, ok := followed[pid]; !ok {
			delete(lv.strangers.asked, pid)
		}
	}
	for pid := range lv.strangers.stops {
		if _, ok := followed[pid]; !ok {
			delete(lv.strangers.stops, pid)
		}
	}
	if !lv.reader.sampling.On() {
		return
	}
	for pid, flags := range followed {
		if flags&bpf.FollowKnown != 0 {
			continue
		}
		s, ok := lv.follower.Started(int(pid))
		g := lv.programs.of(flags)
		if ok && g != nil && g.launched && !g.over && ktime()-s.Began > uint64(adoptAfter) {
			lv.newProcess(int(pid), g)
		}
	}
}

// startedBefore corrects the beginning of a process that had begun to run its program before we
// looked at it.
func (lv *lives) startedBefore(p *Process) {
	s, ok := lv.follower.Started(int(p.pid))
	if !ok {
		return
	}
	used := since(p.cpu0.User, s.User) + since(p.cpu0.System, s.System)
	p.began, p.cpu0 = s.Began, target.CPUTimes{User: s.User, System: s.System}
	for _, stop := range lv.strangers.stops[p.pid] {
		if stop.From >= s.Began {
			p.meta.Stopped.Add(int64(stop.To - stop.From))
			p.engine.Stopped(stop)
		}
	}
	delete(lv.strangers.stops, p.pid)
	if lv.reader.sampling.On() && used > int64(2*target.ClockTick) {
		p.sampled.Late = ktime() - s.Began
	}
}

// wentOn is the warning that a process was continued before all its probes were in place.
func wentOn(pid uint32, stop attribution.Stop, now uint64) string {
	missed := fmt.Sprintf("the %.1f s that followed are not measured", float64(now-stop.To)/1e9)
	if target.Ended(int(pid)) {
		missed = "it has ended, and what followed is not measured"
	}
	return fmt.Sprintf("Process %d was let go on after %.1f s, before its probes were in place, because ompp-attach was held up: %s.",
		pid, float64(stop.To-stop.From)/1e9, missed)
}

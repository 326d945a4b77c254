package collect

import (
	"sync"
	"time"

	"ompp-attach/attribution"
	"ompp-attach/bpf"
	"ompp-attach/collect/launch"
	"ompp-attach/collect/target"
)

// lives follows the processes: their forks, the programs that they run, the libraries that they
// load, and their ends.
type lives struct {
	*common
	reader   *reader
	placer   *placer
	profiles *profiles
	programs programs
	guard    launch.Guard

	// mu is held while a life is acted on, and while a program's measurement ends. It is taken
	// before placer.mu. It guards the fields below.
	mu               sync.Mutex
	strangers        strangers
	debuggersChecked time.Time
	missed           bool // the user has been told that lives were missed
}

var lifeNames = map[uint32]string{bpf.LifeExec: "runs a new program", bpf.LifeFork: "forked",
	bpf.LifeMap: "loaded or unloaded libraries"}

// live acts on a life of a followed process. The process has forked, has run a program, has loaded
// libraries, or maps a file that the kernel side does not know. If the process was stopped for
// that, live continues the process at the end.
func (lv *lives) live(l bpf.Life) {
	lv.mu.Lock()
	defer lv.mu.Unlock()
	if l.Kind == bpf.LifeFile {
		lv.strangers.asked[l.Pid] = append(lv.strangers.asked[l.Pid], l.File)
		return
	}
	p := lv.reader.stoppedFor(&l) // nil: not measured
	if l.Stopped != 0 {
		defer func() { lv.goOn(p, &l) }()
	}
	g := lv.programs.of(l.Flags)
	if p != nil {
		g = p.program
	}
	if g == nil || g.over {
		return
	}
	lv.logf("process %d: %s", l.Pid, lifeNames[l.Kind])
	switch l.Kind {
	case bpf.LifeExec:
		p = lv.executed(p, g, &l)
	case bpf.LifeFork:
		p = lv.forked(p, g, &l)
	case bpf.LifeMap:
		p = lv.loaded(p, g, &l)
	}
	if p != nil {
		lv.placeProbes(p, &l)
	}
}

// executed acts on an exec. p is the process if it was measured before, else nil. executed returns
// the process that is measured from now on, or nil if it needs no probes yet.
func (lv *lives) executed(p *Process, g *Program, l *bpf.Life) *Process {
	if p != nil && l.Stopped == 0 && l.Time < p.found {
		return p // newProcess has described the program of this exec already
	}
	attached := p != nil && p.meta.Attached
	if p != nil {
		lv.retire(p, "ran another program")
	}
	delete(lv.strangers.stops, l.Pid)
	delete(lv.strangers.asked, l.Pid)
	if l.Runs == 0 {
		lv.strangers.asked[l.Pid] = []bpf.FileKey{l.File}
	}
	pid := int(l.Pid)
	if pid != g.pid && (l.Runs != 0 || lv.mayRun(pid)) {
		lv.follower.Change(pid, 0, bpf.FollowKnown)
		return nil
	}
	p = lv.newProcess(pid, g)
	lv.reader.mu.Lock()
	p.meta.Attached = attached
	lv.reader.mu.Unlock()
	if g.launched {
		_, _ = lv.judge(p.pid, p.mapped)
	}
	return p
}

// forked acts on the start of a process. earlier is a measured process of the same PID, which has
// ended, or nil.
func (lv *lives) forked(earlier *Process, g *Program, l *bpf.Life) *Process {
	if earlier != nil {
		lv.retire(earlier, endedSomehow)
	}
	return lv.newProcess(int(l.Pid), g)
}

// loaded acts on a change of the libraries of a process. p is nil if the process was not measured.
// loaded returns nil if the process still maps nothing that can be measured.
func (lv *lives) loaded(p *Process, g *Program, l *bpf.Life) *Process {
	switch {
	case p != nil && g.launched:
		_, _ = lv.judge(p.pid, p.mapped)
	case p == nil && lv.isStranger(int(l.Pid)):
		return nil
	case p == nil:
		p = lv.newProcess(int(l.Pid), g)
		if l.Stopped != 0 {
			lv.reader.stoppedFor(l)
		}
	}
	// Records of the time before belong to the libraries that were mapped then, and their clock has
	// not been moved by this stop. So they are read before the process is looked at again.
	if l.Stopped != 0 {
		lv.writeFolds(p, true)
	}
	lv.reader.drainAll()
	return p
}

// mayRun tells whether a process that was stopped at its exec may go on without probes. It may run
// on if its loader is watched, so that it will be reported again. It may also run on if it maps
// nothing that can be measured.
func (lv *lives) mayRun(pid int) bool {
	plain, watched := lv.judge(uint32(pid), target.Files(pid))
	target.PopFiles(pid) // removes the entry that Files has made
	return plain || watched
}

// isStranger tells whether a process that is not measured still maps nothing that can be measured.
func (lv *lives) isStranger(pid int) bool {
	plain, _ := lv.judge(uint32(pid), target.Files(pid))
	if plain {
		target.PopFiles(pid)
	}
	return plain
}

// placeProbes places probes in the files that a process maps after a life.
func (lv *lives) placeProbes(p *Process, l *bpf.Life) {
	pid, g := int(p.pid), p.program
	n, _ := lv.placer.scan(p) // p's warnings have the error
	if g.launched && p.first && l.Stopped != 0 {
		lv.checkUser(p, n > 0)
	}
	if (n > 0 || lv.placer.probed(p)) && g.launched {
		lv.follower.Change(pid, bpf.FollowStop|bpf.FollowChildren|bpf.FollowProbed, 0)
	}
	if took := lv.placer.tookLoops(p); took && n == 0 && l.Stopped == 0 {
		lv.reader.warn("Libraries were loaded while process %d ran: loops that it executed before their probes were placed, a moment later, are not in the report.", pid)
	}
	if late := lv.placer.tookCode(p); late && l.Stopped == 0 {
		lv.reader.warn("Process %d loaded libraries while it ran: what their code did before probes were placed for it, a moment later, is not in the report.", pid)
	}
	if n > 0 && l.Stopped == 0 {
		lv.reader.mu.Lock()
		p.warnings = append(p.warnings, "A runtime was loaded while the process ran: what it did before its probes were placed, a moment later, is not in this report.")
		p.engine.Existing(target.ThreadsOf(pid), ktime())
		lv.reader.mu.Unlock()
	}
}

// goOn continues a process that was stopped for a life, and takes the time of the stop out of the
// program's time. p is nil if the process is not measured.
func (lv *lives) goOn(p *Process, l *bpf.Life) {
	// When the kernel side continued the process; 0: it has not.
	early := lv.follower.WentOn(int(l.Pid), l.Time)
	lv.reader.mu.Lock()
	now := ktime()
	until := now
	if early != 0 {
		until = early
	}
	stop := attribution.Stop{From: l.Time, To: until}
	switch {
	case p == nil:
		lv.strangerGoesOn(l, stop, early != 0, now)
	case !lv.reader.takenOut(p):
		lv.subtractStop(p, l, stop)
		if early != 0 {
			p.warnOnce(wentOn(p.pid, stop, now))
			if tids := target.ThreadsOf(int(p.pid)); len(tids) > 0 {
				p.engine.Existing(tids, now)
			}
		}
	}
	lv.reader.mu.Unlock()
	if err := lv.follower.Continue(int(l.Pid), l.Time); err != nil {
		lv.reader.warn("%v", err)
	}
}

// strangerGoesOn notes the stop of a process that is not measured, because the process may be
// measured later. early says that the process was continued before we knew its mapped files; then
// the user is told. reader.mu is held.
func (lv *lives) strangerGoesOn(l *bpf.Life, stop attribution.Stop, early bool, now uint64) {
	if !early {
		lv.strangers.stops[l.Pid] = append(lv.strangers.stops[l.Pid], stop)
	} else if g := lv.programs.of(l.Flags); g != nil {
		g.troubles = append(g.troubles, wentOn(l.Pid, stop, now))
	}
}

// subtractStop takes a stop for a life out of a process's time. reader.mu is held.
func (lv *lives) subtractStop(p *Process, l *bpf.Life, stop attribution.Stop) {
	later := l.Time > p.continued // otherwise the earlier SIGCONT has ended this stop, too
	if later {
		took := time.Duration(stop.To - stop.From)
		p.meta.Stopped.Add(int64(took))
		lv.logf("process %d: stopped for %s", l.Pid, took)
	}
	tool := target.ReadOwnCPU()
	switch {
	case l.Kind == bpf.LifeExec || l.Kind == bpf.LifeFork:
		p.began, p.tool0 = stop.To, tool
		p.engine.Began(stop.To)
	case later:
		p.tool0 += tool - p.toolAtStop // a stopped process does not wait for the tool's core
		p.engine.Stopped(stop)
	}
	p.stopped, p.continued = 0, stop.To
}

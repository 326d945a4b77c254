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

	// mu is held while a life is acted on, and while a program's measurement ends. It is taken before
	// placer.mu. It guards the fields below.
	mu              sync.Mutex
	strangers       strangers
	debuggersLooked time.Time
	missed          bool // the user has been told that lives were missed
}

var lifeNames = map[uint32]string{bpf.LifeExec: "runs a new program", bpf.LifeFork: "forked",
	bpf.LifeMap: "loaded or unloaded libraries"}

// live acts on a life: a followed process has forked, has run a program, has loaded libraries, or
// maps a file that the kernel side does not know. If the process was stopped for it, live continues
// it at the end.
func (lv *lives) live(l bpf.Life) {
	lv.mu.Lock()
	defer lv.mu.Unlock()
	pid := int(l.Pid)
	if l.Kind == bpf.LifeFile {
		lv.strangers.asked[l.Pid] = append(lv.strangers.asked[l.Pid], l.File)
		return
	}
	lv.reader.mu.Lock()
	p := lv.reader.procs[l.Pid]
	if p != nil && l.Stopped != 0 {
		p.stopped = l.Time
	}
	lv.reader.mu.Unlock()
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
	lv.logf("process %d: %s", pid, lifeNames[l.Kind])
	switch l.Kind {
	case bpf.LifeExec:
		if p != nil && l.Stopped == 0 && l.Time < p.found {
			break // newProcess has described the program of this exec already
		}
		attached := p != nil && p.meta.Attached
		if p != nil {
			lv.retire(p, "ran another program")
			p = nil
		}
		delete(lv.strangers.stops, l.Pid)
		delete(lv.strangers.asked, l.Pid)
		if l.Runs == 0 {
			lv.strangers.asked[l.Pid] = []bpf.FileKey{l.File}
		}
		if pid != g.pid && (l.Runs != 0 || lv.mayRun(pid)) {
			lv.follower.Change(pid, 0, bpf.FollowKnown)
			return
		}
		p = lv.newProcess(pid, g)
		lv.reader.mu.Lock()
		p.meta.Attached = attached
		lv.reader.mu.Unlock()
		if g.launched {
			_, _ = lv.judge(p.pid, p.mapped)
		}
	case bpf.LifeFork:
		if p != nil { // an earlier process of this PID has ended
			lv.retire(p, endedSomehow)
		}
		p = lv.newProcess(pid, g)
	case bpf.LifeMap:
		if p == nil {
			if lv.isStranger(pid) {
				return
			}
			p = lv.newProcess(pid, g)
			lv.reader.mu.Lock()
			p.stopped = l.Time * uint64(min(l.Stopped, 1))
			lv.reader.mu.Unlock()
		} else if g.launched {
			_, _ = lv.judge(p.pid, p.mapped)
		}
		// Records of the time before belong to the libraries that were mapped then, and their clock
		// has not been moved by this stop. So they are read before the process is looked at again.
		if l.Stopped != 0 {
			lv.settleFolds(p, true)
		}
		lv.reader.drainAll()
	}
	lv.look(p, &l)
}

// mayRun tells whether a process that was stopped at its exec may go on without probes: the
// loader's watch will report it again, or it maps nothing that can be measured.
func (lv *lives) mayRun(pid int) bool {
	plain, watched := lv.judge(uint32(pid), target.Files(pid))
	target.TakeFiles(pid) // removes the entry that add made
	return plain || watched
}

// isStranger tells whether a process that is not measured still maps nothing that can be measured.
func (lv *lives) isStranger(pid int) bool {
	plain, _ := lv.judge(uint32(pid), target.Files(pid))
	if plain {
		target.TakeFiles(pid)
	}
	return plain
}

// look places probes in the files that a process maps after a life.
func (lv *lives) look(p *Process, l *bpf.Life) {
	pid, g := int(p.pid), p.program
	n, _ := lv.placer.scan(p) // p's warnings have the error
	if g.launched && p.first && l.Stopped != 0 {
		lv.checkUser(p, n > 0)
	}
	if (n > 0 || lv.placer.probed(p)) && g.launched {
		lv.follower.Change(pid, bpf.FollowStop|bpf.FollowChildren|bpf.FollowProbed, 0)
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
	early := lv.follower.WentOn(int(l.Pid), l.Time)
	lv.reader.mu.Lock()
	now := ktime()
	until := now
	if early != 0 {
		until = early
	}
	stop := attribution.Stop{From: l.Time, To: until}
	switch {
	case p != nil && lv.reader.takenOut(p):
	case p == nil && early != 0:
		if g := lv.programs.of(l.Flags); g != nil {
			g.troubles = append(g.troubles, wentOn(l.Pid, stop, now))
		}
	case p == nil:
		lv.strangers.stops[l.Pid] = append(lv.strangers.stops[l.Pid], stop)
	default:
		if l.Time > p.continued {
			took := time.Duration(until - l.Time)
			p.meta.Stopped.Add(int64(took))
			defer lv.logf("process %d: stopped for %s", l.Pid, took)
		}
		switch {
		case l.Kind == bpf.LifeExec || l.Kind == bpf.LifeFork:
			p.began = until
		case l.Time > p.continued: // otherwise the earlier SIGCONT has ended this stop, too
			p.engine.Stopped(stop)
		}
		p.stopped, p.continued = 0, until
		if early != 0 {
			p.warnOnce(wentOn(p.pid, stop, now))
			p.engine.Existing(target.ThreadsOf(int(p.pid)), now)
		}
	}
	lv.reader.mu.Unlock()
	if err := lv.follower.Continue(int(l.Pid), l.Time); err != nil {
		lv.reader.warn("%v", err)
	}
}

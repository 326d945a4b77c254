package collect

import (
	"time"

	"ompp-attach/attribution"
	"ompp-attach/bpf"
	"ompp-attach/collect/target"
)

var lifeNames = map[uint32]string{bpf.LifeExec: "runs a new program", bpf.LifeFork: "forked",
	bpf.LifeMap: "loaded or unloaded libraries"}

// live acts on a life: a followed process has forked, has run a program, has loaded libraries, or
// maps a file that the kernel side does not know. If the process was stopped for it, live continues
// it at the end.
func (m *Measurement) live(l bpf.Life) {
	m.living.Lock()
	defer m.living.Unlock()
	pid := int(l.Pid)
	if l.Kind == bpf.LifeFile {
		m.strangers.asked[l.Pid] = append(m.strangers.asked[l.Pid], l.File)
		return
	}
	m.mu.Lock()
	p := m.procs[l.Pid]
	if p != nil && l.Stopped != 0 {
		p.stopped = l.Time
	}
	m.mu.Unlock()
	if l.Stopped != 0 {
		defer func() { m.goOn(p, &l) }()
	}
	g := m.programOf(l.Flags)
	if p != nil {
		g = p.program
	}
	if g == nil || g.over {
		return
	}
	m.logf("process %d: %s", pid, lifeNames[l.Kind])
	switch l.Kind {
	case bpf.LifeExec:
		if p != nil && l.Stopped == 0 && l.Time < p.found {
			break // newProcess has described the program of this exec already
		}
		attached := p != nil && p.meta.Attached
		if p != nil {
			m.retire(p, "ran another program")
			p = nil
		}
		delete(m.strangers.stops, l.Pid)
		delete(m.strangers.asked, l.Pid)
		if l.Runs == 0 {
			m.strangers.asked[l.Pid] = []bpf.FileKey{l.File}
		}
		if pid != g.pid && (l.Runs != 0 || m.mayRun(pid)) {
			m.follower.Change(pid, 0, bpf.FollowKnown)
			return
		}
		p = m.newProcess(pid, g)
		m.mu.Lock()
		p.meta.Attached = attached
		m.mu.Unlock()
		if g.launched {
			_, _ = m.judge(p.pid, p.mapped)
		}
	case bpf.LifeFork:
		if p != nil { // an earlier process of this PID has ended
			m.retire(p, endedSomehow)
		}
		p = m.newProcess(pid, g)
	case bpf.LifeMap:
		if p == nil {
			if m.isStranger(pid) {
				return
			}
			p = m.newProcess(pid, g)
			m.mu.Lock()
			p.stopped = l.Time * uint64(min(l.Stopped, 1))
			m.mu.Unlock()
		} else if g.launched {
			_, _ = m.judge(p.pid, p.mapped)
		}
		// Records of the time before belong to the libraries that were mapped then, and their clock
		// has not been moved by this stop. So they are read before the process is looked at again.
		if l.Stopped != 0 {
			m.settleFolds(p, true)
		}
		m.drainAll()
	}
	m.look(p, &l)
}

// mayRun tells whether a process that was stopped at its exec may go on without probes: the
// loader's watch will report it again, or it maps nothing that can be measured.
func (m *Measurement) mayRun(pid int) bool {
	plain, watched := m.judge(uint32(pid), target.Files(pid))
	target.TakeFiles(pid) // removes the entry that add made
	return plain || watched
}

// isStranger tells whether a process that is not measured still maps nothing that can be measured.
func (m *Measurement) isStranger(pid int) bool {
	plain, _ := m.judge(uint32(pid), target.Files(pid))
	if plain {
		target.TakeFiles(pid)
	}
	return plain
}

// look places probes in the files that a process maps after a life.
func (m *Measurement) look(p *Process, l *bpf.Life) {
	pid, g := int(p.pid), p.program
	n, _ := m.scan(p) // p's warnings have the error
	if g.launched && p.first && l.Stopped != 0 {
		m.checkUser(p, n > 0)
	}
	if (n > 0 || m.probed(p)) && g.launched {
		m.follower.Change(pid, bpf.FollowStop|bpf.FollowChildren|bpf.FollowProbed, 0)
	}
	if n > 0 && l.Stopped == 0 {
		m.mu.Lock()
		p.warnings = append(p.warnings, "A runtime was loaded while the process ran: what it did before its probes were placed, a moment later, is not in this report.")
		p.engine.Existing(target.ThreadsOf(pid), ktime())
		m.mu.Unlock()
	}
}

// goOn continues a process that was stopped for a life, and takes the time of the stop out of the
// program's time. p is nil if the process is not measured.
func (m *Measurement) goOn(p *Process, l *bpf.Life) {
	early := m.follower.WentOn(int(l.Pid), l.Time)
	m.mu.Lock()
	now := ktime()
	until := now
	if early != 0 {
		until = early
	}
	stop := attribution.Stop{From: l.Time, To: until}
	switch {
	case p != nil && m.settled(p):
	case p == nil && early != 0:
		if g := m.programWith(l.Flags); g != nil {
			g.troubles = append(g.troubles, wentOn(l.Pid, stop, now))
		}
	case p == nil:
		m.strangers.stops[l.Pid] = append(m.strangers.stops[l.Pid], stop)
	default:
		if l.Time > p.continued {
			took := time.Duration(until - l.Time)
			p.meta.Stopped.Add(int64(took))
			defer m.logf("process %d: stopped for %s", l.Pid, took)
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
	m.mu.Unlock()
	if err := m.follower.Continue(int(l.Pid), l.Time); err != nil {
		m.warn("%v", err)
	}
}

// probed tells whether a process has probes in its own code.
func (m *Measurement) probed(p *Process) bool {
	m.scanning.Lock()
	defer m.scanning.Unlock()
	for _, pl := range p.code {
		if pl.link != nil {
			return true
		}
	}
	return false
}

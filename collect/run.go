package collect

import (
	"context"
	"fmt"
	"os"
	"sync"
	"syscall"
	"time"

	"ompp-attach/collect/launch"
	"ompp-attach/collect/target"
)

// Run launches a program and measures it, its children and their children from their first
// instruction, until the program ends. args[0] is the program's name. Signals from the channel are
// passed on to the program.
func (m *Measurement) Run(path string, args []string, signals <-chan os.Signal) (*Result, error) {
	l, err := launch.Prepare(path, args)
	if err != nil {
		return nil, err
	}
	stop := m.Start()
	g, err := m.Follow(l.PID())
	if err != nil {
		l.Abandon()
		_ = stop()
		return nil, err
	}
	if err := l.Start(signals); err != nil {
		_ = stop()
		return nil, err
	}
	// A terminal sends its signals to the whole process group, so the program has got them already.
	// Other signals were sent to us alone.
	e := l.Wait(signals, func(s syscall.Signal) bool {
		return s != syscall.SIGINT && s != syscall.SIGQUIT || !launch.Foreground()
	})
	res := g.End(e)
	err = stop()
	if g.Refusal() != nil {
		return nil, g.Refusal()
	}
	return res, err
}

// Start starts the goroutines that read records and follow processes. stop ends them, continues all
// stopped processes, and returns the first error of the reader.
func (m *Measurement) Start() (stop func() error) {
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	var errRead error
	urgent := []func(){func() { errRead = m.read(ctx) }}
	if m.budget != nil {
		urgent = append(urgent, func() { m.keepBudget(ctx) })
	}
	if m.sampling.limit.keep {
		wg.Go(func() { m.keepSampling(ctx) })
	}
	wg.Go(func() { urgently(urgent...) })
	wg.Go(func() { m.watch(ctx) })
	wg.Go(func() { m.keepAlive(ctx) })
	return sync.OnceValue(func() error {
		// Children that outlive the measurement must not wait for the making of its profiles.
		m.follower.StopAll()
		cancel()
		m.follower.Wake()
		wg.Wait()
		m.follower.StopAll() // processes that were stopped meanwhile
		return errRead
	})
}

// reapEvery is how often we look for processes that have ended, if there may be any. Each look
// takes some 50 us of a processor.
const reapEvery = 100 * time.Millisecond

// nextReap returns when to look next for processes that have ended, if no life is reported before.
func (m *Measurement) nextReap() time.Time {
	m.living.Lock()
	defer m.living.Unlock()
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, p := range m.procs {
		if m.reapable(p) {
			return time.Now().Add(reapEvery)
		}
	}
	return time.Now().Add(lookEvery)
}

// reapable tells whether nobody else waits for the process's end.
func (m *Measurement) reapable(p *Process) bool { return !p.first && !p.program.over }

// watch acts on lives as the kernel side reports them, until ctx ends.
func (m *Measurement) watch(ctx context.Context) {
	next := m.nextReap()
	for ctx.Err() == nil {
		l, ok, err := m.follower.Next(next)
		if err != nil {
			m.warn("following processes failed: %v; runtimes loaded from now on are not measured", err)
			for ctx.Err() == nil { // the kernel side goes on stopping processes
				m.follower.StopAll()
				time.Sleep(reapEvery)
			}
			return
		}
		if ok {
			m.live(l)
			if at := time.Now().Add(reapEvery); at.Before(next) {
				next = at
			}
		}
		if now := time.Now(); !now.Before(next) {
			m.reap()
			next = m.nextReap()
		}
	}
}

// reap retires processes that have ended. The end of a program's first process is waited for
// elsewhere.
func (m *Measurement) reap() {
	m.living.Lock()
	defer m.living.Unlock()
	if n := m.follower.Missed(); n > 0 && !m.missed {
		m.missed = true
		m.warn("Processes were started, or libraries loaded, faster than probes could be placed: %d times or more a program was not measured, or not from its beginning.", n)
	}
	m.adopt()
	m.watchDebuggers()
	m.mu.Lock()
	var gone []*Process
	for pid, p := range m.procs {
		if m.reapable(p) && target.Ended(int(pid)) {
			gone = append(gone, p)
		}
	}
	m.mu.Unlock()
	for _, p := range gone {
		p.gone = true
		m.retire(p, endedSomehow)
		m.follower.Forget(int(p.pid))
	}
}

// over sets the end of a process's measured time to now, because removing its probes takes some
// time. Folding is held until letFold.
func (m *Measurement) over(pid int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if p := m.procs[uint32(pid)]; p != nil && p.ended == 0 {
		m.hold()
		p.ended = ktime()
	}
}

// retire ends the measurement of one process: its probes go, and its records are read. A goroutine
// makes its profile, because stopped processes may be waiting for the caller.
func (m *Measurement) retire(p *Process, how string) {
	m.leave(p)
	m.drainAll()
	m.takeOut(p)
	p.program.settling.Go(func() { m.finish(p, how) })
}

// takeOut takes a process out of procs. The caller then makes its profile.
func (m *Measurement) takeOut(p *Process) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.procs, p.pid)
	p.program.done = append(p.program.done, p)
}

// leave ends a process's measured time and takes its probes away.
func (m *Measurement) leave(p *Process) {
	m.over(int(p.pid)) // which also holds folding, until letFold
	m.mu.Lock()
	p.readCPU()
	m.mu.Unlock()
	m.leaveSampling(p)
	m.detach(p)
	m.settleFolds(p, false)
	m.cutOffMPI(p)
	m.letFold()
}

func (m *Measurement) warn(format string, args ...any) {
	s := fmt.Sprintf(format, args...)
	m.logf("%s", s)
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, p := range m.procs {
		p.warnings = append(p.warnings, s)
	}
}

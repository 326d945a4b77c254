package collect

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"os/exec"
	"slices"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"ompp-attach/attribution"
	"ompp-attach/bpf"
)

// Result is what a measurement gave.
type Result struct {
	Profiles []*attribution.Profile // the first process's first, then in order of their ends
	First    *attribution.Profile   // of the process launched or attached to; nil if it used no OpenMP
	Exit     int                    // exit status of a launched program; 128+N if killed by signal N
	Lost     uint64                 // records dropped in the kernel
	Streams  []*attribution.Stream  // with RecordEvents: of the Profiles, in their order
	Troubles []string               // sentences: why processes that have no profile could not be measured
	Unfound  []string               // sentences: which functions were asked for and never found
}

// Run launches a program and measures it, its children and their children,
// from their first instruction. args[0] is the program's name. What comes from
// signals is passed on to the program until it ends.
func (m *Measurement) Run(path string, args []string, signals <-chan os.Signal) (*Result, error) {
	l, err := launch(path, args)
	if err != nil {
		return nil, err
	}
	pid := l.cmd.Process.Pid
	if err := m.follower.Follow(pid, bpf.FollowStop|bpf.FollowChildren); err != nil {
		return nil, err
	}
	stop := m.start(pid, true)
	if err := l.start(); err != nil {
		stop()
		return nil, err
	}
	ended := make(chan error, 1)
	go func() { ended <- l.cmd.Wait() }()
	var werr error
wait:
	for {
		select {
		case s := <-signals:
			// The terminal sends its signals to the whole process group: the
			// program has had them. Others were sent to us alone.
			if s != syscall.SIGINT && s != syscall.SIGQUIT || !foreground() {
				_ = l.cmd.Process.Signal(s)
			}
		case werr = <-ended:
			m.over(pid)
			break wait
		}
	}
	if m.refusal() != nil {
		_ = stop()
		return nil, m.refusal()
	}
	res := &Result{Exit: exitStatus(werr, l.cmd.ProcessState)}
	m.mu.Lock()
	if p := m.procs[uint32(pid)]; p != nil {
		if ru, ok := l.cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
			p.cpu = cpuTimes{uint64(ru.Utime.Nano()), uint64(ru.Stime.Nano())}
		}
	}
	m.mu.Unlock()
	err = stop()
	m.retireAll(howEnded(l.cmd.ProcessState))
	m.collect(res)
	return res, err
}

// foreground tells whether we share a terminal with the program, whose
// keyboard signals then reach both.
func foreground() bool {
	// Standard input may be a file: ask the controlling terminal itself.
	tty, err := os.Open("/dev/tty")
	if err != nil {
		return false
	}
	defer tty.Close()
	pgrp, err := unix.IoctlGetInt(int(tty.Fd()), unix.TIOCGPGRP)
	return err == nil && pgrp == unix.Getpgrp()
}

func exitStatus(err error, st *os.ProcessState) int {
	var ee *exec.ExitError
	if err != nil && !errors.As(err, &ee) || st == nil {
		return 1
	}
	if ws, ok := st.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return 128 + int(ws.Signal())
	}
	return st.ExitCode()
}

func howEnded(st *os.ProcessState) string {
	if ws, ok := st.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return fmt.Sprintf("killed by signal %d (%s)", ws.Signal(), ws.Signal())
	}
	return fmt.Sprintf("exit status %d", st.ExitCode())
}

// Attach measures a running process until ctx ends or the process does. It
// calls attached once the probes are in place.
func (m *Measurement) Attach(ctx context.Context, pid int, attached func()) (*Result, error) {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return nil, fmt.Errorf("process %d: %w", pid, err)
	}
	defer unix.Close(fd)
	p := m.newProcess(pid, true)
	p.meta.Attached = true
	m.running = true
	p.began = math.MaxUint64 // not yet
	if err := m.follower.Follow(pid, 0); err != nil {
		return nil, err
	}
	stop := m.start(pid, false)
	found, err := m.scan(p)
	if err == nil && found == 0 {
		err = noRuntime(pid)
	}
	if refusal := m.user.refuses(); refusal != nil {
		found, err = 0, refusal
	}
	if found == 0 {
		m.detach(p)
		_ = stop()
		return nil, err
	}
	// Probes come one by one; only now does the stream leave nothing out. Each
	// thread may be inside a region whose beginning was not seen.
	m.mu.Lock()
	p.began, p.cpu0 = ktime(), readCPU(pid)
	tids := threadsOf(pid)
	p.engine.Existing(tids, p.began)
	if p.recorder != nil {
		p.recorder.Stream.Existing = tids
	}
	m.mu.Unlock()
	attached()
	ended := "detached"
	exited := make(chan struct{})
	done := make(chan struct{})
	defer close(done)
	go func() {
		defer close(exited)
		fds := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		for {
			n, err := unix.Poll(fds, 50)
			if n > 0 || err != nil && err != unix.EINTR {
				return
			}
			select {
			case <-done:
				return
			default:
			}
			m.mu.Lock()
			if p := m.procs[uint32(pid)]; p != nil { // it may run another program by now
				p.readCPU()
			}
			m.mu.Unlock()
		}
	}()
	select {
	case <-ctx.Done():
	case <-exited:
		ended = "the process ended"
	}
	m.over(pid)
	m.mu.Lock()
	if now := m.procs[uint32(pid)]; now != nil {
		p = now
	}
	m.mu.Unlock()
	m.detach(p)
	m.cutOffMPI(p)
	err = stop()
	res := &Result{}
	m.retireAll(ended)
	m.collect(res)
	return res, err
}

// start runs the reader and the watch on lives; the function it returns ends
// both, lets everybody go on that was stopped, and gives the first error.
func (m *Measurement) start(pid int, launch bool) func() error {
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	var errRead error
	wg.Add(2)
	go func() {
		defer wg.Done()
		errRead = m.read(ctx)
	}()
	go func() {
		defer wg.Done()
		m.watch(ctx, pid, launch)
	}()
	return sync.OnceValue(func() error {
		// Children that outlive the measurement must not wait for its profiles.
		m.follower.StopAll()
		cancel()
		wg.Wait()
		m.follower.StopAll() // those that were just about to be stopped
		return errRead
	})
}

// watch acts on what followed processes do.
func (m *Measurement) watch(ctx context.Context, first int, launch bool) {
	for ctx.Err() == nil {
		l, ok, err := m.follower.Next(time.Now().Add(20 * time.Millisecond))
		if err != nil {
			m.warn("following processes failed: %v; runtimes loaded from now on are not measured", err)
			return
		}
		if !ok {
			m.reap()
			continue
		}
		m.live(l, first, launch)
	}
}

var lifeNames = map[uint32]string{bpf.LifeExec: "runs a new program", bpf.LifeFork: "forked", bpf.LifeMap: "loaded or unloaded libraries"}

func (m *Measurement) live(l bpf.Life, first int, launch bool) {
	pid := int(l.Pid)
	m.mu.Lock()
	p := m.procs[l.Pid]
	m.mu.Unlock()
	if l.Stopped != 0 {
		defer func() {
			// The time that it was stopped is not the program's.
			m.mu.Lock()
			now := ktime()
			switch {
			case l.Kind != bpf.LifeMap:
				p.began = now
			case l.Time > p.continued: // else continuing it has undone this stop as well
				p.paused += now - l.Time
			}
			p.continued = now
			m.mu.Unlock()
			if err := m.follower.Continue(pid); err != nil {
				m.warn("%v", err)
			}
		}()
	}
	m.logf("process %d: %s", pid, lifeNames[l.Kind])
	switch l.Kind {
	case bpf.LifeExec:
		if p != nil {
			m.retire(p, "ran another program")
		}
		attached := p != nil && p.meta.Attached
		p = m.newProcess(pid, pid == first)
		m.mu.Lock()
		p.meta.Attached = attached
		m.mu.Unlock()
	case bpf.LifeFork:
		p = m.newProcess(pid, false)
	case bpf.LifeMap:
		if p == nil {
			p = m.newProcess(pid, pid == first)
		}
		// What it did before is resolved by the libraries that it had then.
		m.drainAll()
	}
	n, _ := m.scan(p) // what it could not do is among p's warnings
	if launch && p.first && l.Stopped != 0 {
		m.checkUser(p, n > 0)
	}
	if (n > 0 || m.probed(p)) && launch {
		_ = m.follower.Follow(pid, bpf.FollowStop|bpf.FollowChildren|bpf.FollowProbed)
	}
	if n > 0 && l.Stopped == 0 {
		m.mu.Lock()
		p.warnings = append(p.warnings, "A runtime was loaded while the process ran: what it did before its probes were placed, a moment later, is not in this report.")
		p.engine.Existing(threadsOf(pid), ktime())
		m.mu.Unlock()
	}
}

// reap retires processes that have ended. Launched programs' own end is
// waited for elsewhere.
func (m *Measurement) reap() {
	m.mu.Lock()
	var gone []*Process
	for pid, p := range m.procs {
		if p.first {
			continue
		}
		p.readCPU()
		if ended(int(pid)) {
			gone = append(gone, p)
		}
	}
	m.mu.Unlock()
	for _, p := range gone {
		m.retire(p, "the process ended")
		m.follower.Forget(int(p.pid))
	}
}

// over notes that a process's measured time is over: taking its probes away
// takes a while of its own.
func (m *Measurement) over(pid int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if p := m.procs[uint32(pid)]; p != nil && p.ended == 0 {
		p.ended = ktime()
	}
}

// retire ends the measurement of one process: its probes go, what it wrote is
// read, its profile is settled.
func (m *Measurement) retire(p *Process, how string) {
	m.leave(p)
	m.drainAll()
	m.finish(p, how)
}

// leave ends a process's measured time and takes its probes away.
func (m *Measurement) leave(p *Process) {
	m.over(int(p.pid))
	m.mu.Lock()
	p.readCPU()
	m.mu.Unlock()
	m.detach(p)
	m.cutOffMPI(p)
}

// retireAll ends the measurement of all processes, first of the first one. All
// are rid of their probes before the first profile is settled, which may take a
// while.
func (m *Measurement) retireAll(how string) {
	m.mu.Lock()
	procs := slices.SortedFunc(maps.Values(m.procs), func(a, b *Process) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a.pid, b.pid))
	})
	m.mu.Unlock()
	for _, p := range procs {
		m.leave(p)
	}
	m.drainAll()
	for _, p := range procs {
		if p.first {
			m.finish(p, how)
		} else {
			m.finish(p, "still running when measurement ended")
		}
	}
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

// collect gathers the profiles, and what the kernel could not deliver.
func (m *Measurement) collect(res *Result) {
	dropped, err := m.kernel.Dropped()
	if err == nil {
		for _, n := range dropped {
			res.Lost += n
		}
	}
	res.Lost += m.mpi.dropped()
	m.logf("%d records of processes that were not followed, or not any more", m.strays)
	res.Troubles = m.troubles
	if m.user != nil {
		res.Unfound = m.user.Unmatched()
	}
	slices.SortStableFunc(m.done, func(a, b *Process) int {
		return cmp.Compare(rank(a), rank(b))
	})
	for _, p := range m.done {
		if p.profile == nil || p.profile.Meta.Hits == 0 && !p.first {
			continue
		}
		p.profile.Meta.LostHits = res.Lost
		if p.first {
			res.First = p.profile
		}
		res.Profiles = append(res.Profiles, p.profile)
		if p.recorder != nil {
			res.Streams = append(res.Streams, p.recorder.Stream)
		}
	}
}

func rank(p *Process) int {
	if p.first {
		return 0
	}
	return 1
}

// RecordEvents makes the measurement keep every event, for Result.Streams.
func (m *Measurement) RecordEvents() { m.recording = true }

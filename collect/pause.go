package collect

import (
	"fmt"
	"time"

	"ompp-attach/collect/target"
	"ompp-attach/symbols"
)

// Pause takes a process's probes away until Resume. Meanwhile the process runs as if it were not
// measured. The error is a sentence.
func (m *Measurement) Pause(pid int) error {
	p, err := m.measured(pid)
	if err != nil {
		return err
	}
	begin := time.Now()
	m.scanning.Lock()
	if p.offGone || p.detached {
		m.scanning.Unlock()
		return fmt.Errorf("the measurement of process %d is paused already, or over", pid)
	}
	m.hold()
	defer m.letFold()
	m.mu.Lock()
	if m.settled(p) || p.ended != 0 {
		m.mu.Unlock()
		m.scanning.Unlock()
		return errNotMeasured
	}
	p.offGone = true
	at := ktime() // mu is held, so all events that the engine got are older
	p.offSince = at
	m.mu.Unlock()
	links := p.takeLinks()
	m.scanning.Unlock()
	m.leaveSampling(p)
	closeLinks(links)
	m.settleFolds(p, false)
	m.cutOffMPI(p)
	m.drainAll()
	m.mu.Lock()
	if m.settled(p) {
		m.mu.Unlock()
		return errNotMeasured
	}
	p.engine.Pause(at)
	m.mu.Unlock()
	m.logf("process %d: paused in %s", pid, time.Since(begin).Round(time.Microsecond))
	return nil
}

// Resume goes on measuring a process after Pause. As after attaching, its threads may be inside
// regions. The error is a sentence.
func (m *Measurement) Resume(pid int) error {
	p, err := m.measured(pid)
	if err != nil {
		return err
	}
	begin := time.Now()
	m.scanning.Lock()
	if !p.offGone || p.detached {
		m.scanning.Unlock()
		return fmt.Errorf("the measurement of process %d is not paused", pid)
	}
	p.offGone = false
	p.alone = true  // its new plans differ from those of other processes
	if !m.running { // from now on hits must tell how deeply regions are nested
		m.running = true
		m.plans = map[*symbols.Object]planned{}
	}
	p.placed, p.code = map[target.FileID]placed{}, map[target.FileID]placed{}
	p.mpi.placed = map[target.FileID]*placedMPI{}
	m.hold()
	defer m.letFold()
	err = m.kernel.NewEra()
	m.scanning.Unlock()
	if err != nil {
		return err
	}
	if _, err := m.scan(p); err != nil {
		return fmt.Errorf("the probes of process %d could not be placed again: %w", pid, err)
	}
	m.mu.Lock()
	if m.settled(p) || p.ended != 0 {
		m.mu.Unlock()
		return errNotMeasured
	}
	at := ktime()
	p.engine.Resume(target.ThreadsOf(pid), at)
	p.offSince, p.resumed = 0, at
	// Before the process's end can be noted, after which nothing would end the sampling.
	m.sampleIt(p)
	m.mu.Unlock()
	m.logf("process %d: goes on after %s", pid, time.Since(begin).Round(time.Microsecond))
	return nil
}

// settled tells whether another goroutine has taken a process out of procs while mu was not held.
// The process has ended or runs another program, and its engine belongs to that goroutine. mu is
// held.
func (m *Measurement) settled(p *Process) bool { return m.procs[p.pid] != p }

// measured finds a process that is being measured.
func (m *Measurement) measured(pid int) (*Process, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	p := m.procs[uint32(pid)]
	if p == nil || p.ended != 0 || p.meta.Attached && p.resumed == 0 && p.began > ktime() {
		return nil, errNotMeasured
	}
	return p, nil
}

package collect

import (
	"fmt"
	"time"

	"ompp-attach/symbols"
)

// Pause takes a process's probes away until Resume: meanwhile it runs as if
// nobody measured. The error is a sentence.
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
	at := ktime() // nobody reads now, so all that the engine has got is older
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

// Resume goes on measuring after Pause; threads may be inside regions, as at
// attach.
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
	p.alone = true  // the plans that it gets now are not the others'
	if !m.running { // from now on regions must tell how deep they are nested
		m.running = true
		m.plans = map[*symbols.Object]planned{}
	}
	p.placed, p.code = map[fileID]placed{}, map[fileID]placed{}
	p.mpi.placed = map[fileID]*placedMPI{}
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
	p.engine.Resume(threadsOf(pid), at)
	p.offSince, p.resumed = 0, at
	m.sampleIt(p) // before its end could be noted, after which nobody would take that back
	m.mu.Unlock()
	m.logf("process %d: goes on after %s", pid, time.Since(begin).Round(time.Microsecond))
	return nil
}

// settled tells whether a process was taken out of procs while mu was not held:
// it has ended or runs another program, and its engine is somebody else's. mu is
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

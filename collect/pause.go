package collect

import (
	"errors"
	"fmt"
	"time"

	"ompp-attach/collect/control"
	"ompp-attach/collect/links"
	"ompp-attach/collect/target"
	"ompp-attach/profile"
)

// Pause takes a process's probes away until Resume. Meanwhile the process runs as if it were not
// measured. The error is a sentence.
func (m *Measurement) Pause(pid int) error {
	m.asking.RLock()
	defer m.asking.RUnlock()
	p, err := m.reader.measured(pid)
	if err != nil {
		return err
	}
	begin := time.Now()
	m.placer.mu.Lock()
	if p.paused || p.detached {
		m.placer.mu.Unlock()
		return fmt.Errorf("the measurement of process %d is paused already, or over", pid)
	}
	m.hold()
	defer m.letFold()
	m.reader.mu.Lock()
	if m.reader.takenOut(p) || p.ended != 0 {
		m.reader.mu.Unlock()
		m.placer.mu.Unlock()
		return control.ErrNotMeasured
	}
	p.paused = true
	at := ktime() // reader.mu is held, so all events that the engine got are older
	p.pausedAt = at
	m.reader.mu.Unlock()
	placed := m.placer.detachLinks(p)
	m.placer.mu.Unlock()
	m.reader.endSampling(p)
	m.reader.endSched(p)
	links.Close(placed)
	m.writeFolds(p, false)
	m.placer.cutOffMPI(p)
	m.reader.drainAll()
	m.reader.mu.Lock()
	if m.reader.takenOut(p) {
		m.reader.mu.Unlock()
		return control.ErrNotMeasured
	}
	p.engine.Pause(at)
	p.usage.Finish(at, p.engine.WasInside)
	m.reader.mu.Unlock()
	m.logf("process %d: paused in %s", pid, time.Since(begin).Round(time.Microsecond))
	return nil
}

// Resume goes on measuring a process after Pause. As after attaching, its threads may be inside
// regions. The error is a sentence.
func (m *Measurement) Resume(pid int) error {
	m.asking.RLock()
	defer m.asking.RUnlock()
	p, err := m.reader.measured(pid)
	if err != nil {
		return err
	}
	begin := time.Now()
	m.placer.mu.Lock()
	if !p.paused || p.detached {
		m.placer.mu.Unlock()
		return fmt.Errorf("the measurement of process %d is not paused", pid)
	}
	p.paused = false
	p.alone = true         // its new plans differ from those of other processes
	if !m.placer.running { // from now on hits must tell how deeply regions are nested
		m.placer.running = true
		m.placer.plans.ForgetRuntimes()
	}
	p.placed, p.code, p.placedMPI = map[target.FileID]placed{}, map[target.FileID]placed{}, map[target.FileID]*placedMPI{}
	m.hold()
	defer m.letFold()
	err = m.kernel.NewEra()
	m.placer.mu.Unlock()
	if err != nil {
		return err
	}
	if _, err := m.placer.scan(p); err != nil {
		return fmt.Errorf("the probes of process %d could not be placed again: %w", pid, err)
	}
	m.reader.mu.Lock()
	if m.reader.takenOut(p) || p.ended != 0 {
		m.reader.mu.Unlock()
		return control.ErrNotMeasured
	}
	at := ktime()
	p.engine.Resume(target.ThreadsOf(pid), at)
	p.pausedAt, p.resumedAt = 0, at
	// Before the process's end can be noted, after which nothing would end the sampling.
	m.reader.beginSampling(p)
	m.reader.beginSched(p)
	m.reader.mu.Unlock()
	m.logf("process %d: goes on after %s", pid, time.Since(begin).Round(time.Microsecond))
	return nil
}

// Measures tells whether a process is being measured.
func (m *Measurement) Measures(pid int) bool {
	_, err := m.reader.measured(pid)
	return err == nil
}

// Measures tells whether a process is being measured, and is one of the program's.
func (g *Program) Measures(pid int) bool {
	p, err := g.m.reader.measured(pid)
	return err == nil && p.program == g
}

// OnDump sets what writes a snapshot of a process to a file, and returns the file's name. A pid of
// 0 stands for all processes; then the name is that of the first file.
func (m *Measurement) OnDump(write func(pid int) (name string, err error)) {
	m.onDump.Store(&write)
}

// Profiles returns snapshots of all processes of the measurement, if it measures the process.
func (m *Measurement) Profiles(pid int) ([]*profile.Profile, error) {
	m.asking.RLock()
	defer m.asking.RUnlock()
	if _, err := m.reader.measured(pid); err != nil {
		return nil, err
	}
	return m.Snapshot().Profiles, nil
}

// Dump writes a snapshot of a process to a file, and returns the file's name. The error is a
// sentence.
func (m *Measurement) Dump(pid int) (name string, err error) { return m.dump(pid, pid) }

// DumpAll writes snapshots of all processes of the measurement to files, if it measures the
// process. The snapshots have one number. DumpAll returns the name of the first file. The error is
// a sentence.
func (m *Measurement) DumpAll(pid int) (first string, err error) { return m.dump(pid, 0) }

// dump writes a snapshot of a process, or of all processes if of is 0, if it measures pid.
func (m *Measurement) dump(pid, of int) (name string, err error) {
	m.asking.RLock()
	defer m.asking.RUnlock()
	if _, err := m.reader.measured(pid); err != nil {
		return "", err
	}
	write := m.onDump.Load()
	if write == nil {
		return "", errors.New("this measurement writes no snapshots")
	}
	return (*write)(of)
}

// takenOut tells whether another goroutine has taken a process out of procs while reader.mu was not
// held. The process has ended or runs another program, and its engine belongs to that goroutine.
// reader.mu is held.
func (rd *reader) takenOut(p *Process) bool { return rd.procs[p.pid] != p }

// measured finds a process that is being measured.
func (rd *reader) measured(pid int) (*Process, error) {
	rd.mu.Lock()
	defer rd.mu.Unlock()
	p := rd.procs[uint32(pid)]
	if p == nil || p.ended != 0 || p.meta.Attached && p.resumedAt == 0 && p.began > ktime() {
		return nil, control.ErrNotMeasured
	}
	return p, nil
}

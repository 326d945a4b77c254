// Package collect runs a measurement: it follows processes, places probes in
// the runtimes they map, reads the records and feeds each process's engine.
package collect

import (
	"context"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"ompp-attach/bpf"
	"ompp-attach/event"
	"ompp-attach/preflight"
	"ompp-attach/probes"
	"ompp-attach/symbols"
)

// Measurement is one run of the tool. Its zero value is not usable: see New.
type Measurement struct {
	kernel   *bpf.Probes
	rings    []*bpf.Ring
	follower *bpf.Follower
	guardian *guardian
	machine  preflight.Machine
	logf     func(format string, args ...any)

	mu      sync.Mutex // guards what follows, and the engines
	decoder probes.Decoder
	plans   map[fileID]*probes.Attached
	procs   map[uint32]*Process
	done    []*Process
	strays  uint64 // records of processes that we do not know

	recording bool
	running   bool // the process ran before we came
}

// New loads the kernel side. logf receives what --verbose shows.
func New(from bpf.Mode, logf func(string, ...any)) (*Measurement, error) {
	if err := hostPIDs(); err != nil {
		return nil, err
	}
	k, err := bpf.LoadProbes(from)
	if err != nil {
		return nil, err
	}
	m := &Measurement{
		kernel: k, logf: logf, machine: preflight.Look(preflight.Root()),
		plans: map[fileID]*probes.Attached{},
		procs: map[uint32]*Process{},
	}
	if m.rings, err = k.Rings(); err != nil {
		m.Close()
		return nil, err
	}
	if m.follower, err = bpf.NewFollower(k.Mode()); err != nil {
		m.Close()
		return nil, err
	}
	if m.guardian, err = startGuardian(m.follower.StoppedMap(), m.follower.FollowedMap()); err != nil {
		m.Close()
		return nil, err
	}
	logf("kernel side loaded, probes by %s", k.Mode())
	return m, nil
}

// Close takes everything away again; the processes go on.
func (m *Measurement) Close() {
	for _, p := range m.procs {
		p.detach()
	}
	if m.follower != nil {
		m.follower.Close()
	}
	if m.guardian != nil {
		m.guardian.stop()
	}
	for _, r := range m.rings {
		r.Close()
	}
	m.kernel.Close()
}

// ktime is the clock of the records: CLOCK_MONOTONIC, ns.
func ktime() uint64 {
	var ts unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts)
	return uint64(ts.Nano())
}

// The reader polls: waking it would cost the target 1 us per record. A pause
// of 5 ms holds for 20 million records a second in a ring of 16 MiB, a
// fraction of which any two threads can write.
const (
	minPause = 500 * time.Microsecond
	maxPause = 5 * time.Millisecond
	batch    = 1 << 16
)

// read drains the rings into the engines until ctx ends, then once more.
func (m *Measurement) read(ctx context.Context) error {
	pause := minPause
	for {
		n, err := m.drain()
		if err != nil {
			return err
		}
		if ctx.Err() != nil && n == 0 {
			return nil
		}
		switch {
		case n > batch/8:
			pause = minPause
			continue
		case n > 0:
			pause = minPause
		default:
			pause = min(2*pause, maxPause)
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
}

func (m *Measurement) drain() (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	before := ktime()
	total, full := 0, false
	var ev event.Event
	var last *Process
	for _, r := range m.rings {
		n, err := r.Drain(batch, func(rec *bpf.Record) {
			if last == nil || last.pid != rec.Pid {
				last = m.procs[rec.Pid]
			}
			if last == nil || !m.decoder.Event(rec, &ev) {
				m.strays++
				return
			}
			last.feed(&ev)
		})
		if err != nil {
			return total, err
		}
		total += n
		full = full || n == batch
	}
	if !full { // else events older than now may still be in a ring
		for _, p := range m.procs {
			p.engine.Advance(before)
		}
	}
	return total, nil
}

// AttachError says why a process cannot be measured, in one sentence.
type AttachError struct{ Sentence string }

// Error implements error.
func (e *AttachError) Error() string { return e.Sentence }

// plan returns the stored plan of a module's file, making it at first sight;
// nil if the module is no runtime.
func (m *Measurement) plan(mod *symbols.Module, imported func(string) bool) (*probes.Attached, error) {
	id := idOf(mod)
	if a, ok := m.plans[id]; ok {
		return a, nil
	}
	o := mod.Object()
	if probes.Identify(o) == event.NoRuntime {
		m.plans[id] = nil
		return nil, nil
	}
	begin := time.Now()
	p, err := probes.NewPlan(o, imported)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", mod.Path, err)
	}
	m.mu.Lock()
	a, err := m.decoder.Store(m.kernel, p, m.running)
	m.mu.Unlock()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", mod.Path, err)
	}
	m.plans[id] = a
	m.logf("%s: %s, %d probes planned in %s", mod.Path, p.Runtime, len(p.Placements), time.Since(begin).Round(time.Microsecond))
	return a, nil
}

package collect

import (
	"fmt"
	"io"
	"sync"
	"sync/atomic"

	"ompp-attach/bpf"
	"ompp-attach/collect/counting"
	"ompp-attach/collect/links"
	"ompp-attach/collect/places"
	"ompp-attach/collect/plans"
	"ompp-attach/collect/selection"
	"ompp-attach/collect/target"
	"ompp-attach/mpi"
	"ompp-attach/mpi/match"
	"ompp-attach/perfcounters"
	"ompp-attach/preflight"
	"ompp-attach/symbols"
)

// Measurement is one run of the tool. Its zero value is not usable: call New. It consists of the
// reader of rings, the placer of probes, the maker of profiles and the lives of processes. Each of
// them has a lock of its own and uses only those before it. The package comment has a table of the
// locks.
type Measurement struct {
	*common
	reader   *reader
	placer   *placer
	profiles *profiles
	lives    *lives
	// Requests of other runs of the tool hold asking for reading; see Close.
	asking sync.RWMutex
	// Writes a snapshot of a process; nil: nobody does.
	onDump atomic.Pointer[func(pid int) (name string, err error)]
}

// common is what all parts of a measurement use. It does not change once the measurement has
// started.
type common struct {
	kernel    *bpf.Probes
	follower  *bpf.Follower
	machine   preflight.Machine
	counting  *counting.Counters // nil: no counters are read
	logf      func(format string, args ...any)
	say       func(sentence string) // tells the user at once; nil: nobody listens
	selection *selection.Selection  // nil: all constructs are wanted
	wanted    places.Wanted         // what is probed beyond the calls of runtimes
	budget    *limiter              // nil: there is no --max-overhead
	recording bool                  // see RecordEvents
	timelines *Timelines            // see RecordTimelines; nil: none is recorded
	calls     bool                  // see RecordCalls
}

// assemble makes the parts of a measurement, which have nothing to read or to follow yet.
func assemble(c *common) *Measurement {
	rd := &reader{common: c, procs: map[uint32]*Process{}}
	pc := &placer{common: c, reader: rd, loaders: map[*symbols.Object]io.Closer{}}
	pc.plans = plans.New(planning{pc})
	pf := &profiles{common: c, reader: rd}
	return &Measurement{common: c, reader: rd, placer: pc, profiles: pf,
		lives: &lives{common: c, reader: rd, placer: pc, profiles: pf, strangers: newStrangers()}}
}

// New loads the kernel side and begins to calibrate. from is the attach mode that is tried first.
// The kernel side reads the given counters of a thread with each of its events. logf receives the
// messages of --verbose and must not wait (see Say). The error says why the kernel side cannot be
// loaded, or which counters cannot be read.
func New(from bpf.Mode, logf func(string, ...any), counters ...perfcounters.Counter) (*Measurement, error) {
	if err := target.HostPIDs(); err != nil {
		return nil, err
	}
	if err := counting.Check(counters); err != nil {
		return nil, err
	}
	c := counting.New(counters)
	follower := loadFollower(from)
	k, err := bpf.LoadCountingProbes(from, c.KernelSide())
	if err != nil {
		if f, err := follower(from); err == nil {
			f.Close()
		}
		return nil, err
	}
	m := assemble(&common{kernel: k, logf: logf, machine: preflight.Look(preflight.Root())})
	if m.follower, err = follower(k.Mode()); err != nil {
		m.Close()
		return nil, err
	}
	if len(counters) > 0 {
		m.counting = c
		if err := c.Start(k); err != nil {
			m.Close()
			return nil, err
		}
	}
	if err := k.TellNoCore(); err != nil {
		m.Close()
		return nil, err
	}
	m.reader.calibrate()
	if m.reader.rings, err = k.Rings(); err != nil {
		m.Close()
		return nil, err
	}
	m.reader.readTo = make([]uint64, len(m.reader.rings))
	if m.reader.waiter, err = k.Waiter(); err != nil {
		m.Close()
		return nil, err
	}
	logf("kernel side loaded, probes by %s", k.Mode())
	return m, nil
}

// loadFollower begins to load the programs that follow processes, for the attach mode from. It
// returns a function that waits until they are loaded. That function takes the mode in which the
// probes were loaded. On an older kernel, this may be bpf.Perf. Then the programs are loaded once
// more for that mode.
func loadFollower(from bpf.Mode) func(bpf.Mode) (*bpf.Follower, error) {
	type loaded struct {
		f   *bpf.Follower
		err error
	}
	done := make(chan loaded, 1)
	go func() {
		f, err := bpf.NewFollower(from)
		done <- loaded{f, err}
	}()
	return func(mode bpf.Mode) (*bpf.Follower, error) {
		l := <-done
		if mode == bpf.Perf && from != bpf.Perf {
			if l.err == nil {
				l.f.Close()
			}
			return bpf.NewFollower(mode)
		}
		return l.f, l.err
	}
}

// Close removes all probes and frees the kernel side. The processes run on. Other runs of the tool
// may ask for something at any time. Close waits until such requests are answered; later requests
// are told that nothing is measured. No other method may be called after Close.
func (m *Measurement) Close() {
	m.asking.Lock()
	m.reader.mu.Lock()
	procs := m.reader.procs
	m.reader.procs = map[uint32]*Process{}
	m.reader.mu.Unlock()
	m.asking.Unlock()
	for _, p := range procs {
		m.placer.removeProbes(p)
	}
	links.Close(append(m.placer.detachLoaders(), m.placer.held.Detach()...))
	if m.follower != nil {
		m.follower.Close()
	}
	m.lives.guard.Stop()
	if m.reader.costing.done != nil {
		<-m.reader.costing.done
	}
	if m.reader.waiter != nil {
		m.reader.waiter.Close()
	}
	for _, r := range m.reader.rings {
		r.Close()
	}
	if m.placer.mpi.kernel != nil {
		m.placer.mpi.kernel.Close()
	}
	m.reader.sampling.Close()
	if m.reader.sched != nil {
		m.reader.sched.Close()
	}
	m.counting.Close()
	m.kernel.Close()
}

// Select makes the measurement leave out what the user does not want. It must be called before the
// measurement starts.
func (m *Measurement) Select(s *selection.Selection) {
	m.selection = s
	m.wanted.LeavesWorksharing = s.LeavesWorksharing()
}

// CounterNotes tells which counters cannot be counted and why, and whether the counts are estimates
// because counters take turns.
func (m *Measurement) CounterNotes() []string { return m.counting.Notes() }

// Evaluate makes the profiles record formulas over the counters, for reports to compute.
func (m *Measurement) Evaluate(formulas []string) { m.counting.Evaluate(formulas) }

// FetchDebugFiles makes the measurement fetch the debug files that it needs to name a process's
// places. fetch gets a build id. symbols.UseDebugFiles has to find the file that was fetched. The
// files are fetched after the process's measurement. If they were fetched earlier, the process
// might have to wait for its probes, and so for the network.
func (m *Measurement) FetchDebugFiles(fetch func(buildID string) error) {
	m.profiles.debug = places.NewDebugFiles(fetch)
}

// Say sets a function that tells the user something at once, while the measurement lasts. Neither
// say nor the function logf of New may wait for the user: their callers hold locks that the reader
// of the rings needs.
func (m *Measurement) Say(say func(sentence string)) { m.say = say }

// RecordCalls makes the profiles record MPI calls one by one, for the waits between ranks. It must
// be called before any process is measured, and after Select. The error names an operation that the
// selection leaves out, without which the others cannot be matched.
func (m *Measurement) RecordCalls() error {
	for i := range mpi.Operations {
		if op := mpi.Op(i); match.Wanted(op) && !m.selection.WantsMPI(op) {
			return fmt.Errorf("waits between ranks need calls of %s", op)
		}
	}
	m.calls = true
	return nil
}

// RecordEvents makes the measurement keep every event, for Result.Streams. It must be called before
// any process is measured.
func (m *Measurement) RecordEvents() { m.recording = true }

package collect

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"ompp-attach/bpf"
	"ompp-attach/event"
	"ompp-attach/perfcounters"
	"ompp-attach/preflight"
	"ompp-attach/probes"
	"ompp-attach/symbols"
)

// Measurement is one run of the tool. Its zero value is not usable: see New.
type Measurement struct {
	kernel   *bpf.Probes
	rings    []*bpf.Ring
	waiter   *bpf.Waiter // for rings
	readTo   []uint64    // by ring: the time up to which it has been read; guarded by mu
	follower *bpf.Follower
	guarding sync.Mutex // guards guardian
	guardian *guardian  // nil: nobody can have been stopped yet
	machine  preflight.Machine
	counting *counting // nil: nothing is counted
	costing  costing
	logf     func(format string, args ...any)
	say      func(sentence string) // nil: nobody listens

	// living is held while lives are acted on, and while a program's measurement
	// ends; it is taken before scanning.
	living    sync.Mutex
	strangers strangers

	debuggersLooked time.Time // guarded by living

	// settling is held while one profile is settled: files' tables are shared.
	settling sync.Mutex

	// scanning guards the plans and every process's probes; it is taken before
	// mu, never while mu is held.
	scanning  sync.Mutex
	plans     map[*symbols.Object]planned   // an inode may hold another file by now
	code      map[*symbols.Object]planned   // of probes in the files' own code
	plains    map[*symbols.Object]bool      // see plain
	loaders   map[*symbols.Object]io.Closer // see watchLoader; nil: it cannot be watched
	held      []heldProbes
	mpi       mpiSide
	sampling  sampling
	debug     debugFiles
	finders   []CodeFinder
	selection *Selection   // nil: everything is wanted
	budget    *budget      // nil: there is none
	user      *UserRegions // nil if none are asked for

	sharing sync.Mutex          // guards shared; taken last
	shared  map[any]*sharedLink // by *probes.Attached, kindPlan or *probes.MPIAttached

	mu       sync.Mutex // guards what follows, and the engines of procs
	decoder  probes.Decoder
	procs    map[uint32]*Process
	programs []*Program
	strays   uint64 // records of processes that we do not know

	missed    bool // lives were, and that has been said; guarded by living
	recording bool
	inlining  bool // constructs that make no call are probed
	atomics   bool // so are atomics
	running   bool // the process ran before we came
}

// planned is what came of a file: a plan, neither if it is no runtime.
type planned struct {
	plan *probes.Attached
	err  error
}

// New loads the kernel side, which reads the counters of each thread with its
// events. logf receives what --verbose shows, and must not wait (see Say).
func New(from bpf.Mode, logf func(string, ...any), counters ...perfcounters.Counter) (*Measurement, error) {
	if err := hostPIDs(); err != nil {
		return nil, err
	}
	if err := CheckCounters(counters); err != nil {
		return nil, err
	}
	c := newCounting(counters)
	follower := loadFollower(from)
	k, err := bpf.LoadCountingProbes(from, c.kernel)
	if err != nil {
		if f, err := follower(from); err == nil {
			f.Close()
		}
		return nil, err
	}
	m := &Measurement{
		kernel: k, logf: logf, machine: preflight.Look(preflight.Root()),
		plans: map[*symbols.Object]planned{}, code: map[*symbols.Object]planned{}, plains: map[*symbols.Object]bool{}, loaders: map[*symbols.Object]io.Closer{},
		strangers: newStrangers(),
		procs:     map[uint32]*Process{}, shared: map[any]*sharedLink{},
	}
	if m.follower, err = follower(k.Mode()); err != nil {
		m.Close()
		return nil, err
	}
	if len(counters) > 0 {
		m.counting = c
		if err := c.start(k); err != nil {
			m.Close()
			return nil, err
		}
	}
	if err := k.TellCoreWaits(); err != nil {
		m.Close()
		return nil, err
	}
	m.calibrate()
	if m.rings, err = k.Rings(); err != nil {
		m.Close()
		return nil, err
	}
	m.readTo = make([]uint64, len(m.rings))
	if m.waiter, err = k.Waiter(); err != nil {
		m.Close()
		return nil, err
	}
	logf("kernel side loaded, probes by %s", k.Mode())
	return m, nil
}

// loadFollower begins to load the programs that follow processes, for a kernel
// that attaches probes in the given mode, and returns what waits for them, which
// is told the mode that the kernel has: it may turn out to be an older one.
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

// Close takes everything away again; the processes go on.
func (m *Measurement) Close() {
	for _, p := range m.procs {
		m.detach(p)
	}
	closeLinks(append(m.takeLoaders(), m.takeHeld()...))
	if m.follower != nil {
		m.follower.Close()
	}
	if m.guardian != nil {
		m.guardian.stop()
	}
	if m.costing.done != nil {
		<-m.costing.done
	}
	if m.waiter != nil {
		m.waiter.Close()
	}
	for _, r := range m.rings {
		r.Close()
	}
	m.mpi.close()
	m.sampling.close()
	m.counting.close()
	m.kernel.Close()
}

// ktime is the clock of the records: CLOCK_MONOTONIC, ns.
func ktime() uint64 {
	var ts unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts)
	return uint64(ts.Nano())
}

// Waking the reader for each record would cost the target 1 us, and each look some 50 us
// of a processor that the program may need, and then a thread that the others wait
// for waits, too: so it looks when a ring fills, or after long. A budget needs to
// know sooner what is paid, what lies behind a record that is being written wakes nobody,
// and what a process used after the last look is not known if nobody waits for its end.
const (
	lookEvery  = 250 * time.Millisecond
	childEvery = 50 * time.Millisecond
	soon       = 5 * time.Millisecond
	batch      = 1 << 12 // records: what waits of them, the engine finds in its processor's cache
)

// read drains the rings into the engines until ctx ends, then once more, and reads
// processes' CPU times.
func (m *Measurement) read(ctx context.Context) error {
	defer context.AfterFunc(ctx, m.waiter.Wake)()
	for looked := time.Now(); ; {
		last := ctx.Err() != nil
		d, err := m.drain()
		if err != nil || last {
			return err
		}
		pause := lookEvery
		if d.children {
			pause = childEvery
		}
		if time.Since(looked) > pause/2 {
			looked = time.Now()
			m.readCPU()
		}
		if d.fullest > batch/2 {
			continue
		}
		if m.budget != nil || d.left == blocked {
			pause = soon
		}
		if _, err := m.waiter.Wait(time.Now().Add(pause)); err != nil {
			return err
		}
	}
}

// readCPU brings all processes' times up to date.
func (m *Measurement) readCPU() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, p := range m.procs {
		p.readCPU()
	}
}

// drainAll reads all that was written before the call, for which it waits until it
// is known what hits cost. Other processes may write for ever: once a ring was read
// to its end, or as many records were read as it holds and may have been set aside
// (16 MiB and more of at least 64 bytes), what was in it is read.
func (m *Measurement) drainAll() {
	const patience = 100 // ms, for records that are being written
	_, _ = m.Costs()
	for turn, waited := 0, 0; turn < (asideBytes+16<<20)/64/batch+1 && waited < patience; {
		d, err := m.drain()
		switch {
		case err != nil || d.left == noRest:
			return
		case d.left == blocked:
			waited++
			time.Sleep(time.Millisecond)
		default:
			turn++
		}
	}
}

// rest is what a drain has left in the rings.
type rest int

const (
	noRest  rest = iota
	blocked      // what lies behind a record that is being written
	more         // what was too much for one batch
)

// drained is what came of a drain.
type drained struct {
	fullest  int  // how many records the ring had that had most
	left     rest // in any ring
	children bool // there are processes whose end nobody waits for
}

// drain reads a batch of every ring.
func (m *Measurement) drain() (d drained, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := ktime() // what is older has been read, if nothing is left
	var ev event.Event
	var fold event.Fold
	var last *Process
	read := now
	if m.costing.pending {
		return d, m.setAside()
	}
	for i, r := range m.rings {
		latest := m.readTo[i]
		n, err := r.Drain(batch, &bpf.Uses{Record: func(rec *bpf.Record, counters []uint64) {
			latest = rec.Time
			if last == nil || last.pid != rec.Pid {
				last = m.procs[rec.Pid]
			}
			if last == nil || !m.decoder.Event(rec, &ev) {
				m.strays++
				return
			}
			ev.Counters = counters
			if m.budget != nil {
				m.budget.pay(&ev)
			}
			last.feed(&ev)
		}, Fold: func(rec *bpf.FoldRecord, counters *bpf.FoldCounters) {
			latest = rec.Last
			if p := m.procs[rec.Pid]; p != nil && m.decoder.Fold(rec, &ev, &fold) {
				if rec.N > 0 {
					ev.Counters, fold.Counters = counters.First, counters.Sum
				}
				p.feed(&ev)
				return
			}
			m.strays++
		}, MPI: func(rec *bpf.MPIRecord) {
			latest = rec.Time
			m.feedMPI(rec)
		}, Wait: func(w bpf.CoreWait) {
			latest = w.Time
			if p := m.procs[w.PID]; p != nil {
				p.feedCoreWait(w)
			}
		}, Sample: func(rec *bpf.SampleRecord) {
			latest = rec.Time
			m.feedSample(rec)
		}})
		if err != nil {
			return d, err
		}
		d.fullest = max(d.fullest, n)
		switch {
		case n >= batch: // more of it may be in the ring
			d.left = more
		case r.Blocked():
			d.left = max(d.left, blocked)
		default:
			latest = now
		}
		m.readTo[i] = latest
		read = min(read, latest)
	}
	for _, p := range m.procs {
		d.children = d.children || !p.first
		if p.stopped != 0 { // nobody is late meanwhile
			p.engine.Advance(min(read, p.stopped))
			continue
		}
		p.engine.Advance(read)
	}
	if m.sampling.kernel != nil {
		m.sampling.throttled += m.sampling.kernel.Throttled()
	}
	return d, nil
}

// AttachError says why a process cannot be measured, in one sentence.
type AttachError struct{ Sentence string }

// Error implements error.
func (e *AttachError) Error() string { return e.Sentence }

// plan returns the stored plan of a module's file, making it at first sight;
// nil if the module is no runtime.
func (m *Measurement) plan(mod *symbols.Module, imported func(string) bool) (*probes.Attached, error) {
	o := mod.Object()
	p, ok := m.plans[o]
	if !ok {
		p.plan, p.err = m.newPlan(mod, imported)
		m.plans[o] = p
	}
	return p.plan, p.err
}

func (m *Measurement) newPlan(mod *symbols.Module, imported func(string) bool) (*probes.Attached, error) {
	o := mod.Object()
	if probes.Identify(o) == event.NoRuntime {
		return nil, nil
	}
	begin := time.Now()
	p, err := probes.NewPlan(o, imported)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", mod.Path, err)
	}
	m.selection.prune(p)
	m.mu.Lock()
	a, err := m.decoder.Store(m.kernel, p, m.running)
	m.mu.Unlock()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", mod.Path, err)
	}
	m.logf("%s: %s, %d probes planned in %s", mod.Path, p.Runtime, len(p.Placements), time.Since(begin).Round(time.Microsecond))
	return a, nil
}

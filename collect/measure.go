package collect

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"ompp-attach/bpf"
	"ompp-attach/collect/launch"
	"ompp-attach/collect/places"
	"ompp-attach/collect/selection"
	"ompp-attach/collect/target"
	"ompp-attach/event"
	"ompp-attach/perfcounters"
	"ompp-attach/preflight"
	"ompp-attach/probes"
	"ompp-attach/probes/openmp"
	"ompp-attach/symbols"
)

// Measurement is one run of the tool. Its zero value is not usable: call New. The package comment
// has a table of its locks.
type Measurement struct {
	kernel   *bpf.Probes
	rings    []*bpf.Ring
	waiter   *bpf.Waiter // by which the reader waits for records
	readTo   []uint64    // by ring: CLOCK_MONOTONIC, ns, up to which it was read; guarded by mu
	follower *bpf.Follower
	guard    launch.Guard
	machine  preflight.Machine
	counting *counting // nil: no counters are read
	costing  costing
	logf     func(format string, args ...any)
	say      func(sentence string) // tells the user at once; nil: nobody listens
	// onDump writes a snapshot of a process; guarded by mu. nil: nobody does.
	onDump func(pid int) (name string, err error)

	// living is held while a life (a fork, an exec, loaded libraries) is acted on, and while a
	// program's measurement ends. It is taken before scanning.
	living    sync.Mutex
	strangers strangers

	debuggersLooked time.Time // guarded by living

	// settling is held while one profile is made, because profiles share the tables of files.
	settling sync.Mutex

	// scanning guards the plans and the probes of every process. It is taken before mu, never while
	// mu is held.
	scanning  sync.Mutex
	plans     map[*symbols.Object]planned   // an inode may be reused for another file
	code      map[*symbols.Object]planned   // plans of probes in the files' own code
	plains    map[*symbols.Object]bool      // whether a file is plain: see the method plain
	loaders   map[*symbols.Object]io.Closer // see watchLoader; nil: the loader cannot be watched
	held      []heldProbes
	mpi       mpiSide
	sampling  sampling
	debug     places.DebugFiles
	finders   []CodeFinder
	selection *selection.Selection // nil: all constructs are wanted
	budget    *limiter             // nil: there is no --max-overhead
	wanted    places.Wanted        // what is probed beyond the calls of runtimes

	sharing sync.Mutex          // guards shared; no other lock is taken while it is held
	shared  map[any]*sharedLink // by *probes.Attached, kindPlan or *mpilib.Attached

	mu       sync.Mutex // guards the fields below, and the engines of procs
	decoder  probes.Decoder
	procs    map[uint32]*Process
	programs []*Program
	strays   uint64 // records of processes that are not in procs

	missed    bool // the user has been told that lives were missed; guarded by living
	recording bool
	running   bool // the program ran before it was attached to, or was resumed
}

// planned is the outcome of planning a file: a plan, or an error. Both are nil if the file needs no
// probes.
type planned struct {
	plan *probes.Attached
	err  error
}

// New loads the kernel side and begins to calibrate. from is the attach mode that is tried first.
// The kernel side reads the given counters of a thread with each of its events. logf receives the
// messages of --verbose and must not wait (see Say). The error says why the kernel side cannot be
// loaded, or which counters cannot be read.
func New(from bpf.Mode, logf func(string, ...any), counters ...perfcounters.Counter) (*Measurement, error) {
	if err := target.HostPIDs(); err != nil {
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

// loadFollower begins to load the programs that follow processes, for the attach mode from. It
// returns a function that waits until they are loaded. The caller passes the mode in which the
// probes were loaded: on an older kernel this may be bpf.Perf, and then the programs are loaded
// once more for it.
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

// Close removes all probes and frees the kernel side. The processes run on. No method may be called
// after Close.
func (m *Measurement) Close() {
	for _, p := range m.procs {
		m.detach(p)
	}
	closeLinks(append(m.takeLoaders(), m.takeHeld()...))
	if m.follower != nil {
		m.follower.Close()
	}
	m.guard.Stop()
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

// ktime reads the clock of the records: CLOCK_MONOTONIC, in ns.
func ktime() uint64 {
	var ts unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts)
	return uint64(ts.Nano())
}

// The reader is not woken for each record: that would cost the target 1 us. Each look at the rings
// costs some 50 us of a processor that the program may need; if a thread loses its core to the
// reader, the threads that wait for it wait longer too. So the reader looks when a ring fills, or
// after a long pause (lookEvery). There are three exceptions. A budget has to know earlier what
// hits have cost (soon). Records behind one that is still being written wake nobody (soon). And the
// CPU times of a process whose end nobody waits for are known only up to the last look
// (childEvery).
const (
	lookEvery  = 250 * time.Millisecond
	childEvery = 50 * time.Millisecond
	soon       = 5 * time.Millisecond
	batch      = 1 << 12 // records: a batch that still lies in the processor's cache when the engine takes it
)

// read drains the rings into the engines until ctx ends, then once more. It also reads the
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

// ReadCPU reads the CPU times of all processes anew.
func (m *Measurement) readCPU() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, p := range m.procs {
		p.readCPU()
	}
}

// drainAll reads all records that were written before the call. It first waits until calibration is
// over. Other processes may go on writing for ever, so it ends when each ring was read to its end,
// or when as many records were read as a ring can hold and may have been set aside (16 MiB and
// more, of at least 64 bytes a record).
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

// rest tells what a drain has left in the rings.
type rest int

const (
	noRest  rest = iota
	blocked      // records behind one that is still being written
	more         // records beyond one batch
)

// drained is the outcome of a drain.
type drained struct {
	fullest  int  // records read from the ring that had most
	left     rest // the greatest of all rings
	children bool // some process is not the first of its program: nobody waits for its end
}

// drain reads at most a batch of records from each ring, and feeds them to the engines.
func (m *Measurement) drain() (d drained, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := ktime() // if a ring is read to its end, all records before now have been read
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
				m.budget.ledger.Pay(&ev)
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
		case n >= batch: // the ring may hold more records
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
		if p.stopped != 0 { // its threads cannot be late while they are stopped
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

// plan returns the plan of a module's file, and makes it when the file is seen for the first time.
// It returns nil if the module is no runtime. scanning is held.
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
	if openmp.Identify(o) == event.NoRuntime {
		return nil, nil
	}
	begin := time.Now()
	p, err := openmp.NewPlan(o, imported)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", mod.Path, err)
	}
	m.selection.Prune(p)
	m.mu.Lock()
	a, err := m.decoder.Store(m.kernel, p, m.running)
	m.mu.Unlock()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", mod.Path, err)
	}
	m.logf("%s: %s, %d probes planned in %s", mod.Path, p.Runtime, len(p.Placements), time.Since(begin).Round(time.Microsecond))
	return a, nil
}

// Select makes the measurement leave out what the user does not want. It must be called before the
// measurement starts.
func (m *Measurement) Select(s *selection.Selection) { m.selection = s }

// FetchDebugFiles makes the measurement fetch the debug files that it needs to name a process's
// places. It does so after the process's measurement: before, the process might have to wait for
// its probes, and so for the network. fetch gets a build id; symbols.UseDebugFiles has to find the
// file that was fetched.
func (m *Measurement) FetchDebugFiles(fetch func(buildID string) error) {
	m.debug = places.NewDebugFiles(fetch)
}

package collect

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"ompp-attach/attribution"
	"ompp-attach/bpf"
	"ompp-attach/collect/advice"
	"ompp-attach/collect/launch"
	"ompp-attach/collect/places"
	"ompp-attach/collect/target"
	"ompp-attach/event"
	"ompp-attach/files"
	"ompp-attach/preflight"
	"ompp-attach/probes"
	"ompp-attach/profile"
	"ompp-attach/symbols"
)

// Process is one measured program image: a process until it ends or runs another program.
type Process struct {
	pid       uint32
	handle    int // a pidfd, unless we have launched the process; -1: none
	program   *Program
	first     bool // the process we launched or attached to
	engine    *attribution.Engine
	mapped    *symbols.Process
	resolver  *places.Resolver
	found     uint64 // CLOCK_MONOTONIC, ns, read before the process was first looked at
	existing  int    // number of its threads when it was attached to
	began     uint64
	ended     uint64 // when its measured time ended; 0: it goes on
	continued uint64 // when we last continued it
	stopped   uint64 // when it was stopped for its probes; 0: it runs; guarded by mu
	meta      profile.Meta
	placed    map[target.FileID]placed // runtimes
	code      map[target.FileID]placed // probes in files' own code
	mpi       mpiProcess
	sampled   sampledProcess
	libs      io.Closer // the watch on its dynamic loader, if it was attached to
	detached  bool      // it gets no probes any more; guarded by scanning
	gone      bool      // it has ended, so nobody can hit its probes
	debugged  bool      // the user was warned of its debugger; guarded by mu
	offSince  uint64    // when `ompp-attach pause` paused it; 0: not paused; guarded by mu
	resumed   uint64    // when `ompp-attach resume` last resumed it; guarded by mu
	alone     bool      // it uses no shared probes; guarded by scanning
	shares    bool      // it takes part in shared probes; guarded by scanning
	offGone   bool      // its probes were taken away by a pause; guarded by scanning
	cpu0      target.CPUTimes
	cpu       target.CPUTimes
	tasking   bool
	warnings  []string
	recorder  *attribution.Recorder // see Measurement.RecordEvents; nil normally
	profile   *profile.Profile
	usage     *advice.Usage
	rates     *advice.Rates // of the process's first second; nil: that is over, or the cost of hits is not known
	cores     advice.Cores
}

type placed struct {
	link    io.Closer
	plan    *probes.Plan
	runtime profile.Runtime
}

// newProcess registers a process before its first probe is placed.
func (m *Measurement) newProcess(pid int, g *Program) *Process {
	if m.follower != nil { // there is none in tests
		m.follower.Change(pid, bpf.FollowKnown, 0) // comes before describe: a later exec is reported as a life
	}
	now := ktime()
	p := &Process{
		pid: uint32(pid), handle: -1, program: g, first: pid == g.pid, found: now, began: now,
		placed: map[target.FileID]placed{},
		code:   map[target.FileID]placed{},
		mpi:    mpiProcess{placed: map[target.FileID]*placedMPI{}},
		cpu0:   target.ReadCPU(pid),
		usage:  advice.NewUsage(),
	}
	if !p.first || !g.launched {
		if fd, err := unix.PidfdOpen(pid, 0); err == nil {
			p.handle = fd
		}
	}
	p.mapped = target.TakeFiles(pid)
	p.resolver = places.NewResolver(p.mapped, m.wanted)
	if m.kernel != nil { // there is none in tests
		if err := m.kernel.Hear(pid); err != nil {
			m.warn("%v", err)
		}
	}
	var r attribution.Resolver = perLibrary{p.resolver, p.usage}
	if m.recording {
		p.recorder = attribution.NewRecorder(uint32(pid), r)
		r = p.recorder
	}
	p.engine = attribution.New(uint32(pid), r)
	if lo, hi, ok := target.MainStack(pid); ok {
		p.engine.MainStack(lo, hi)
		if p.recorder != nil {
			p.recorder.Stream.StackLo, p.recorder.Stream.StackHi = lo, hi
		}
	}
	p.readCoreWaits()
	p.meta = target.Describe(pid)
	p.meta.Tool, p.meta.Built = Version()
	p.meta.MPI = rankIn(pid)
	if g.launched && m.follower != nil {
		m.startedBefore(p)
	}
	m.mu.Lock()
	p.sampled.throttled, p.sampled.returned = m.sampling.throttled, returned{}
	m.procs[uint32(pid)] = p
	m.tellCosts(p)
	for g := range event.NumGroups {
		if m.budget != nil && m.budget.removed[g] {
			p.observe(attribution.Watch{At: ktime(), Of: g.Constructs(), Change: attribution.Away})
		}
	}
	m.mu.Unlock()
	m.sampleIt(p)
	if !p.first && m.waiter != nil {
		m.waiter.Wake() // the reader now has to look more often (childEvery)
	}
	return p
}

func (p *Process) feed(ev *event.Event) {
	if p.meta.Attached && ev.Time < p.began || p.ended != 0 && ev.Time > p.ended {
		return // probes were being placed or removed one by one
	}
	if p.offSince != 0 && ev.Time > p.offSince || ev.Time < p.resumed {
		return
	}
	if ev.Construct == event.UserRegion && ev.Fn != 0 {
		p.resolver.NameMarker(ev)
	}
	if p.recorder != nil {
		kept := *ev
		kept.Counters = slices.Clone(ev.Counters) // the slice belongs to the ring
		if ev.Fold != nil {
			f := *ev.Fold
			f.Counters = slices.Clone(f.Counters)
			kept.Fold = &f
		}
		p.recorder.Stream.Events = append(p.recorder.Stream.Events, kept)
	}
	p.engine.Feed(ev)
	p.usage.Feed(ev)
	if p.rates != nil {
		p.watchRates(ev, p.program.m.say)
	}
}

// scan places probes in those runtimes, MPI libraries and files of a process that have none yet. It
// returns the number of new runtimes and MPI libraries. An error with one file does not keep the
// others from being probed: scan returns the first error, and all errors become warnings of the
// process.
func (m *Measurement) scan(p *Process) (found int, first error) {
	m.scanning.Lock()
	defer m.scanning.Unlock()
	if p.detached || p.offGone {
		return 0, nil
	}
	mods, err := p.mapped.Modules()
	if len(mods) == 0 {
		return 0, err
	}
	if err != nil {
		m.logf("process %d: not everything it maps can be read: %v", p.pid, err)
	}
	m.mu.Lock()
	p.resolver.SetModules(mods)
	m.mu.Unlock()
	p.cores.Read(preflight.Root(), int(p.pid))
	imported := target.ImportedBy(mods)
	if m.follower != nil {
		m.watchLoader(p, mods)
	}
	trouble := func(err error) {
		m.logf("process %d: %v", p.pid, err)
		m.mu.Lock()
		p.warnOnce(err.Error())
		m.mu.Unlock()
		if first == nil {
			first = err
		}
	}
	for i := range mods {
		mod := &mods[i]
		if !target.MayBeRuntime(mod.Object()) && !target.IsOffload(filepath.Base(mod.Path)) {
			continue
		}
		if _, ok := p.placed[target.IDOf(mod)]; ok {
			continue
		}
		a, err := m.plan(mod, imported)
		if err != nil {
			trouble(err)
			continue
		}
		if a == nil {
			continue
		}
		if err := m.seccompTrouble(int(p.pid)); err != nil {
			trouble(err)
			continue
		}
		m.mu.Lock()
		p.usage.Add(a.Instance(), a.Plan.Runtime, mod.Path)
		m.mu.Unlock()
		begin := time.Now()
		link, err := m.attach(p, mod.HostPath, a)
		if err != nil {
			trouble(explainAttach(int(p.pid), err))
			continue
		}
		m.logf("process %d: %d probes placed in %s in %s", p.pid, len(a.Points()), mod.Path, time.Since(begin).Round(time.Microsecond))
		p.placed[target.IDOf(mod)] = placed{link, a.Plan, target.DescribeRuntime(mod, a.Plan)}
		p.tasking = p.tasking || a.Plan.NoTasks != nil && mayHaveTasks(a.Plan.Object, imported)
		found++
	}
	n, err := m.placeMPI(p, mods)
	if found += n; err != nil {
		trouble(err)
	}
	if err := m.placeCode(p, mods); err != nil {
		trouble(err)
	}
	return found, first
}

func (p *Process) warnOnce(s string) {
	if !slices.Contains(p.warnings, s) {
		p.warnings = append(p.warnings, s)
	}
}

// mayHaveTasks tells whether the program may create tasks. A static program imports nothing, so for
// it the answer is always yes.
func mayHaveTasks(runtime *symbols.Object, imported func(string) bool) bool {
	return runtime.IsExecutable() || slices.ContainsFunc([]string{"GOMP_task", "GOMP_taskloop", "GOMP_taskloop_ull",
		"__kmpc_omp_task", "__kmpc_omp_task_with_deps", "__kmpc_omp_task_begin_if0", "__kmpc_taskloop", "__kmpc_taskloop_5"}, imported)
}

// closeLimit bounds how long the results wait for the probes to go. The kernel removes the probes
// at once, but close returns only when no thread is inside a return probe any more
// (synchronize_srcu). Another tool's probes on the same library can delay that by seconds.
const closeLimit = time.Second

// detach removes the probes of a process for good. While a debugger is attached to a program that
// runs on, the probes are held (see heldProbes).
func (m *Measurement) detach(p *Process) {
	m.scanning.Lock()
	p.detached = true
	p.cores.Read(preflight.Root(), int(p.pid)) // a runtime may have bound its threads since the last look
	links := p.takeLinks()
	libs := p.libs
	p.libs = nil
	if m.running && p.program.over && target.TracerOf(int(p.pid)).PID != 0 {
		m.held = append(m.held, heldProbes{int(p.pid), links})
		links = nil
	}
	m.scanning.Unlock()
	if libs != nil {
		go libs.Close() // it reports nothing of a program that is not followed
	}
	if p.gone {
		go closeLinks(links)
		return
	}
	closeLinks(links)
}

// takeLinks returns the links of the process's probes, for the caller to close, and ends the
// process's part in shared probes. scanning is held.
func (p *Process) takeLinks() (links []io.Closer) {
	p.unshare()
	for _, files := range []map[target.FileID]placed{p.placed, p.code} {
		for id, pl := range files {
			if pl.link != nil {
				links = append(links, pl.link)
				pl.link = nil
				files[id] = pl
			}
		}
	}
	return append(links, p.mpi.takeLinks()...)
}

// closeLinks removes probes. It waits for that up to closeLimit.
func closeLinks(links []io.Closer) {
	if len(links) == 0 {
		return
	}
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		var wg sync.WaitGroup // closing them at one time lets them share one wait in the kernel
		for _, l := range links {
			wg.Go(func() { l.Close() })
		}
		wg.Wait()
	}()
	select {
	case <-closed:
	case <-time.After(closeLimit):
	}
}

// endedSomehow stands in the report for a process whose way of ending is not known.
const endedSomehow = "the process ended"

// finish makes the profile of a process. ended says how its measurement ended. The caller has
// removed the process's probes, drained its records, and taken the process out of procs.
func (m *Measurement) finish(p *Process, ended string) {
	m.settling.Lock()
	defer m.settling.Unlock()
	exit := 0
	if p.handle >= 0 {
		if e, ok := launch.EndingOf(int(p.pid), p.handle); ok && ended == endedSomehow {
			ended, exit = e.How, e.Status
		}
		unix.Close(p.handle)
		p.handle = -1
	}
	// From here on no other goroutine uses the process, so the reader does not wait while places
	// are looked up.
	if p.engine.Events() == 0 && len(p.placed) == 0 && len(p.mpi.placed) == 0 { // it had nothing to be measured
		m.mu.Lock()
		p.program.troubles = append(p.program.troubles, p.warnings...)
		m.mu.Unlock()
		return
	}
	m.debug.FetchFor(p.resolver, m.logf)
	end := p.ended
	prof := m.profileOf(p, p.engine.Finish(end), end)
	prof.Meta.Ended, prof.Meta.Exit = ended, exit
	m.mu.Lock()
	p.profile = prof
	m.mu.Unlock()
	if p.recorder != nil {
		p.recorder.Stream.Began, p.recorder.Stream.End, p.recorder.Stream.Stops = p.began, end, p.engine.Stops()
	}
}

// profileOf completes the profile that an engine gave with what else is known of the process. end
// is the time at which the profile ends. settling is held.
func (m *Measurement) profileOf(p *Process, prof *profile.Profile, end uint64) *profile.Profile {
	meta := prof.Meta // the engine's event counts
	prof.Meta = p.meta
	prof.Meta.Hits, prof.Meta.Unmatched, prof.Meta.Partial = meta.Hits, meta.Unmatched, meta.Partial
	prof.Meta.Off = meta.Off
	prof.Meta.Observations = meta.Observations
	m.mu.Lock()
	m.budget.describe(prof)
	m.mu.Unlock()
	prof.Meta.Overhead = m.overhead(meta.Overhead)
	prof.Meta.Sampling = m.sampledAs(p, prof)
	prof.Meta.Duration = p.engine.Elapsed(p.began, end)
	prof.Meta.UserTime = since(p.cpu.User, p.cpu0.User)
	prof.Meta.SysTime = since(p.cpu.System, p.cpu0.System)
	prof.Meta.HasTasks = p.tasking
	if p.mpi.job != nil { // otherwise p.meta has what the launcher's environment told
		prof.Meta.MPI = p.mpi.job
	}
	markMPI(prof)
	prof.Objects = p.resolver.Objects(prof)
	for _, pl := range p.placed {
		prof.Meta.Runtimes = append(prof.Meta.Runtimes, pl.runtime)
	}
	has := map[event.Runtime]bool{}
	for _, pl := range p.placed {
		has[pl.plan.Runtime] = true
	}
	probed := func(mod *symbols.Module) bool { _, ok := p.code[target.IDOf(mod)]; return ok }
	prof.Unseen = append(p.resolver.Unseen(has, probed), m.wanted.User.NotSeen(p.resolver.Modules(), prof.Regions)...)
	prof.Warnings = append(prof.Warnings, p.warnings...)
	if n := m.kernel.Unheeded(); n > 0 {
		prof.Warnings = append(prof.Warnings, fmt.Sprintf("Too many processes had switched measurement off at one time: %d times ompp_off had no effect in some process.", n))
	}
	for _, f := range files.Stuck() {
		prof.Warnings = append(prof.Warnings, f+" was not read, because its file system does not answer: what it would have told is missing.")
	}
	if w := p.silence(); w != "" {
		prof.Warnings = append(prof.Warnings, w)
	}
	m.counting.settle(prof)
	m.selection.Hide(prof)
	p.usage.Finish(end)
	prof.Warnings = append(prof.Warnings, p.usage.Oversubscribed(&p.cores)...)
	if w := p.usage.GCCOnLibomp(p.resolver.FileOf, target.ImportedBy(p.resolver.Modules())); w != "" {
		prof.Warnings = append([]string{w}, prof.Warnings...) // more important than any other
	}
	return prof
}

// since is to minus from in ns, and 0 if from is later. from may be later if the two times are of
// clocks with different resolutions, or if a process ended while it was being stopped.
func since(to, from uint64) int64 {
	if to < from {
		return 0
	}
	return int64(to - from)
}

// explainAttach turns an error of the kernel into a sentence that says what the user can do.
func explainAttach(pid int, err error) error {
	switch {
	case errors.Is(err, unix.EPERM), errors.Is(err, unix.EACCES):
		return &target.AttachError{Sentence: fmt.Sprintf("not permitted to place probes in process %d (%v): run as root, or with the capabilities CAP_BPF, CAP_PERFMON and CAP_SYS_PTRACE; `ompp-attach check` tells what is missing", pid, err)}
	case errors.Is(err, os.ErrNotExist), errors.Is(err, unix.ESRCH):
		return &target.AttachError{Sentence: fmt.Sprintf("process %d ended before its probes were placed", pid)}
	}
	return fmt.Errorf("place probes in process %d: %w", pid, err)
}

// Say sets a function that tells the user at once what he should know while the measurement lasts.
// say must not wait for the user, and neither must logf of New: the callers hold locks that the
// reader of the rings needs.
func (m *Measurement) Say(say func(sentence string)) { m.say = say }

// watchRates counts an event of a process's first second, and warns of a storm at its end; mu is
// held.
func (p *Process) watchRates(ev *event.Event, say func(string)) {
	if p.rates == nil || !p.rates.Add(ev) {
		return
	}
	if s := p.rates.Sentence(); s != "" && say != nil {
		say(fmt.Sprintf("process %d: %s", p.pid, s))
	}
	p.rates = nil
}

// ReadCPU reads a process's CPU times anew. If they cannot be read any more, the last ones stay.
func (p *Process) readCPU() {
	if c := target.ReadCPU(int(p.pid)); c != (target.CPUTimes{}) {
		p.cpu = c
	}
}

// silence returns a warning if no event came from a process that was attached to. No probe can tell
// where its threads were all the time.
func (p *Process) silence() string {
	if !p.meta.Attached || p.engine.Events() > 0 {
		return ""
	}
	threads, were := "its thread", "was"
	if p.existing > 1 {
		threads, were = fmt.Sprintf("its %d threads", p.existing), "were"
	}
	return fmt.Sprintf("No region, construct or call began or ended while the process was measured. Whether %s %s outside of all of them, or in one all the time, is not known: the report shows what was seen, nothing. Measure for longer, or see with --sample task-clock where they compute.", threads, were)
}

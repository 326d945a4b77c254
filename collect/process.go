package collect

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"ompp-attach/attribution"
	"ompp-attach/event"
	"ompp-attach/probes"
	"ompp-attach/probes/insn"
	"ompp-attach/symbols"
)

// Process is one measured program image: a process, until it ends or runs
// another program.
type Process struct {
	pid       uint32
	first     bool // the process we launched or attached to
	engine    *attribution.Engine
	resolver  *resolver
	began     uint64
	ended     uint64 // when its measured time was over; 0: not yet
	paused    uint64 // time that we had it stopped since it began, ns
	continued uint64 // when we last let it go on
	meta      attribution.Meta
	placed    map[fileID]placed // runtimes
	code      map[fileID]placed // files with probes in their own code
	libs      io.Closer         // the watch on its dynamic loader
	detached  bool              // it gets no probes any more
	cpu0      cpuTimes
	cpu       cpuTimes
	tasking   bool
	warnings  []string
	recorder  *attribution.Recorder // see Measurement.RecordEvents; nil normally
	profile   *attribution.Profile
}

type placed struct {
	link    io.Closer
	plan    *probes.Plan
	runtime attribution.Runtime
}

// newProcess registers a process before its first probe is placed.
func (m *Measurement) newProcess(pid int, first bool) *Process {
	p := &Process{
		pid: uint32(pid), first: first, began: ktime(),
		resolver: newResolver(pid),
		placed:   map[fileID]placed{},
		code:     map[fileID]placed{},
		cpu0:     readCPU(pid),
	}
	p.resolver.inlining, p.resolver.atomics = m.inlining, m.atomics
	var r attribution.Resolver = p.resolver
	if m.recording {
		p.recorder = attribution.NewRecorder(uint32(pid), r)
		r = p.recorder
	}
	p.engine = attribution.New(uint32(pid), r)
	p.meta = describe(pid)
	m.mu.Lock()
	m.procs[uint32(pid)] = p
	m.mu.Unlock()
	return p
}

func (p *Process) feed(ev *event.Event) {
	if p.meta.Attached && ev.Time < p.began || p.ended != 0 && ev.Time > p.ended {
		return // while the probes were being placed or taken away, one by one
	}
	if p.recorder != nil {
		p.recorder.Stream.Events = append(p.recorder.Stream.Events, *ev)
	}
	p.engine.Feed(ev)
}

// scan places probes in the runtimes that a process maps and that have none
// yet; it returns how many runtimes it found new. One that cannot be measured
// does not keep the others from it: the first such error is returned, and all
// of them become warnings of the process.
func (m *Measurement) scan(p *Process) (found int, first error) {
	m.scanning.Lock()
	defer m.scanning.Unlock()
	if p.detached {
		return 0, nil
	}
	mods, err := symbols.Modules(int(p.pid))
	if len(mods) == 0 {
		return 0, err
	}
	if err != nil {
		m.logf("process %d: not everything it maps can be read: %v", p.pid, err)
	}
	m.mu.Lock()
	p.resolver.setModules(mods)
	m.mu.Unlock()
	imported := importedBy(mods)
	if p.libs == nil {
		p.libs = m.watchLibraries(p, mods)
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
		if !mayBeRuntime(mod, mod.Path == p.meta.Path) {
			continue
		}
		if _, ok := p.placed[idOf(mod)]; ok {
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
		begin := time.Now()
		link, err := m.kernel.Attach(mod.HostPath, int(p.pid), a.Points())
		if err != nil {
			trouble(explainAttach(int(p.pid), err))
			continue
		}
		m.logf("process %d: %d probes placed in %s in %s", p.pid, len(a.Points()), mod.Path, time.Since(begin).Round(time.Microsecond))
		p.placed[idOf(mod)] = placed{link, a.Plan, describeRuntime(mod, a.Plan)}
		p.tasking = p.tasking || a.Plan.Tasking
		found++
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

// mayBeRuntime tells by its name whether a module is worth opening: with
// hundreds of libraries, opening each would cost the target's user seconds.
// The executable may hold a runtime by static linking.
func mayBeRuntime(mod *symbols.Module, executable bool) bool {
	base := filepath.Base(mod.Path)
	for _, prefix := range []string{"libgomp", "libomp", "libiomp"} {
		if strings.HasPrefix(base, prefix) && !strings.HasPrefix(base, "libomptarget") && !strings.HasPrefix(base, "libompd") {
			return true
		}
	}
	return executable
}

// importedBy answers whether any module of a process imports a symbol.
func importedBy(mods []symbols.Module) func(string) bool {
	return func(name string) bool {
		for i := range mods {
			o := mods[i].Object()
			if o.Imports(name) {
				return true
			}
		}
		return false
	}
}

// watchLibraries puts a probe where the dynamic loader tells debuggers that the
// list of libraries has changed. A static program has no loader.
func (m *Measurement) watchLibraries(p *Process, mods []symbols.Module) io.Closer {
	for i := range mods {
		o := mods[i].Object()
		entry := o.Symbol("_dl_debug_state")
		if len(entry) == 0 || !strings.HasPrefix(filepath.Base(mods[i].Path), "ld") {
			continue
		}
		sp, err := insn.SafePoint(o, entry[0], insn.Need{})
		off, ok := o.FileOffset(sp.VAddr)
		if err != nil || !ok {
			continue
		}
		const rState = 24 // struct r_debug (link.h): version, map, brk, state
		var state int64
		if v, ok := o.DataSymbol("_r_debug"); ok {
			state = int64(v + rState - sp.VAddr)
		}
		l, err := m.follower.WatchLibraries(mods[i].HostPath, int(p.pid), off, state)
		if err != nil {
			m.logf("process %d: %v; runtimes that it loads later are not seen", p.pid, err)
			return nil
		}
		return l
	}
	return nil
}

// closeLimit bounds how long the results wait for the probes to go: the kernel
// removes them at once, but closing their links returns only when no thread is
// inside a return probe any more (synchronize_srcu), which another tool's
// probes on the same library can delay by seconds.
const closeLimit = time.Second

// detach takes a process's probes away, for good.
func (m *Measurement) detach(p *Process) {
	m.scanning.Lock()
	p.detached = true
	links := []io.Closer{}
	if p.libs != nil {
		links, p.libs = append(links, p.libs), nil
	}
	for _, files := range []map[fileID]placed{p.placed, p.code} {
		for id, pl := range files {
			if pl.link != nil {
				links = append(links, pl.link)
				pl.link = nil
				files[id] = pl
			}
		}
	}
	m.scanning.Unlock()
	if len(links) == 0 {
		return
	}
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		for _, l := range links {
			l.Close()
		}
	}()
	select {
	case <-closed:
	case <-time.After(closeLimit):
	}
}

// finish settles a process's profile; ended says how its measurement ended.
// The reader must have drained what the process wrote, and its probes be gone.
func (m *Measurement) finish(p *Process, ended string) {
	m.mu.Lock()
	delete(m.procs, p.pid)
	m.mu.Unlock()
	// From here on nobody else knows the process: the reader need not wait until
	// its places are looked up.
	if p.engine.Events() == 0 && len(p.placed) == 0 { // no OpenMP that we could measure
		m.mu.Lock()
		m.troubles = append(m.troubles, p.warnings...)
		m.mu.Unlock()
		return
	}
	end := p.ended
	prof := p.engine.Finish(end)
	meta := prof.Meta // Finish has filled the event counts
	prof.Meta = p.meta
	prof.Meta.Hits, prof.Meta.Unmatched, prof.Meta.Partial = meta.Hits, meta.Unmatched, meta.Partial
	prof.Meta.Duration = since(end, p.began+p.paused)
	prof.Meta.UserTime = since(p.cpu.user, p.cpu0.user)
	prof.Meta.SysTime = since(p.cpu.system, p.cpu0.system)
	prof.Meta.Ended = ended
	prof.Meta.HasTasks = p.tasking
	for _, pl := range p.placed {
		prof.Meta.Runtimes = append(prof.Meta.Runtimes, pl.runtime)
	}
	prof.Unseen = p.unseen()
	prof.Warnings = append(prof.Warnings, p.warnings...)
	p.profile = prof
	if p.recorder != nil {
		p.recorder.Stream.Began, p.recorder.Stream.End = p.began, end
	}
	m.mu.Lock()
	m.done = append(m.done, p)
	m.mu.Unlock()
}

// since is the time from one to another in ns; clocks of different grain, and a
// process that ends while it is being stopped, may have them in reverse order.
func since(to, from uint64) int64 {
	if to < from {
		return 0
	}
	return int64(to - from)
}

// unseen says what no probe in these runtimes can see.
func (p *Process) unseen() (out []attribution.Unseen) {
	has := map[event.Runtime]bool{}
	for _, pl := range p.placed {
		has[pl.plan.Runtime] = true
	}
	if has[event.Gomp] {
		out = append(out, p.unseenInline()...)
		out = append(out, p.unseenAtomics("GCC"))
	}
	if has[event.Kmpc] {
		out = append(out, p.unseenAtomics("clang"))
	}
	return out
}

// explainAttach turns the kernel's answer into what the user can do.
func explainAttach(pid int, err error) error {
	switch {
	case errors.Is(err, unix.EPERM), errors.Is(err, unix.EACCES):
		return &AttachError{fmt.Sprintf("not permitted to place probes in process %d (%v): run as root, or with the capabilities CAP_BPF, CAP_PERFMON and CAP_SYS_PTRACE; `ompp-attach check` tells what is missing", pid, err)}
	case errors.Is(err, os.ErrNotExist), errors.Is(err, unix.ESRCH):
		return &AttachError{fmt.Sprintf("process %d ended before its probes were placed", pid)}
	}
	return fmt.Errorf("place probes in process %d: %w", pid, err)
}

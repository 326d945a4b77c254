package collect

import (
	"io"
	"path/filepath"
	"sync"
	"time"

	"ompp-attach/collect/debuggers"
	"ompp-attach/collect/links"
	"ompp-attach/collect/places"
	"ompp-attach/collect/plans"
	"ompp-attach/collect/target"
	"ompp-attach/event"
	"ompp-attach/preflight"
	"ompp-attach/symbols"
)

// placer places probes in the files that processes map, and removes them.
type placer struct {
	*common
	reader *reader

	// mu guards the fields below, and what is placed in each process (placement). It is taken
	// before reader.mu.
	mu      sync.Mutex
	plans   *plans.Files
	loaders map[*symbols.Object]io.Closer // see watchLoader; nil: the loader cannot be watched
	mpi     mpiKernel
	running bool // the program ran before it was attached to, or was resumed

	held debuggers.Held // has a lock of its own

	shared links.Shared // by *probes.Attached, a part of it (links.Groups), or *mpilib.Attached
}

// scan places probes in those runtimes, MPI libraries and files of a process that have none yet. It
// returns the number of new runtimes and MPI libraries. An error with one file does not keep the
// others from being probed. scan returns the first error. All errors become warnings of the
// process.
func (pc *placer) scan(p *Process) (found int, first error) {
	pc.mu.Lock()
	defer pc.mu.Unlock()
	if p.detached || p.paused {
		return 0, nil
	}
	mods, incomplete := p.mapped.Modules()
	if len(mods) == 0 {
		return 0, incomplete
	}
	if incomplete != nil {
		pc.logf("process %d: not everything it maps can be read: %v", p.pid, incomplete)
	}
	pc.reader.mu.Lock()
	p.resolver.SetModules(mods)
	pc.reader.mu.Unlock()
	p.cores.Read(preflight.Root(), int(p.pid))
	imported := target.ImportedBy(mods)
	if pc.follower != nil {
		pc.watchLoader(p, mods)
	}
	trouble := func(err error) {
		pc.logf("process %d: %v", p.pid, err)
		pc.reader.mu.Lock()
		p.warnOnce(err.Error())
		pc.reader.mu.Unlock()
		if first == nil {
			first = err
		}
	}
	for i := range mods {
		if !pc.selection.Leaves(event.Single) {
			places.Ahead(mods[i].Object())
		}
	}
	for i := range mods {
		placed, err := pc.placeRuntime(p, &mods[i], mods, imported)
		if err != nil {
			trouble(err)
		} else if placed {
			found++
		}
	}
	if err := pc.placeLoops(p, mods, incomplete); err != nil {
		trouble(err)
	}
	n, err := pc.placeMPI(p, mods)
	if found += n; err != nil {
		trouble(err)
	}
	if err := pc.placeCode(p, mods); err != nil {
		trouble(err)
	}
	return found, first
}

// placeRuntime places the probes of a module, one of mods, if it is a runtime that has none yet. It
// tells whether probes were placed. placer.mu is held.
func (pc *placer) placeRuntime(p *Process, mod *symbols.Module, mods []symbols.Module, imported func(string) bool) (bool, error) {
	if !target.MayBeRuntime(mod.Object()) && !target.IsOffload(filepath.Base(mod.Path)) {
		return false, nil
	}
	if _, ok := p.placed[target.IDOf(mod)]; ok {
		return false, nil
	}
	a, err := pc.plans.Runtime(mod, imported)
	if err != nil || a == nil {
		return false, err
	}
	if err := target.RefuseSeccomp(int(p.pid), &pc.machine, pc.kernel.Mode()); err != nil {
		return false, err
	}
	pc.reader.mu.Lock()
	p.usage.Add(a.Instance(), a.Plan.Runtime, mod.Path)
	pc.reader.mu.Unlock()
	begin := time.Now()
	link, err := pc.attachRuntime(p, mod, a, mods)
	if err != nil {
		return false, target.NotPlaced(int(p.pid), err)
	}
	runtime := target.DescribeRuntime(mod, a.Plan)
	runtime.Probes -= len(p.loops.Left(a))
	pc.logf("process %d: %d probes placed in %s in %s", p.pid, runtime.Probes, mod.Path, time.Since(begin).Round(time.Microsecond))
	p.placed[target.IDOf(mod)] = placed{link: link, plan: a.Plan, runtime: runtime}
	p.tasking = p.tasking || a.Plan.NoTasks != nil && plans.MayHaveTasks(a.Plan.Object, imported)
	return true, nil
}

// removeProbes removes the probes of a process for good. While a debugger is attached to a program
// that runs on, the probes are held (debuggers.Held).
func (pc *placer) removeProbes(p *Process) {
	pc.mu.Lock()
	p.detached = true
	// A runtime may have bound its threads since the last look.
	p.cores.Read(preflight.Root(), int(p.pid))
	all := pc.detachLinks(p)
	libs := p.libs
	p.libs = nil
	if pc.running && p.program.over && pc.held.Keep(int(p.pid), all) {
		all = nil
	}
	pc.mu.Unlock()
	if libs != nil {
		go libs.Close() // it reports nothing of a program that is not followed
	}
	if p.gone {
		go links.Close(all)
		return
	}
	links.Close(all)
}

// detachLinks returns the links of the process's probes, for the caller to close, and ends the
// process's part in shared probes. placer.mu is held.
func (pc *placer) detachLinks(p *Process) (all []io.Closer) {
	pc.unshare(p)
	for _, files := range []map[target.FileID]placed{p.placed, p.code} {
		for id, pl := range files {
			if pl.link != nil {
				all = append(all, pl.link)
			}
			all = append(all, pl.further...)
			pl.link, pl.further = nil, nil
			files[id] = pl
		}
	}
	all = append(all, p.loops.Detach()...)
	p.loops = nil
	for _, pl := range p.placedMPI {
		if pl.link != nil {
			all = append(all, pl.link)
			pl.link = nil
		}
	}
	return all
}

// probed tells whether a process has probes in its own code.
func (pc *placer) probed(p *Process) bool {
	pc.mu.Lock()
	defer pc.mu.Unlock()
	for _, pl := range p.code {
		if pl.link != nil {
			return true
		}
	}
	return false
}

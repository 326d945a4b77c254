package collect

import (
	"io"
	"slices"
	"time"

	"ompp-attach/bpf"
	"ompp-attach/collect/rank"
	"ompp-attach/collect/target"
	"ompp-attach/event"
	"ompp-attach/mpi"
	"ompp-attach/probes/mpilib"
	"ompp-attach/symbols"
)

// mpiKernel is the kernel side of MPI calls, which is loaded when the first MPI library is seen.
// Guarded by placer.mu.
type mpiKernel struct {
	kernel  *bpf.MPI
	loadErr error
}

// mpiReading is what the reader needs for the records of MPI calls. Guarded by reader.mu.
type mpiReading struct {
	kernel  *bpf.MPI // nil: no MPI library was seen
	decoder mpilib.Decoder
}

// placedMPI are the probes in an MPI library.
type placedMPI struct {
	link io.Closer
	plan *mpilib.Plan
}

// placeMPI places probes in those MPI libraries of a process that have none yet, and returns how
// many there are; placer.mu is held.
func (pc *placer) placeMPI(p *Process, mods []symbols.Module) (found int, first error) {
	libraries := target.MPILibraries(mods)
	for i := range mods {
		mod := &mods[i]
		if _, ok := p.placedMPI[target.IDOf(mod)]; ok || !slices.Contains(libraries, mod.Object()) {
			continue
		}
		a, err := pc.plans.MPI(mod)
		if err == nil && a != nil {
			err = pc.attachMPI(p, mod, mods, a)
			found++
		}
		if err != nil && first == nil {
			first = err
		}
	}
	return found, first
}

func (pc *placer) attachMPI(p *Process, mod *symbols.Module, mods []symbols.Module, a *mpilib.Attached) error {
	pid := int(p.pid)
	if err := target.RefuseSeccomp(pid, &pc.machine, pc.kernel.Mode()); err != nil {
		return err
	}
	bindings, wrappers := rank.FindBindings(mods, p.meta.Path)
	pc.reader.mu.Lock()
	p.rank.CallsThrough(bindings)
	pc.reader.mu.Unlock()
	if err := pc.mpi.kernel.SetWrappers(pid, wrappers); err != nil {
		return err
	}
	pc.reader.samplesAt(mod.Object(), a.Plan.Probed())
	points := a.Points()
	place := func(pid int) (io.Closer, error) { return pc.mpi.kernel.Attach(mod.HostPath, pid, points) }
	begin := time.Now()
	var link io.Closer
	var err error
	if pc.kernel.Mode() == bpf.Perf && !mod.Object().IsExecutable() {
		// It takes long to remove a perf event for each probe. So functions that only dlsym could
		// reach get no probes, and each rank has probes of its own.
		points = a.Imported(target.ImportedBy(mods))
		link, err = place(pid)
	} else {
		link, err = pc.share(p, a, place)
	}
	if err != nil {
		return target.NotPlaced(pid, err)
	}
	pc.logf("process %d: %d probes placed in %s in %s", pid, len(points), mod.Path, time.Since(begin).Round(time.Microsecond))
	p.placedMPI[target.IDOf(mod)] = &placedMPI{link, a.Plan}
	library := rank.LibraryOf(pid, mod, &a.Plan.Library)
	pc.reader.mu.Lock()
	p.rank.Uses(library, pc.running)
	pc.reader.mu.Unlock()
	return nil
}

// feedMPI feeds the record of an MPI call; reader.mu is held.
func (rd *reader) feedMPI(r *bpf.MPIRecord) {
	p := rd.procs[r.Pid]
	var ev event.Event
	if p == nil {
		rd.strays++
		return
	}
	if rd.mpiReading.decoder.Asked(r) {
		return
	}
	// The kernel side then knows them for later calls.
	if rd.mpiReading.decoder.Neighbors(r) && p.rank.Neighbors(r) {
		if err := rd.mpiReading.kernel.SetDegrees(int(p.pid), r.Comm, r.In, r.Np); err != nil {
			rd.logf("process %d: %v", p.pid, err)
		}
	}
	world, ok := rd.mpiReading.decoder.Event(r, &ev)
	if !ok {
		rd.strays++
		return
	}
	if world != nil {
		p.rank.Begin(world, ev.Time)
	}
	if !rd.selection.WantsMPI(ev.MPI.Op) && (ev.MPI.Flags&mpi.Started == 0 || !rd.selection.WantsStarts()) {
		return
	}
	if r.Stack != nil {
		if site, ok := p.rank.Caller(p.resolver.Modules(), r, ev.MPI.Op); ok {
			ev.Site = site
		}
	}
	ev.MPI.Flags |= p.rank.Flags(ev.MPI.Comm)
	if ev.MPI.More != nil {
		p.rank.Null(ev.MPI.More.Completes)
	}
	if rd.budget != nil {
		rd.budget.ledger.Pay(&ev)
	}
	// A call that returned after the end of the measured time was under way at that end.
	if over := p.overAt(); over != 0 && ev.Time > over && ev.MPI.Start < over {
		ev.Time, ev.Edge = over, event.Enter
	}
	if p.meta.Attached && ev.MPI.Start < p.began || ev.MPI.Start < p.resumedAt {
		return // it began while the probes were being placed one by one
	}
	p.feed(&ev)
}

// overAt is when the process's measured time ended or it was paused; 0 while it is being measured.
func (p *Process) overAt() uint64 {
	if p.pausedAt != 0 {
		return p.pausedAt
	}
	return p.ended
}

// cutOffMPI makes the kernel side report the calls that are under way. The process's probes must be
// gone.
func (pc *placer) cutOffMPI(p *Process) {
	pc.mu.Lock()
	kernel, any := pc.mpi.kernel, len(p.placedMPI) > 0
	pc.mu.Unlock()
	if kernel == nil || !any {
		return
	}
	if err := kernel.CutOff(int(p.pid)); err != nil {
		pc.logf("process %d: %v", p.pid, err)
	}
}

// droppedMPI counts the records of MPI calls that found no room in a ring.
func (pc *placer) droppedMPI() (sum uint64) {
	pc.mu.Lock()
	defer pc.mu.Unlock()
	if pc.mpi.kernel == nil {
		return 0
	}
	counts, err := pc.mpi.kernel.Dropped()
	if err != nil {
		return 0
	}
	for _, n := range counts {
		sum += n
	}
	return sum
}

package collect

import (
	"errors"
	"fmt"
	"io"
	"time"

	"ompp-attach/bpf"
	"ompp-attach/collect/target"
	"ompp-attach/event"
	"ompp-attach/mpi"
	"ompp-attach/probes/mpilib"
	"ompp-attach/probes/mpilib/handles"
	"ompp-attach/profile"
	"ompp-attach/symbols"
)

// mpiSide is the MPI part of a measurement. Its kernel side is loaded when the first MPI library is
// seen.
type mpiSide struct {
	kernel  *bpf.MPI                       // guarded by Measurement.scanning
	decoder mpilib.Decoder                 // guarded by Measurement.mu
	plans   map[*symbols.Object]plannedMPI // guarded by Measurement.scanning
	loadErr error
}

type plannedMPI struct {
	plan *mpilib.Attached
	err  error
}

// mpiProcess is what is known of a process's use of MPI.
type mpiProcess struct {
	placed map[target.FileID]*placedMPI // guarded by Measurement.scanning
	job    *profile.MPIJob              // guarded by Measurement.mu; nil: no MPI library seen
	// bindings are the libraries that call MPI on behalf of others (Fortran, C++); guarded by
	// Measurement.mu.
	bindings map[*symbols.Object]bool
	// library is the MPI library. noNeighbors are the communicators whose numbers of neighbours
	// cannot be found. Both are guarded by Measurement.mu.
	library     *symbols.Module
	noNeighbors map[uint64]bool
	doubted     bool // see doubt; guarded by Measurement.mu
	begun       bool // MPI_Init has returned; guarded by Measurement.mu
}

type placedMPI struct {
	link io.Closer
	plan *mpilib.Plan
}

// mpiPlan returns the stored plan of a module's file, and makes it when the file is seen for the
// first time. It returns nil if the module is no MPI library. scanning is held.
func (m *Measurement) mpiPlan(mod *symbols.Module) (*mpilib.Attached, error) {
	o := mod.Object()
	if p, ok := m.mpi.plans[o]; ok {
		return p.plan, p.err
	}
	var p plannedMPI
	if mpilib.Is(o) {
		p.plan, p.err = m.newMPIPlan(mod)
	}
	if m.mpi.plans == nil {
		m.mpi.plans = map[*symbols.Object]plannedMPI{}
	}
	m.mpi.plans[o] = p
	return p.plan, p.err
}

func (m *Measurement) newMPIPlan(mod *symbols.Module) (*mpilib.Attached, error) {
	begin := time.Now()
	if m.mpi.kernel == nil && m.mpi.loadErr == nil {
		m.mpi.kernel, m.mpi.loadErr = m.kernel.LoadMPI()
	}
	if m.mpi.loadErr != nil {
		return nil, m.mpi.loadErr
	}
	plan, err := mpilib.NewPlan(mod.Object())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", mod.Path, err)
	}
	plan.Keep(m.selection.WantsMPI)
	m.mu.Lock()
	a, err := m.mpi.decoder.Store(m.mpi.kernel, plan)
	m.mu.Unlock()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", mod.Path, err)
	}
	m.logf("%s: %s, %d probes planned in %s", mod.Path, plan.Library.Name, len(plan.Placements), time.Since(begin).Round(time.Microsecond))
	for _, why := range plan.Missing {
		m.logf("%s: not probed: %s", mod.Path, why)
	}
	return a, nil
}

// placeMPI places probes in those MPI libraries of a process that have none yet, and returns how
// many there are; scanning is held.
func (m *Measurement) placeMPI(p *Process, mods []symbols.Module) (found int, first error) {
	for i := range mods {
		mod := &mods[i]
		if _, ok := p.mpi.placed[target.IDOf(mod)]; ok || !target.MayBeMPI(mod.Object()) {
			continue
		}
		a, err := m.mpiPlan(mod)
		if err == nil && a != nil {
			err = m.attachMPI(p, mod, mods, a)
			found++
		}
		if err != nil && first == nil {
			first = err
		}
	}
	return found, first
}

func (m *Measurement) attachMPI(p *Process, mod *symbols.Module, mods []symbols.Module, a *mpilib.Attached) error {
	pid := int(p.pid)
	if err := m.seccompTrouble(pid); err != nil {
		return err
	}
	if err := m.mpi.kernel.SetWrappers(pid, m.mpiBindings(p, mods)); err != nil {
		return err
	}
	m.samplesAt(mod.Object(), a.Plan.Probed())
	points := a.Points()
	place := func(pid int) (io.Closer, error) { return m.mpi.kernel.Attach(mod.HostPath, pid, points) }
	begin := time.Now()
	var link io.Closer
	var err error
	if m.kernel.Mode() == bpf.Perf && !mod.Object().IsExecutable() {
		// It takes long to remove a perf event for each probe. So functions that only dlsym could
		// reach get no probes, and each rank has probes of its own.
		points = a.Imported(target.ImportedBy(mods))
		link, err = place(pid)
	} else {
		link, err = m.share(p, a, place)
	}
	if err != nil {
		return explainAttach(pid, err)
	}
	m.logf("process %d: %d probes placed in %s in %s", pid, len(points), mod.Path, time.Since(begin).Round(time.Microsecond))
	p.mpi.placed[target.IDOf(mod)] = &placedMPI{link, a.Plan}
	job := rankIn(pid)
	if job == nil {
		job = &profile.MPIJob{Rank: -1}
	}
	job.Library, job.Path = a.Plan.Library.Name, mod.Path
	if a.Plan.Library.Unknown != nil {
		job.Volumes = fmt.Sprintf("The volumes of MPI calls are not known: %v.", a.Plan.Library.Unknown)
	}
	if w, ok := a.Plan.Library.World(mod.Bias, target.ReadMemory(pid)); ok {
		job.Rank, job.Size = w.Rank, w.Size
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	p.mpi.job, p.mpi.library = job, mod
	// The process may be between MPI_Init and MPI_Finalize.
	if m.running && a.Plan.Library.Unknown == nil {
		if err := a.Plan.Library.Formulas.Check(mod.Bias, target.ReadMemory(pid)); err != nil && !errors.Is(err, handles.ErrNotInitialized) {
			p.mpi.doubt(err)
		}
	}
	return nil
}

// feedMPI feeds the record of an MPI call; mu is held.
func (m *Measurement) feedMPI(r *bpf.MPIRecord) {
	p := m.procs[r.Pid]
	var ev event.Event
	if p == nil {
		m.strays++
		return
	}
	if m.mpi.decoder.Neighbors(r) {
		m.lookForNeighbors(p, r)
	}
	world, ok := m.mpi.decoder.Event(r, &ev)
	if !ok {
		m.strays++
		return
	}
	if world != nil && p.mpi.job != nil {
		p.mpi.begun = true
		p.mpi.begin(world)
	}
	if !m.selection.WantsMPI(ev.MPI.Op) && (ev.MPI.Flags&mpi.Started == 0 || !m.selection.WantsStarts()) {
		return
	}
	if r.Stack != nil {
		if site, ok := p.mpi.caller(p.resolver.Modules(), r); ok {
			ev.Site = site
		}
	}
	if p.mpi.doubted {
		ev.MPI.Flags |= mpi.UnknownVolume
	}
	if m.budget != nil {
		m.budget.ledger.Pay(&ev)
	}
	// A call that returned after the end of the measured time was under way at that end.
	if over := p.overAt(); over != 0 && ev.Time > over && ev.MPI.Start < over {
		ev.Time, ev.Edge = over, event.Enter
	}
	if p.meta.Attached && ev.MPI.Start < p.began || ev.MPI.Start < p.resumed {
		return // it began while the probes were being placed one by one
	}
	p.feed(&ev)
}

// overAt is when the process's measured time ended or it was paused; 0 while it is being measured.
func (p *Process) overAt() uint64 {
	if p.offSince != 0 {
		return p.offSince
	}
	return p.ended
}

// cutOffMPI makes the kernel side report the calls that are under way. The process's probes must be
// gone.
func (m *Measurement) cutOffMPI(p *Process) {
	m.scanning.Lock()
	kernel, any := m.mpi.kernel, len(p.mpi.placed) > 0
	m.scanning.Unlock()
	if kernel == nil || !any {
		return
	}
	if err := kernel.CutOff(int(p.pid)); err != nil {
		m.logf("process %d: %v", p.pid, err)
	}
}

// takeLinks returns the links of the process's MPI probes, for the caller to close.
func (q *mpiProcess) takeLinks() (links []io.Closer) {
	for _, pl := range q.placed {
		if pl.link != nil {
			links = append(links, pl.link)
			pl.link = nil
		}
	}
	return links
}

// dropped counts the records of MPI calls that found no room in a ring.
func (s *mpiSide) dropped() (sum uint64) {
	if s.kernel == nil {
		return 0
	}
	counts, err := s.kernel.Dropped()
	if err != nil {
		return 0
	}
	for _, n := range counts {
		sum += n
	}
	return sum
}

func (s *mpiSide) close() {
	if s.kernel != nil {
		s.kernel.Close()
	}
}

package rank

import (
	"errors"
	"fmt"
	"strings"

	"ompp-attach/collect/launch"
	"ompp-attach/collect/target"
	"ompp-attach/mpi"
	"ompp-attach/probes/mpilib"
	"ompp-attach/probes/mpilib/handles"
	"ompp-attach/profile"
	"ompp-attach/symbols"
)

// Rank is a process's use of MPI. The zero value is a process in which no MPI library was seen. The
// methods take no lock.
type Rank struct {
	Job   *profile.MPIJob // nil: no MPI library was seen
	Begun bool            // MPI_Init has returned

	pid         int
	library     *symbols.Module   // the MPI library
	formulas    *handles.Formulas // of its handles
	bindings    Bindings
	noNeighbors map[uint64]bool // communicators whose numbers of neighbours cannot be found
	doubted     bool            // see Doubt
	world, self uint64          // handles of MPI_COMM_WORLD and MPI_COMM_SELF; 0: not known
	noRequest   uint64          // handle of MPI_REQUEST_NULL; 0: not known
}

// Told returns what a process's launcher told it of its rank; nil: nothing. It stands in the
// process's profile until MPI itself has told the rank.
func Told(pid int) *profile.MPIJob {
	r, ok := launch.RankOf(pid)
	if !ok {
		return nil
	}
	return &profile.MPIJob{Rank: r.Rank, Size: r.Size, Job: r.Job}
}

// Library is the MPI library of a process, with what it tells of the process.
type Library struct {
	pid    int
	module *symbols.Module
	is     *mpilib.Library
	job    *profile.MPIJob
	world  uint64
}

// LibraryOf reads what an MPI library that a process maps tells of the process.
func LibraryOf(pid int, module *symbols.Module, is *mpilib.Library) *Library {
	l := &Library{pid: pid, module: module, is: is, job: Told(pid)}
	if l.job == nil {
		l.job = &profile.MPIJob{Rank: -1}
	}
	l.job.Library, l.job.Path = is.Name, module.Path
	if is.Unknown != nil {
		l.job.Volumes = fmt.Sprintf("The volumes of MPI calls are not known: %s.", oneLine(is.Unknown))
	}
	if w, ok := is.World(module.Bias, target.ReadMemory(pid)); ok {
		l.job.Rank, l.job.Size, l.world = w.Rank, w.Size, w.Handle
	}
	return l
}

// Uses notes the library that the process uses. If the process has been running, it may be between
// MPI_Init and MPI_Finalize. Then the formulas that were derived from the library's code are
// checked in the process.
func (r *Rank) Uses(l *Library, running bool) {
	r.pid, r.Job, r.library, r.world, r.formulas = l.pid, l.job, l.module, l.world, l.is.Formulas
	r.findHandles()
	if !running || l.is.Unknown != nil {
		return
	}
	if err := r.formulas.Check(r.library.Bias, target.ReadMemory(r.pid)); err != nil && !errors.Is(err, handles.ErrNotInitialized) {
		r.Doubt(err)
	}
}

var threadLevels = [...]string{"MPI_THREAD_SINGLE", "MPI_THREAD_FUNNELED", "MPI_THREAD_SERIALIZED", "MPI_THREAD_MULTIPLE"}

// Begin stores what the end of MPI_Init told of rank, size and thread level. at is when it returned
// (CLOCK_MONOTONIC, ns).
func (r *Rank) Begin(w *mpilib.World, at uint64) {
	if r.Job == nil {
		return
	}
	r.Begun, r.Job.Left = true, int64(at)
	switch {
	case w.Size == 0: // not told
	case w.Rank >= 0 && w.Rank < w.Size:
		r.Job.Rank, r.Job.Size, r.world = w.Rank, w.Size, w.Handle
	default:
		r.Doubt(fmt.Errorf("MPI_COMM_WORLD would have %d processes, and this one rank %d", w.Size, w.Rank))
	}
	if w.Level >= 0 && w.Level < len(threadLevels) {
		r.Job.Level = threadLevels[w.Level]
	}
	r.findHandles()
}

// findHandles reads the handles that MPI gives names. The library has them once it is relocated.
func (r *Rank) findHandles() {
	if r.formulas == nil || r.world != 0 && r.self != 0 {
		return
	}
	read := target.ReadMemory(r.pid)
	if r.world == 0 {
		r.world, _ = r.formulas.World.Eval(0, r.library.Bias, read)
	}
	r.self, _ = r.formulas.Self.Eval(0, r.library.Bias, read)
	r.noRequest, _ = r.formulas.NoRequest.Eval(0, r.library.Bias, read)
}

// Null sets the call's requests that are MPI_REQUEST_NULL to 0: the call does not wait for them.
func (r *Rank) Null(requests []uint64) {
	for i, q := range requests {
		if q == r.noRequest {
			requests[i] = 0
		}
	}
}

// Flags returns what is known of a call on a communicator: that its volume is unknown, or that the
// communicator has a name.
func (r *Rank) Flags(comm uint64) mpi.ArgFlag {
	if r.world == 0 && !r.Begun { // the end of MPI_Init may be read later than other threads' calls
		r.findHandles()
	}
	switch {
	case r.doubted:
		return mpi.UnknownVolume
	case comm == 0:
	case comm == r.world:
		return mpi.World
	case comm == r.self:
		return mpi.Self
	}
	return 0
}

// Doubt notes that the formulas derived from the library's code are wrong in this process. From
// then on no volumes are reported.
func (r *Rank) Doubt(err error) {
	r.doubted = true
	r.Job.Volumes = fmt.Sprintf("The volumes of MPI calls are not known: what the library's code does with handles was misread (%s).", oneLine(err))
}

// oneLine is the text of several errors, as part of a sentence.
func oneLine(err error) string { return strings.ReplaceAll(err.Error(), "\n", "; ") }

// Copy returns a copy with a Job that does not change when MPI tells more.
func (r *Rank) Copy() Rank {
	c := *r
	if r.Job != nil {
		job := *r.Job
		c.Job = &job
	}
	return c
}

package collect

import (
	"fmt"

	"ompp-attach/collect/launch"
	"ompp-attach/collect/target"
	"ompp-attach/mpi"
	"ompp-attach/probes/mpilib"
	"ompp-attach/profile"
)

var threadLevels = [...]string{"MPI_THREAD_SINGLE", "MPI_THREAD_FUNNELED", "MPI_THREAD_SERIALIZED", "MPI_THREAD_MULTIPLE"}

// begin stores what the end of MPI_Init told of rank, size and thread level; reader.mu is held.
func (q *mpiProcess) begin(w *mpilib.World) {
	switch {
	case w.Size == 0: // not told
	case w.Rank >= 0 && w.Rank < w.Size:
		q.job.Rank, q.job.Size, q.world = w.Rank, w.Size, w.Handle
	default:
		q.doubt(fmt.Errorf("MPI_COMM_WORLD would have %d processes, and this one rank %d", w.Size, w.Rank))
	}
	if w.Level >= 0 && w.Level < len(threadLevels) {
		q.job.Level = threadLevels[w.Level]
	}
}

// findSelf reads the handle of MPI_COMM_SELF. The library has it once it is relocated.
// reader.mu is held.
func (p *Process) findSelf() {
	if q := &p.mpi; q.self == 0 && q.formulas != nil {
		q.self, _ = q.formulas.Self.Eval(0, q.library.Bias, target.ReadMemory(int(p.pid)))
	}
}

// named tells whether a communicator is one that has a name; reader.mu is held.
func (q *mpiProcess) named(comm uint64) mpi.ArgFlag {
	switch {
	case comm == 0:
	case comm == q.world:
		return mpi.World
	case comm == q.self:
		return mpi.Self
	}
	return 0
}

// doubt notes that what we derived from the library's code is wrong in this process, so that no
// volumes are reported; reader.mu is held.
func (q *mpiProcess) doubt(err error) {
	q.doubted = true
	q.job.Volumes = fmt.Sprintf("The volumes of MPI calls are not known: what the library's code does with handles was misread (%v).", err)
}

// rankIn is what a process's profile says of the rank until MPI itself has told it.
func rankIn(pid int) *profile.MPIJob {
	r, ok := launch.RankOf(pid)
	if !ok {
		return nil
	}
	return &profile.MPIJob{Rank: r.Rank, Size: r.Size, Job: r.Job}
}

package rank

import (
	"testing"

	"ompp-attach/mpi"
	"ompp-attach/probes/mpilib"
	"ompp-attach/probes/mpilib/handles"
	"ompp-attach/profile"
	"ompp-attach/symbols"
)

// Calls of other threads may be read before the end of MPI_Init. Their communicators have names
// all the same.
func TestWorldBeforeBegin(t *testing.T) {
	handle := func(h int64) mpi.Formula {
		return mpi.Formula{{Steps: []mpi.Step{{Op: mpi.StepConst, Value: h}}}}
	}
	is := &mpilib.Library{Formulas: &handles.Formulas{World: handle(0x44000000), Self: handle(0x44000001)}}
	q := Rank{}
	q.Uses(&Library{module: &symbols.Module{}, is: is, job: &profile.MPIJob{Rank: -1}}, false)
	for comm, want := range map[uint64]mpi.ArgFlag{0x44000000: mpi.World, 0x44000001: mpi.Self, 0x84000000: 0, 0: 0} {
		if got := q.Flags(comm); got != want {
			t.Errorf("%#x: %v, want %v", comm, got, want)
		}
	}
}

// Values from the end of MPI_Init are used if they can be true. Otherwise volumes are not trusted
// either, since they come from the same formulas.
func TestWorldDoubted(t *testing.T) {
	for _, c := range []struct {
		world      mpilib.World
		rank, size int
		doubted    bool
	}{
		{mpilib.World{Rank: 3, Size: 4}, 3, 4, false},
		{mpilib.World{Rank: -1, Size: 0}, 1, 2, false},
		{mpilib.World{Rank: 4, Size: 4}, 1, 2, true},
		{mpilib.World{Rank: 0, Size: -7}, 1, 2, true},
	} {
		q := Rank{Job: &profile.MPIJob{Rank: 1, Size: 2}}
		q.Begin(&c.world, 77)
		if q.Job.Rank != c.rank || q.Job.Size != c.size || q.doubted != c.doubted || (q.Job.Volumes != "") != c.doubted {
			t.Errorf("%+v: rank %d of %d, doubted %t, %q", c.world, q.Job.Rank, q.Job.Size, q.doubted, q.Job.Volumes)
		}
	}
}

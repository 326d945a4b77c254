package rank

import (
	"testing"

	"ompp-attach/probes/mpilib"
	"ompp-attach/profile"
)

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

package collect

import (
	"testing"

	"ompp-attach/attribution"
	"ompp-attach/probes"
)

// What MPI_Init's end tells is taken where it can be true; else the formulas
// that it was computed by are not believed for volumes, either.
func TestWorldDoubted(t *testing.T) {
	for _, c := range []struct {
		world      probes.MPIWorld
		rank, size int
		doubted    bool
	}{
		{probes.MPIWorld{Rank: 3, Size: 4}, 3, 4, false},
		{probes.MPIWorld{Rank: -1, Size: 0}, 1, 2, false},
		{probes.MPIWorld{Rank: 4, Size: 4}, 1, 2, true},
		{probes.MPIWorld{Rank: 0, Size: -7}, 1, 2, true},
	} {
		q := mpiProcess{job: &attribution.MPIJob{Rank: 1, Size: 2}}
		q.begin(&c.world)
		if q.job.Rank != c.rank || q.job.Size != c.size || q.doubted != c.doubted || (q.job.Volumes != "") != c.doubted {
			t.Errorf("%+v: rank %d of %d, doubted %t, %q", c.world, q.job.Rank, q.job.Size, q.doubted, q.job.Volumes)
		}
	}
}

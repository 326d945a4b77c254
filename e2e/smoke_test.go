package e2e

import (
	"testing"

	"ompp-attach/internal/testbin"
)

// TestSmoke is one run per runtime, with exact counts: the end-to-end part of
// `make quick`. Other tests cover what it does, and more.
func TestSmoke(t *testing.T) {
	atOnce(t)
	for _, b := range []build{{"gcc", "-O2 -g"}, {"clang-19", "-O2 -g"}} {
		t.Run(b.compiler, func(t *testing.T) { constructCounts(t, b, 2) })
	}
	for _, m := range []testbin.MPI{testbin.OpenMPI, testbin.MPICH} {
		t.Run(string(m), func(t *testing.T) {
			bin := m.Build(t, "mpi_p2p.c", testbin.Options{Flags: []string{"-O1", "-g"}, NoOpenMP: true})
			mpiCounts(t, m, 2, 1, byLine, bin)
		})
	}
}

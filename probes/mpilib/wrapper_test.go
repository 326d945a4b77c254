package mpilib

import (
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"ompp-attach/mpi"
	"ompp-attach/symbols"
)

// A wrapper's function passes on the calls of its own operation.
func TestPasses(t *testing.T) {
	for _, tc := range []struct {
		function, op string
		want         bool
	}{
		{"MPI_Send", "MPI_Send", true},
		{"PMPI_Send", "MPI_Send", true},
		{"MPI_Send.cold", "MPI_Send", true},
		{"mpi_send_", "MPI_Send", true},
		{"pmpi_send__", "MPI_Send", true},
		{"MPI_Startall", "MPI_Send_init", true},
		{"MPI_Isend", "MPI_Send", false},
		{"MPI_Finalize", "MPI_Barrier", false},
		{"flush_trace", "MPI_Allreduce", false},
		{"", "MPI_Send", false},
	} {
		op, ok := mpi.ParseOp(tc.op)
		if got := Passes(tc.function, op); !ok || got != tc.want {
			t.Errorf("%q passes %s on: %t, want %t", tc.function, tc.op, got, tc.want)
		}
	}
}

// Beside an MPI library, a file that looks up the functions of MPI is a wrapper. Alone, the same
// file may be a library: nobody knows.
func TestLibraries(t *testing.T) {
	source := filepath.Join("..", "..", "testdata", "programs", "libmpiwrap.c")
	for name, lib := range mpiLibraries(t) {
		compiler := "mpicc.mpich"
		if IsOpenMPI(lib) {
			compiler = "mpicc.openmpi"
		}
		for _, flag := range []string{"-DPMPI", `-DNEXT=""`, `-DNEXT="P"`} {
			path := filepath.Join(t.TempDir(), "libwrap.so")
			if out, err := exec.Command(compiler, "-O2", "-fPIC", "-shared", flag, "-o", path, source).CombinedOutput(); err != nil {
				t.Skipf("%v\n%s", err, out)
			}
			o, err := symbols.OpenObject(path)
			if err != nil {
				t.Fatal(err)
			}
			if looks := flag != "-DPMPI"; Is(o) != looks {
				t.Errorf("%s: may be a library: %t, want %t", flag, Is(o), looks)
			}
			if !IsWrapper(o) || IsWrapper(lib) {
				t.Errorf("%s: a wrapper: %t; %s: %t", flag, IsWrapper(o), name, IsWrapper(lib))
			}
			if !Is(o) {
				continue
			}
			if got := Libraries([]*symbols.Object{o, lib}); !slices.Equal(got, []*symbols.Object{lib}) {
				t.Errorf("%s: %d libraries, want %s alone", flag, len(got), name)
			}
			if got := Libraries([]*symbols.Object{o}); len(got) != 1 {
				t.Errorf("%s alone: %d libraries, want 1", flag, len(got))
			}
		}
	}
}

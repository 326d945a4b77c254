package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"ompp-attach/internal/testbin"
	"ompp-attach/profile"
)

// A preloaded wrapper of MPI, which passes calls on to PMPI_X or to what it looks up, is no MPI
// library. Each call of the program counts once, at the program's line, with its bytes. What the
// wrapper calls on its own account is told apart.
func TestMPIPreloaded(t *testing.T) {
	atOnce(t)
	for _, tc := range []struct {
		src   string
		m     testbin.MPI
		ranks int
		grain grain
	}{
		{"mpi_p2p.c", testbin.OpenMPI, 3, 0},
		{"mpi_coll.c", testbin.MPICH, 3, 0},
		{"mpi_mpif.f", testbin.MPICH, 2, 0}, // a binding may call the wrapper
	} {
		flags := []string{"-O1", "-g"}
		if tc.src == "mpi_mpif.f" {
			flags = append(flags, "-ffixed-line-length-132", "-fallow-argument-mismatch")
		}
		for name, flag := range map[string]string{"PMPI": "-DPMPI", "dlsym": `-DNEXT=""`, "dlsym PMPI": `-DNEXT="P"`} {
			t.Run(fmt.Sprintf("%s %s %s", tc.src, tc.m, name), func(t *testing.T) {
				t.Parallel()
				bin := tc.m.Build(t, tc.src, testbin.Options{Flags: flags, NoOpenMP: true})
				wrapper := tc.m.Build(t, "libmpiwrap.c", testbin.Options{Flags: []string{"-O2", "-g", "-fPIC", "-shared", flag}, NoOpenMP: true})
				truth := tc.m.RunTruth(t, tc.ranks, nil, bin)
				profiles := runJob(t, tc.m, tc.ranks, options{flags: []string{"--mpi-all"}}, "env", preloaded(t, tc.m, wrapper), bin)
				for r, p := range profiles {
					complete(t, p)
					balanced(t, p)
					namedLibrary(t, tc.m, p)
					sameCalls(t, p, withOwn(t, truth[r]), tc.grain)
				}
			})
		}
	}
}

// preloaded is the setting of the environment that preloads a wrapper into a rank.
func preloaded(t *testing.T, m testbin.MPI, wrapper string) string {
	for _, v := range m.LaunchEnv(t) {
		if also, ok := strings.CutPrefix(v, "LD_PRELOAD="); ok {
			wrapper += ":" + also
		}
	}
	return "LD_PRELOAD=" + wrapper
}

// withOwn adds the wrapper's own call to what the program called.
func withOwn(t *testing.T, truth *testbin.MPIRank) *testbin.MPIRank {
	const wrapper = "libmpiwrap.c"
	text, err := os.ReadFile(filepath.Join(testbin.Repo(t), "testdata", "programs", wrapper))
	if err != nil {
		t.Fatal(err)
	}
	line := 1 + slices.IndexFunc(strings.Split(string(text), "\n"), func(l string) bool { return strings.HasSuffix(l, "//= its own") })
	truth.Sites = append(truth.Sites, testbin.MPISite{Op: "MPI_Barrier", Calls: 1, Colls: 1, File: wrapper, Line: line})
	return truth
}

func namedLibrary(t *testing.T, m testbin.MPI, p *profile.Profile) {
	t.Helper()
	want := map[testbin.MPI]string{testbin.OpenMPI: `^Open MPI \d`, testbin.MPICH: `^MPICH \d`}[m]
	if j := p.Meta.MPI; !regexp.MustCompile(want).MatchString(j.Library) || j.Volumes != "" {
		t.Errorf("the library is %q (%s), want %s; %s", j.Library, j.Path, want, j.Volumes)
	}
}

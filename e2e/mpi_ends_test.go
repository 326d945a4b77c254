package e2e

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"ompp-attach/internal/testbin"
	"ompp-attach/mpi"
)

// The launcher starts the tool for each rank: the figures are the same.
func TestMPIWrapped(t *testing.T) {
	atOnce(t)
	needTool(t)
	const ranks = 3
	for _, m := range bothMPIs {
		t.Run(string(m), func(t *testing.T) {
			bin := m.Build(t, "mpi_p2p.c", testbin.Options{NoOpenMP: true, Flags: []string{"-O1", "-g"}})
			truth := m.RunTruth(t, ranks, nil, bin)
			s := session{dir: filepath.Join(t.TempDir(), "out")}
			if status, out := launchJob(t, m, ranks, tool, "run", "-o", s.dir, "--quiet", "--mpi-all", "--", bin); status != 0 {
				t.Fatalf("exit status %d\n%s", status, out)
			}
			s.load(t)
			for r, p := range s.ranks(t, ranks) {
				complete(t, p)
				sameCalls(t, p, truth[r], byLine)
			}
			until(t, "the collector's files are gone", func() bool {
				hidden, _ := filepath.Glob(filepath.Join(s.dir, ".ompp-attach-*"))
				return len(hidden) == 0
			})
		})
	}
}

// launchJob runs a job without a tool around it.
func launchJob(t *testing.T, m testbin.MPI, ranks int, argv ...string) (status int, out string) {
	t.Helper()
	line := m.Launch(ranks, argv...)
	cmd := exec.Command(line[0], line[1:]...)
	cmd.Env = append(os.Environ(), m.LaunchEnv(t)...)
	text, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), string(text)
}

// A job that does not come to MPI_Finalize has the status that it has without
// the tool, and what its ranks had done is there.
func TestMPIEnds(t *testing.T) {
	atOnce(t)
	const ranks = 2
	for m, modes := range map[testbin.MPI][]string{
		testbin.OpenMPI: {"abort", "crash", "early"},
		testbin.MPICH:   {"abort", "exit"}, // early: the others wait for that rank forever
	} {
		for _, mode := range modes {
			t.Run(fmt.Sprintf("%s %s", mode, m), func(t *testing.T) {
				bin := m.Build(t, "mpi_ends.c", testbin.Options{NoOpenMP: true})
				want, _ := launchJob(t, m, ranks, bin, mode)
				line := m.Launch(ranks, bin, mode)
				s := run(t, options{env: m.LaunchEnv(t)}, line[0], line[1:]...)
				// MPICH's launcher was seen to end with 1 in 1 of 60 runs without the tool, where
				// all ranks exit with 5.
				same := s.exit == want || m == testbin.MPICH && mode == "exit" && s.exit != 0
				if !same || want == 0 {
					t.Errorf("exit status %d, without the tool %d\n%s", s.exit, want, s.stderr)
				}
				if mode == "early" {
					return // nobody got out of MPI_Init
				}
				var exits []int
				for r, p := range s.ranks(t, ranks) {
					got := toolSites(p, byOperation)[callSite{op: "MPI_Sendrecv"}]
					if both := [mpi.NumAccountings]uint64{240, 240}; got == nil || got.Calls != 3 || got.Out != both || got.In != both {
						t.Errorf("rank %d: exchanges %+v, want 3 of 80 bytes", r, got)
					}
					if got := toolSites(p, byOperation)[callSite{op: "MPI_Barrier"}]; got == nil {
						t.Errorf("rank %d: no barrier", r)
					}
					exits = append(exits, p.Meta.Exit)
					if p.Meta.LostHits != 0 || p.Meta.Unmatched != 0 {
						t.Errorf("rank %d: lost %d, unmatched %d", r, p.Meta.LostHits, p.Meta.Unmatched)
					}
				}
				// The launcher kills ranks that are late.
				if mode == "exit" && !slices.Contains(exits, 5) {
					t.Errorf("the ranks ended with %v, want 5", exits)
				}
			})
		}
	}
}

// Programs without MPI may be started by mpirun; there is nothing to report.
func TestMPIPlain(t *testing.T) {
	atOnce(t)
	for _, m := range bothMPIs {
		t.Run(string(m), func(t *testing.T) {
			m.Need(t)
			line := m.Launch(2, testbin.Build(t, "plain.c", testbin.Options{NoOpenMP: true}))
			s := run(t, options{env: m.LaunchEnv(t)}, line[0], line[1:]...)
			if s.exit != 0 || s.main != nil || len(s.others) != 0 {
				t.Errorf("exit status %d, profiles of %v", s.exit, s.others)
			}
		})
	}
}

package testbin

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// MPI is an installed MPI library, by the suffix of its commands.
type MPI string

// The MPI libraries that tests know.
const (
	OpenMPI MPI = "openmpi"
	MPICH   MPI = "mpich"
)

// Need skips the test if the library or its compilers are not installed.
func (m MPI) Need(t testing.TB) {
	t.Helper()
	dev, run := "libopenmpi-dev", "openmpi-bin"
	if m == MPICH {
		dev, run = "libmpich-dev", "mpich"
	}
	for command, pkg := range map[string]string{"mpicc." + string(m): dev, "mpirun." + string(m): run} {
		if _, err := exec.LookPath(command); err != nil {
			t.Skipf("package %s is not installed: no %s", pkg, command)
		}
	}
}

// Build is the package's Build with the library's compiler for the language.
func (m MPI) Build(t testing.TB, src string, opt Options) string {
	t.Helper()
	m.Need(t)
	wrapper := "mpicc."
	switch filepath.Ext(src) {
	case ".cpp":
		wrapper = "mpicxx."
	case ".f", ".f90":
		wrapper = "mpifort."
	}
	opt.Compiler = wrapper + string(m)
	if _, err := exec.LookPath("gfortran"); wrapper == "mpifort." && err != nil {
		t.Skip("package gfortran is not installed")
	}
	return Build(t, src, opt)
}

// BuildWith builds a C program by another compiler than the wrapper's.
func (m MPI) BuildWith(t testing.TB, compiler, src string, opt Options) string {
	t.Helper()
	m.Need(t)
	out, err := exec.Command("mpicc."+string(m), "-show").Output()
	words := strings.Fields(string(out))
	if err != nil || len(words) < 2 {
		t.Fatalf("mpicc.%s -show: %q, %v", m, out, err)
	}
	opt.Compiler = compiler
	opt.Flags = append(append(slices.Clone(opt.Flags), "-Wl,--no-as-needed"), words[1:]...)
	return Build(t, src, opt)
}

// Launch returns the command line that starts ranks processes of argv, however
// few processors there are.
func (m MPI) Launch(ranks int, argv ...string) []string {
	line := []string{"mpirun." + string(m)}
	if m == OpenMPI {
		// Waiting ranks let others run: a busy machine has few processors.
		line = append(line, "--oversubscribe", "--mca", "mpi_yield_when_idle", "1")
	}
	return append(append(line, "-n", strconv.Itoa(ranks)), argv...)
}

// LaunchEnv is what the launcher needs in its environment to work as root, and what lets MPICH's
// ranks yield while they wait.
func (m MPI) LaunchEnv(t testing.TB) []string {
	t.Helper()
	if m == OpenMPI {
		return []string{"OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1"}
	}
	return []string{"LD_PRELOAD=" + yielding(t)}
}

// yielding is the library that lets MPICH's ranks yield.
func yielding(t testing.TB) string {
	t.Helper()
	return compile(t, "gcc", filepath.Join(Repo(t), "testdata", "truth", "mpich_yield.c"),
		[]string{"-O2", "-g", "-fPIC", "-shared"}, []string{"-ldl"})
}

// RunTruth runs ranks processes of argv under the count of their MPI calls. It returns, by rank,
// what the processes that initialized MPI did. The exit code does not matter; a job that does not
// end fails the test.
func (m MPI) RunTruth(t testing.TB, ranks int, env []string, argv ...string) map[int]*MPIRank {
	t.Helper()
	m.Need(t)
	lib := compile(t, "mpicc."+string(m), filepath.Join(Repo(t), "testdata", "truth", "mpi_truth.c"),
		[]string{"-O2", "-g", "-fPIC", "-shared"}, []string{"-ldl"})
	dir := t.TempDir()
	ctx, cancel := context.WithTimeout(context.Background(), runTimeout)
	defer cancel()
	preload := lib
	if m == MPICH {
		preload += ":" + yielding(t)
	}
	// Only the ranks are counted, not the launcher.
	line := m.Launch(ranks, append([]string{"env", "TRUTH_OUT=" + dir, "LD_PRELOAD=" + preload}, argv...)...)
	cmd := exec.CommandContext(ctx, line[0], line[1:]...)
	cmd.Env = append(append(os.Environ(), m.LaunchEnv(t)...), env...)
	msg, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if ctx.Err() != nil || err != nil && !errors.As(err, &exit) {
		t.Fatalf("%v: %v\n%s", line, err, msg)
	}
	out, err := readTruth(dir)
	if err != nil {
		t.Fatalf("%v: %v\n%s", line, err, msg)
	}
	if len(out) == 0 {
		t.Fatalf("%v: no rank wrote counts\n%s", line, msg)
	}
	return out
}

func readTruth(dir string) (map[int]*MPIRank, error) {
	names, err := filepath.Glob(filepath.Join(dir, "rank*.jsonl"))
	if err != nil {
		return nil, fmt.Errorf("looking for counts: %w", err)
	}
	out := map[int]*MPIRank{}
	for _, name := range names {
		f, err := os.Open(name)
		if err != nil {
			return nil, fmt.Errorf("reading counts: %w", err)
		}
		r, err := parseRank(f)
		f.Close()
		if err != nil {
			return nil, fmt.Errorf("counts in %s: %w", filepath.Base(name), err)
		}
		if err := r.locate(); err != nil {
			return nil, err
		}
		out[r.Rank] = r
	}
	return out, nil
}

// NeedPython skips the test unless the interpreter has mpi4py.
func (m MPI) NeedPython(t testing.TB, python string) {
	t.Helper()
	m.Need(t)
	if err := exec.Command(python, "-c", "import mpi4py").Run(); err != nil {
		t.Skip("package python3-mpi4py is not installed")
	}
}

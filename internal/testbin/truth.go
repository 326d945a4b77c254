package testbin

import (
	"bufio"
	"bytes"
	"context"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// runTimeout bounds one program under RunTruth.
const runTimeout = 2 * time.Minute

// Counts are executions by name and OpenMP thread number, summed over the
// processes of a run. Names are libgomp's symbols, with ":taken" for positive
// results and ":body" for region bodies, or those of ompt_truth.c.
type Counts map[string]map[int]uint64

// Total sums name over all threads; 0 for a name that never occurred.
func (c Counts) Total(name string) uint64 {
	var sum uint64
	for _, n := range c[name] {
		sum += n
	}
	return sum
}

// ParseCounts reads lines "name thread count"; repeated lines add up. An error
// names the line that is malformed.
func ParseCounts(r io.Reader) (Counts, error) {
	c := Counts{}
	in := bufio.NewScanner(r)
	for line := 1; in.Scan(); line++ {
		f := strings.Fields(in.Text())
		if len(f) != 3 {
			return nil, fmt.Errorf("line %d: want 3 fields, got %d", line, len(f))
		}
		thread, err := strconv.Atoi(f[1])
		if err != nil || thread < 0 {
			return nil, fmt.Errorf("line %d: thread number %q", line, f[1])
		}
		n, err := strconv.ParseUint(f[2], 10, 64)
		if err != nil {
			return nil, fmt.Errorf("line %d: count: %w", line, err)
		}
		if c[f[0]] == nil {
			c[f[0]] = map[int]uint64{}
		}
		c[f[0]][thread] += n
	}
	if err := in.Err(); err != nil {
		return nil, fmt.Errorf("reading counts: %w", err)
	}
	return c, nil
}

// Truth builds the counting library for a runtime, "gomp" or "ompt", and
// returns its path. It skips the test if no clang brings OMPT's header.
func Truth(t testing.TB, kind string) string {
	t.Helper()
	src := filepath.Join(Repo(t), "testdata", "truth", kind+"_truth.c")
	flags := []string{"-O2", "-g", "-fPIC", "-shared"}
	switch kind {
	case "gomp":
		return compile(t, "gcc", src, flags, nil)
	case "ompt":
		clang, ok := anyClangWithOMPT()
		if !ok {
			t.Skip("omp-tools.h (clang with libomp's development files) is not installed")
		}
		// The header is all it needs of OpenMP: no -fopenmp, so that it is
		// not tied to one libomp.
		include := filepath.Join(ask(clang, "-print-resource-dir"), "include")
		return compile(t, clang, src, append(flags, "-idirafter", include), nil)
	}
	t.Fatalf("no truth for %q", kind)
	return ""
}

// TruthEnv returns the environment entries that make a program count into out,
// for tests that start the program by other means than RunTruth. With gomp,
// add TRUTH_RESULTS=0 where return addresses of runtime calls matter and
// TRUTH_BODIES=1 to have region bodies counted (see gomp_truth.c).
func TruthEnv(t testing.TB, kind, out string) []string {
	t.Helper()
	lib := Truth(t, kind)
	if kind == "gomp" {
		return []string{"TRUTH_OUT=" + out, "LD_PRELOAD=" + lib}
	}
	return []string{"TRUTH_OUT=" + out, "OMP_TOOL_LIBRARIES=" + lib}
}

// TruthKind returns which truth suits a binary: "ompt" if it needs libomp,
// else "gomp" (also for programs that load libgomp later).
func TruthKind(t testing.TB, bin string) string {
	t.Helper()
	f, err := elf.Open(bin)
	if err != nil {
		t.Fatalf("truth for %s: %v", bin, err)
	}
	defer f.Close()
	libs, err := f.ImportedLibraries()
	if err != nil {
		t.Fatalf("libraries of %s: %v", bin, err)
	}
	if len(libs) == 0 {
		t.Fatalf("%s is static: nothing can count in it", bin)
	}
	for _, lib := range libs {
		if strings.HasPrefix(lib, "libomp.") || strings.HasPrefix(lib, "libiomp5.") {
			return "ompt"
		}
	}
	return "gomp"
}

// RunTruth runs bin with env added to the environment and returns what it
// executed. The exit code does not matter; a process that a signal ends, or a
// program that does not end, fails the test.
func RunTruth(t testing.TB, bin string, args, env []string) Counts {
	t.Helper()
	out := filepath.Join(t.TempDir(), "truth")
	ctx, cancel := context.WithTimeout(context.Background(), runTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, bin, args...)
	cmd.Env = append(append(os.Environ(), TruthEnv(t, TruthKind(t, bin), out)...), env...)
	msg, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || exit.ExitCode() < 0) {
		t.Fatalf("%s: %v\n%s", bin, err, msg)
	}
	text, err := os.ReadFile(out)
	if err != nil {
		t.Fatalf("%s wrote no counts: %v\n%s", bin, err, msg)
	}
	counts, err := ParseCounts(bytes.NewReader(text))
	if err != nil {
		t.Fatalf("counts of %s: %v", bin, err)
	}
	return counts
}

package e2e

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"ompp-attach/internal/testbin"
	"ompp-attach/profile"
)

// bundled makes what a Python wheel brings: a library with OpenMP regions and a
// libgomp of its own under a name of its own.
func bundled(t *testing.T) (lib string) {
	t.Helper()
	dir := t.TempDir()
	b, err := os.ReadFile(filepath.Join(runtimes, "libgomp.so.1"))
	if err != nil {
		t.Fatal(err)
	}
	const hashed = "libgomp-7.so" // as long as the name in the file
	gomp := filepath.Join(dir, hashed)
	if err := os.WriteFile(gomp, bytes.ReplaceAll(b, []byte("libgomp.so.1\x00"), []byte(hashed+"\x00")), 0o755); err != nil {
		t.Fatal(err)
	}
	lib = filepath.Join(dir, "libspin.so")
	object := filepath.Join(dir, "libspin.o")
	for _, args := range [][]string{
		{"-O2", "-g", "-fPIC", "-fopenmp", "-c", "-o", object, filepath.Join(testbin.Repo(t), "testdata", "programs", "libspin.c")},
		{"-shared", "-o", lib, object, gomp, "-Wl,-rpath," + dir},
	} {
		if out, err := exec.Command("gcc", args...).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	return lib
}

// Two runtimes in one process are both measured and told apart. A warning says with what evidence
// that they have more threads at work than cores.
func TestTwoRuntimes(t *testing.T) {
	lib := func(compiler string) string {
		return testbin.Build(t, "libspin.c", testbin.Options{Compiler: compiler, Flags: []string{"-O2", "-g", "-fPIC", "-shared"}})
	}
	bin := testbin.Build(t, "tworuntimes.c", testbin.Options{NoOpenMP: true})
	for _, tc := range []struct {
		name     string
		mode     string
		first    string
		second   func() string
		threads  int
		runtimes []string // of the regions
		warning  []string
	}{
		{"libgomp and libomp at once", "together", "gcc", func() string { return lib("clang-19") }, 2, []string{"libgomp", "libomp"},
			[]string{"2 OpenMP runtimes oversubscribe the cores", "threads of libgomp (teams of up to 2)", "of libomp (teams of up to 2)"}},
		{"two of libgomp at once", "together", "gcc", func() string { return bundled(t) }, 2, []string{"libgomp libgomp-7.so", "libgomp libgomp.so.1"},
			[]string{"2 OpenMP runtimes oversubscribe the cores", "libgomp libgomp-7.so (teams of up to 2)"}},
		{"libgomp and libomp in turns", "turns", "gcc", func() string { return lib("clang-19") }, 2, []string{"libgomp", "libomp"},
			[]string{"take turns on the same cores", "OMP_WAIT_POLICY=passive"}},
		{"in turns, one thread", "turns", "gcc", func() string { return lib("clang-19") }, 1, []string{"libgomp", "libomp"}, nil},
		{"a team larger than the cores", "turns", "gcc", func() string { return lib("gcc") }, 5, []string{"libgomp"},
			[]string{"libgomp starts teams of up to 5 threads, but the process may use only 2 cores", "OMP_NUM_THREADS=2"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			needTool(t)
			if runtime.NumCPU() < 2 {
				t.Skip("this machine has one core: every team of two is too large")
			}
			seconds := "0.5"
			if tc.mode == "together" { // one may begin late
				seconds = "2"
			}
			s := clean(t, options{env: append(threadsEnv(tc.threads), "OMP_DYNAMIC=false"), pinned: "0,1", flags: []string{"--all"}}, bin, tc.mode, seconds, lib(tc.first), tc.second())
			complete(t, s.main)
			balanced(t, s.main)
			var got []string
			for i := range s.main.Regions {
				if r := &s.main.Regions[i]; !slices.Contains(got, r.Runtime) {
					got = append(got, r.Runtime)
				}
				if f := filepath.Base(s.main.Regions[i].Location.File); f != "libspin.c" {
					t.Errorf("region lies in %q", f)
				}
			}
			slices.Sort(got)
			if !slices.Equal(got, tc.runtimes) {
				t.Errorf("regions of %q, want %q", got, tc.runtimes)
			}
			warned(t, s.main, "runtime", tc.warning)
			report, err := os.ReadFile(filepath.Join(s.dir, "profile.ompp.txt"))
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range tc.runtimes {
				if shown := strings.Contains(string(report), "["+r+"]"); shown != (len(tc.runtimes) > 1) {
					t.Errorf("the report names %q: %t\n%s", r, shown, report)
				}
			}
		})
	}
}

// Code that GCC compiled may run on libomp. Such code cannot be measured. This must not pass in
// silence, whether the code's libgomp is loaded too or not.
func TestGCCOnLibomp(t *testing.T) {
	atOnce(t)
	libomp, err := filepath.Glob(filepath.Join(runtimes, "libomp.so.*"))
	if err != nil || len(libomp) == 0 {
		t.Skip("libomp is not installed")
	}
	b, err := os.ReadFile(libomp[0])
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "libgomp.so.1"), b, 0o755); err != nil {
		t.Fatal(err)
	}
	gcc := testbin.Build(t, "longrun.c", testbin.Options{})
	clang := testbin.Build(t, "longrun.c", testbin.Options{Compiler: "clang-19"})
	for _, tc := range []struct {
		name, bin string
		env       []string
		warned    bool
	}{
		{"by its name", gcc, []string{"LD_LIBRARY_PATH=" + dir, "OMP_NUM_THREADS=2"}, true},
		{"by its name, one thread", gcc, []string{"LD_LIBRARY_PATH=" + dir, "OMP_NUM_THREADS=1"}, true},
		{"preloaded", gcc, []string{"LD_PRELOAD=" + libomp[0], "OMP_NUM_THREADS=2"}, true},
		{"GCC on libgomp", gcc, threadsEnv(2), false},
		{"clang on libomp", clang, threadsEnv(2), false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			// The tool itself must not run on what is preloaded.
			s := clean(t, options{}, "env", append(tc.env, tc.bin, "0.2")...)
			warned := slices.ContainsFunc(s.main.Warnings, func(w string) bool { return strings.Contains(w, "code that GCC compiled runs on libomp") })
			if warned != tc.warned {
				t.Errorf("warnings %q", s.main.Warnings)
			}
		})
	}
}

// warned checks that there is just one warning on threads and cores, which says
// all of the words; none where there are no words.
func warned(t *testing.T, p *profile.Profile, what string, words []string) {
	t.Helper()
	var found []string
	for _, w := range p.Warnings {
		if aboutCores(w) {
			found = append(found, w)
		}
	}
	if len(found) != min(1, len(words)) {
		t.Fatalf("%s: warnings %q", what, p.Warnings)
	}
	for _, w := range words {
		if !strings.Contains(found[0], w) {
			t.Errorf("%q does not say %q", found[0], w)
		}
	}
}

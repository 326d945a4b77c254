package testbin

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// totals picks the totals of the wanted names.
func totals(c Counts, want map[string]uint64) map[string]uint64 {
	got := map[string]uint64{}
	for name := range want {
		got[name] = c.Total(name)
	}
	return got
}

func TestGompTruth(t *testing.T) {
	const reps, n = 3, 8
	for _, threads := range []uint64{1, 2, 4} {
		for _, level := range []string{"-O0", "-O3"} {
			t.Run(level+" threads="+strconv.FormatUint(threads, 10), func(t *testing.T) {
				bin := Build(t, "constructs.c", Options{Flags: []string{level}})
				c := RunTruth(t, bin, []string{strconv.Itoa(reps), strconv.Itoa(n)},
					[]string{"OMP_NUM_THREADS=" + strconv.FormatUint(threads, 10), "TRUTH_BODIES=1"})
				want := map[string]uint64{
					"GOMP_critical_start":          2 * reps * threads,
					"GOMP_critical_end":            2 * reps * threads,
					"GOMP_critical_name_start":     reps * threads,
					"GOMP_single_copy_start":       reps * threads,
					"GOMP_single_copy_end":         reps,
					"GOMP_single_start:taken":      2 * reps,
					"GOMP_sections_start":          2 * reps * threads,
					"GOMP_parallel_sections":       reps,
					"GOMP_ordered_start":           reps * n,
					"GOMP_ordered_end":             reps * n,
					"omp_set_lock":                 reps * (threads + 1),
					"omp_unset_lock":               reps * (2*threads + 1),
					"omp_test_lock":                2 * reps * threads,
					"omp_test_lock:taken":          reps * threads,
					"omp_set_nest_lock":            2 * reps * threads,
					"omp_test_nest_lock:taken":     reps * threads,
					"omp_unset_nest_lock":          3 * reps * threads,
					"GOMP_single_copy_start:taken": reps,
					"GOMP_parallel_sections:body":  reps * threads,
				}
				if diff := cmp.Diff(want, totals(c, want)); diff != "" {
					t.Errorf("counts (-want +got):\n%s", diff)
				}
				// Three sections, two of the nowait construct, and the two
				// of parallel sections, which hands out its first by next.
				sections := c.Total("GOMP_sections_start:taken") + c.Total("GOMP_sections_next:taken")
				if sections != reps*(3+2+2) {
					t.Errorf("%d sections executed, want %d", sections, reps*(3+2+2))
				}
				for thread := range int(threads) {
					if got := c["GOMP_critical_start"][thread]; got != 2*reps {
						t.Errorf("thread %d: %d criticals, want %d", thread, got, 2*reps)
					}
				}
			})
		}
	}
}

func TestOmptTruth(t *testing.T) {
	const reps, n = 3, 8
	for _, compiler := range []string{"clang-14", "clang-19"} {
		for _, threads := range []uint64{1, 2, 4} {
			t.Run(compiler+" threads="+strconv.FormatUint(threads, 10), func(t *testing.T) {
				bin := Build(t, "constructs.c", Options{Compiler: compiler})
				c := RunTruth(t, bin, []string{strconv.Itoa(reps), strconv.Itoa(n)},
					[]string{"OMP_NUM_THREADS=" + strconv.FormatUint(threads, 10)})
				want := map[string]uint64{
					"critical":         3 * reps * threads,
					"critical:taken":   3 * reps * threads,
					"lock":             reps * (threads + 1),
					"lock:taken":       reps * (threads + 1),
					"test_lock":        2 * reps * threads,
					"test_lock:taken":  reps * threads,
					"nest_lock":        2 * reps * threads,
					"nest_lock:taken":  reps * threads,
					"test_nest_lock":   reps * threads,
					"ordered":          reps * n,
					"barrier_explicit": 2 * reps * threads,
					"single_executor":  3 * reps,
					"single_other":     3 * reps * (threads - 1),
					"sections":         3 * reps * threads,
					"flush":            reps * threads,
				}
				if diff := cmp.Diff(want, totals(c, want)); diff != "" {
					t.Errorf("counts (-want +got):\n%s", diff)
				}
			})
		}
	}
}

// The processes of a tree and threads that are gone must all be counted.
func TestTruthSeesEverything(t *testing.T) {
	constructs := Build(t, "constructs.c", Options{})
	for _, tc := range []struct {
		src       string
		args      []string
		criticals uint64
		symbol    string
	}{
		{"storm.c", []string{"200"}, 300, "GOMP_critical_name_start"},
		{"masters.c", []string{"3", "20"}, 20 * (2 + 3 + 4), "GOMP_critical_start"},
		{"forks.c", []string{constructs}, (3+2)*4 + 2*4, "GOMP_critical_start"},
		{"exits.c", []string{"3", "1"}, 16, "GOMP_critical_start"},
		{"exits.c", []string{"3", "0", "_exit"}, 16, "GOMP_critical_start"},
	} {
		t.Run(strings.Join(append([]string{tc.src}, tc.args[1:]...), " "), func(t *testing.T) {
			c := RunTruth(t, Build(t, tc.src, Options{}), tc.args, []string{"OMP_NUM_THREADS=4"})
			if got := c.Total(tc.symbol); got != tc.criticals {
				t.Errorf("%d criticals, want %d", got, tc.criticals)
			}
		})
	}
}

func TestTruthOfOpenedLibrary(t *testing.T) {
	lib := Build(t, "libregions.c", Options{Flags: []string{"-O2", "-fPIC", "-shared"}})
	bin := Build(t, "dlopened.c", Options{NoOpenMP: true})
	c := RunTruth(t, bin, []string{lib, "3", "5"}, []string{"OMP_NUM_THREADS=2"})
	want := map[string]uint64{"GOMP_parallel": 15, "GOMP_critical_name_start": 30}
	if diff := cmp.Diff(want, totals(c, want)); diff != "" {
		t.Errorf("counts (-want +got):\n%s", diff)
	}
}

// Results need a frame in the call chain, so they can be switched off; the
// number of calls must not depend on it.
func TestTruthWithoutResults(t *testing.T) {
	bin := Build(t, "constructs.cpp", Options{})
	env := []string{"OMP_NUM_THREADS=2"}
	with := RunTruth(t, bin, nil, env)
	without := RunTruth(t, bin, nil, append(env, "TRUTH_RESULTS=0"))
	const loop = "GOMP_loop_nonmonotonic_dynamic_start"
	if with.Total(loop+":taken") == 0 || without.Total(loop+":taken") != 0 {
		t.Errorf("positive results: %d with, %d without", with.Total(loop+":taken"), without.Total(loop+":taken"))
	}
	for _, symbol := range []string{loop, "omp_set_lock", "omp_unset_lock", "GOMP_parallel", "GOMP_critical_name_start"} {
		if a, b := with.Total(symbol), without.Total(symbol); a != b || a == 0 {
			t.Errorf("%s: %d with results, %d without", symbol, a, b)
		}
	}
}

// Every program runs and finds its own results right.
func TestPrograms(t *testing.T) {
	for _, tc := range []struct {
		src, compiler string
		args          []string
	}{
		{"constructs.c", "gcc", nil},
		{"constructs.c", "clang-14", nil},
		{"constructs.cpp", "g++", nil},
		{"constructs.cpp", "clang++-19", nil},
		{"constructs.f90", "gfortran", nil},
		{"recurse.c", "gcc", nil},
		{"recurse.c", "clang-19", nil},
		{"masters.c", "clang-19", nil},
		{"storm.c", "clang-19", []string{"100"}},
		{"saturate.c", "gcc", []string{"testlock", "100"}},
		{"longrun.c", "gcc", []string{"0.05"}},
		{"timed.c", "gcc", []string{"nested", "2", "5"}},
		{"demo/plate.c", "gcc", []string{"32", "2"}},
	} {
		t.Run(tc.src+" "+tc.compiler, func(t *testing.T) {
			cmd := exec.Command(Build(t, tc.src, Options{Compiler: tc.compiler}), tc.args...)
			cmd.Env = append(os.Environ(), "OMP_NUM_THREADS=2")
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

func TestBuildIsKept(t *testing.T) {
	opt := Options{NoOpenMP: true, Flags: []string{"-O1"}}
	first := Build(t, "plain.c", opt)
	before, err := os.Stat(first)
	if err != nil {
		t.Fatal(err)
	}
	second := Build(t, "plain.c", opt)
	after, err := os.Stat(second)
	if err != nil {
		t.Fatal(err)
	}
	if first != second || !os.SameFile(before, after) {
		t.Errorf("compiled twice: %s, %s", first, second)
	}
	opt.Flags = []string{"-O0"}
	if other := Build(t, "plain.c", opt); filepath.Dir(other) == filepath.Dir(first) {
		t.Errorf("one binary for two sets of flags: %s", other)
	}
}

func TestParseCounts(t *testing.T) {
	for _, tc := range []struct {
		name, text string
		want       Counts
		err        string
	}{
		{"empty", "", Counts{}, ""},
		{"sums", "a 0 1\nb 2 3\na 0 4\n", Counts{"a": {0: 5}, "b": {2: 3}}, ""},
		{"short", "a 0\n", nil, "line 1: want 3 fields"},
		{"thread", "a 0 1\na -1 1\n", nil, "line 2: thread number"},
		{"count", "a 0 x\n", nil, "line 1: count"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := ParseCounts(strings.NewReader(tc.text))
			if tc.err != "" {
				if err == nil || !strings.Contains(err.Error(), tc.err) {
					t.Fatalf("error %v, want %q", err, tc.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func FuzzParseCounts(f *testing.F) {
	f.Add("GOMP_barrier 0 12\n")
	f.Add("a 0\n")
	f.Fuzz(func(t *testing.T, text string) {
		c, err := ParseCounts(strings.NewReader(text))
		if (err == nil) != (c != nil) {
			t.Errorf("counts %v with error %v", c, err)
		}
	})
}

// Tests that run at once get one program, which nobody replaces while another one measures it.
func TestBuiltOnce(t *testing.T) {
	src := filepath.Join(t.TempDir(), "new.c")
	if err := os.WriteFile(src, []byte("int main(void) { return 0; }\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	var got sync.Map // files
	t.Run("tests", func(t *testing.T) {
		for n := range 4 {
			t.Run(strconv.Itoa(n), func(t *testing.T) {
				t.Parallel()
				file, err := os.Stat(BuildFile(t, src, Options{NoOpenMP: true}))
				if err != nil {
					t.Fatal(err)
				}
				got.Store(n, file)
			})
		}
	})
	first, _ := got.Load(0)
	got.Range(func(n, file any) bool {
		if !os.SameFile(first.(os.FileInfo), file.(os.FileInfo)) {
			t.Errorf("test %v has another file than test 0", n)
		}
		return true
	})
}

// A program names a copy of its source that is no checkout's, holds the same, and has its headers.
func TestSourceIsShared(t *testing.T) {
	src := Program(t, "matrix.c")
	if strings.HasPrefix(src, Repo(t)+"/") {
		t.Errorf("the source is in the checkout: %s", src)
	}
	for _, name := range []string{"matrix.c", "matrix.h"} {
		want, err := os.ReadFile(filepath.Join(Repo(t), "testdata", "programs", name))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(filepath.Join(filepath.Dir(src), name)); err != nil || string(got) != string(want) {
			t.Errorf("%s: %v, or another text", name, err)
		}
	}
	out, err := exec.Command("readelf", "--debug-dump=info", Build(t, "plain.c", Options{NoOpenMP: true})).Output()
	if err != nil {
		t.Skipf("readelf: %v", err)
	}
	if !strings.Contains(string(out), Program(t, "plain.c")) {
		t.Errorf("the debug information does not name %s", Program(t, "plain.c"))
	}
}

// What is made is made once for what the sources hold, and again if it was not made whole.
func TestMade(t *testing.T) {
	src := filepath.Join(t.TempDir(), "source")
	made, root := 0, t.TempDir() // as part of the key: this run alone
	get := func(text, key string) string {
		if err := os.WriteFile(src, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		dir := Made(t, []string{root, key}, []string{src}, func(dir string) {
			made++
			if err := os.WriteFile(filepath.Join(dir, "it"), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		})
		t.Cleanup(func() { _ = os.RemoveAll(dir); _ = os.Remove(dir + ".lock") })
		b, err := os.ReadFile(filepath.Join(dir, "it"))
		if err != nil || string(b) != text {
			t.Errorf("%q, %v, want %q", b, err, text)
		}
		return dir
	}
	first := get("one", "a")
	for _, tc := range []struct {
		text, key string
		same      bool
		made      int
	}{{"one", "a", true, 1}, {"two", "a", false, 2}, {"one", "b", false, 3}, {"one", "a", true, 3}} {
		if dir := get(tc.text, tc.key); (dir == first) != tc.same || made != tc.made {
			t.Errorf("%+v: the first's folder: %t, made %d times", tc, dir == first, made)
		}
	}
	if err := os.Remove(filepath.Join(first, ".made")); err != nil {
		t.Fatal(err)
	}
	if get("one", "a"); made != 4 {
		t.Errorf("what was not made whole was made %d times in all, want 4", made)
	}
}

// A program whose text a test has written is compiled once.
func TestSourceIsKept(t *testing.T) {
	build := func(text string) string {
		return BuildFile(t, Source(t, "kept.c", text), Options{NoOpenMP: true})
	}
	const text = "int main(void) { return 0; }\n"
	first := build(text)
	if again := build(text); again != first {
		t.Errorf("compiled twice: %s, %s", first, again)
	}
	if other := build(text + "\n"); other == first {
		t.Error("another text gives the same program")
	}
}

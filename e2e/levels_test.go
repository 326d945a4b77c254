package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"ompp-attach/event"
	"ompp-attach/internal/testbin"
	"ompp-attach/profile"
)

// scalapackLevels are the levels of Debian's libscalapack, which holds three of them in one file.
var scalapackLevels = [][2]string{
	{"scalapack", `^p[sdcz]ge(sv|trf|trs|tf2)_$`},
	{"pblas", `^p[sdcz](gemm|gemv|ger|trsm|trsv|swap|amax|scal)_$`},
	{"blacs", `^(C?blacs_|C?[isdcz](ge|tr)(sd|rv|bs|br)2d|C?[isdcz]g(am[xn]|sum)2d)`},
}

// levelShim writes a library that stands before the functions of the levels of another one, which
// has part in its file's name. The library counts the calls that come from another level, or from
// outside of the library.
func levelShim(t *testing.T, library, part string, levels [][2]string) string {
	t.Helper()
	out, err := exec.Command("nm", "-D", "--defined-only", library).Output()
	if err != nil {
		t.Skipf("nm -D %s: %v", library, err)
	}
	var src strings.Builder
	src.WriteString(`#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static __thread int inside = -1;
static struct { const char *level, *name; unsigned long n; } counts[4096];
static int known;
static void *real(const char *name) { void *p = dlsym(RTLD_NEXT, name); if (!p) abort(); return p; }
static int in_library(void *at) { Dl_info i; return dladdr(at, &i) && strstr(i.dli_fname, "` + part + `"); }
__attribute__((destructor)) static void tell(void)
{
	char name[4096];
	snprintf(name, sizeof(name), "%s/%d", getenv("SHIM_OUT"), getpid());
	FILE *f = fopen(name, "w");
	for (int i = 0; f && i < known; i++)
		if (counts[i].n) fprintf(f, "%s/%s %lu\n", counts[i].level, counts[i].name, counts[i].n);
	if (f) fclose(f);
}
#define ARGS long a, long b, long c, long d, long e, long f, long g, long h, long i, long j, long k, long l, long m, long n, long o, long p, long q, long r, long s, long t, long u
#define PASS a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u
/* The functions take pointers and whole numbers. Those that take fewer leave the rest unread. */
#define SHIM(of, index, fn) long fn(ARGS) { static long (*to)(ARGS); static int at = -1; int before = inside; \
	if (at < 0) { to = (long (*)(ARGS))real(#fn); at = known++; counts[at].level = #of; counts[at].name = #fn; } \
	if (!in_library(__builtin_return_address(0)) || before != index) counts[at].n++; \
	inside = index; long v = to(PASS); inside = before; return v; }
`)
	for _, line := range strings.Split(string(out), "\n") {
		f := strings.Fields(line)
		if len(f) != 3 || f[1] != "T" {
			continue
		}
		for i, l := range levels {
			if regexp.MustCompile(l[1]).MatchString(f[2]) {
				fmt.Fprintf(&src, "SHIM(%s, %d, %s)\n", l[0], i, f[2])
				break
			}
		}
	}
	dir := t.TempDir()
	c, so := filepath.Join(dir, "shim.c"), filepath.Join(dir, "shim.so")
	if err := os.WriteFile(c, []byte(src.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	if msg, err := exec.Command("gcc", "-O1", "-w", "-fno-builtin", "-shared", "-fPIC", "-o", so, c, "-ldl").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, msg)
	}
	return so
}

// shimCounts are the calls that a shim has counted, of all processes.
func shimCounts(t *testing.T, dir string) map[string]uint64 {
	t.Helper()
	counts := map[string]uint64{}
	names, _ := filepath.Glob(filepath.Join(dir, "*"))
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if strings.TrimSpace(string(b)) == "" {
			continue
		}
		for k, n := range printedCounts(t, string(b)) {
			counts[k] += n
		}
	}
	return counts
}

// levelCounts are the executions of levels' functions, as LEVEL/NAME.
func levelCounts(p *profile.Profile, into map[string]uint64) {
	for _, n := range p.Nodes {
		if n.Region < 0 || p.Regions[n.Region].Construct != event.UserRegion {
			continue
		}
		r := &p.Regions[n.Region]
		for _, s := range n.Stats {
			into[r.Level+"/"+r.Name] += s.Exec.C
		}
	}
}

// A program on ScaLAPACK, PBLAS, BLACS and MPI shows its four levels, with the counts of a library
// between them.
func TestLevels(t *testing.T) {
	atOnce(t)
	const library = "/usr/lib/x86_64-linux-gnu/libscalapack-openmpi.so"
	if _, err := os.Stat(library); err != nil {
		t.Skip("libscalapack-openmpi-dev is not installed")
	}
	bin := testbin.OpenMPI.Build(t, "scalapack.c", testbin.Options{Flags: []string{"-O2", "-g", "-Wl,--no-as-needed", "-lscalapack-openmpi"}, NoOpenMP: true})
	shim, dir := levelShim(t, library, "libscalapack", scalapackLevels), t.TempDir()
	line := testbin.OpenMPI.Launch(4, "env", "SHIM_OUT="+dir, "LD_PRELOAD="+shim, bin)
	cmd := exec.Command(line[0], line[1:]...)
	cmd.Env = append(os.Environ(), testbin.OpenMPI.LaunchEnv(t)...)
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "solved") {
		t.Fatalf("under the shim: %v\n%s", err, out)
	}
	want := shimCounts(t, dir)
	opt := options{}
	for _, l := range scalapackLevels {
		opt.flags = append(opt.flags, "--level", l[0]+"=libscalapack:"+l[1])
	}
	got := map[string]uint64{}
	seen := map[string]bool{}
	for _, p := range runJob(t, testbin.OpenMPI, 4, opt, bin) {
		levelCounts(p, got)
		// MPI operations lie in functions of BLACS, and these in functions of PBLAS or ScaLAPACK.
		for _, n := range p.Nodes {
			if n.Region >= 0 && p.Regions[n.Region].Construct == event.MPI && n.Parent > 0 {
				path := ""
				for at := n.Parent; at > 0; at = p.Nodes[at].Parent {
					path = p.Regions[p.Nodes[at].Region].Level + " " + path
				}
				seen[path] = true
			}
		}
	}
	sameCounts(t, got, want)
	if len(want) < 10 || !seen["scalapack pblas blacs "] {
		t.Errorf("%d functions were called; MPI operations lie in %v", len(want), seen)
	}
}

// FFTW's functions are a level, with the counts of a library between. fftw_execute ends in a jump
// to code that only the plan knows. So its time is not its own, which a note says. The teams of
// FFTW's OpenMP variant lie beside it.
func TestFFTWLevel(t *testing.T) {
	atOnce(t)
	needTool(t)
	const library = "/usr/lib/x86_64-linux-gnu/libfftw3.so.3"
	bin := filepath.Join(t.TempDir(), "fft")
	if out, err := exec.Command("gcc", "-O1", "-g", "-o", bin, filepath.Join(testbin.Repo(t), "testdata/programs/fft.c"), "-lfftw3_omp", "-lfftw3", "-lm").CombinedOutput(); err != nil {
		t.Skipf("no libfftw3-dev here: %s", out)
	}
	levels := [][2]string{{"fft", `^fftw_(execute|plan_dft|destroy_plan)`}}
	shim, dir := levelShim(t, library, "libfftw3", levels), t.TempDir()
	const rounds = 25
	cmd := exec.Command(bin, fmt.Sprint(rounds))
	cmd.Env = append(os.Environ(), "SHIM_OUT="+dir, "LD_PRELOAD="+shim)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("under the shim: %v\n%s", err, out)
	}
	want := shimCounts(t, dir)
	if want["fft/fftw_execute"] != rounds+3 || want["fft/fftw_execute_dft"] != rounds || want["fft/fftw_destroy_plan"] != 5 {
		t.Fatalf("the shim has counted %v", want)
	}
	s := clean(t, options{flags: []string{"--level", "fft=libfftw3.so*:" + levels[0][1]}}, bin, fmt.Sprint(rounds))
	got := map[string]uint64{}
	levelCounts(s.main, got)
	sameCounts(t, got, want)
	teams, noted := uint64(0), 0
	for _, n := range s.main.Nodes {
		if n.Region < 0 {
			continue
		}
		r := &s.main.Regions[n.Region]
		if r.Construct.IsParallel() {
			for _, st := range n.Stats {
				teams += st.Exec.C
			}
		}
		if strings.HasPrefix(r.Name, "fftw_execute") && strings.Contains(strings.Join(r.Notes, " "), "may end by a jump") {
			noted++
		}
	}
	if teams < rounds || noted != 3 {
		t.Errorf("%d executions of teams; %d call sites say that the function ends by a jump", teams, noted)
	}
}

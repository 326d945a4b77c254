package target

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"ompp-attach/event"
	"ompp-attach/internal/testbin"
	"ompp-attach/probes/openmp"
	"ompp-attach/symbols"
)

// A runtime is found by the functions that it defines, whatever its name and path are.
func TestMayBeRuntime(t *testing.T) {
	dir := t.TempDir()
	renamed := func(compiler, lib, as string) string {
		out, err := exec.Command(compiler, "-print-file-name="+lib).Output()
		from := strings.TrimSpace(string(out))
		if err != nil || !filepath.IsAbs(from) {
			t.Skipf("%s has no %s", compiler, lib)
		}
		b, err := os.ReadFile(from)
		if err != nil {
			t.Fatal(err)
		}
		to := filepath.Join(dir, as)
		if err := os.WriteFile(to, b, 0o755); err != nil {
			t.Fatal(err)
		}
		return to
	}
	gomp := func(flags ...string) string {
		return testbin.Build(t, "longrun.c", testbin.Options{Flags: append([]string{"-O2"}, flags...)})
	}
	// A library that holds a runtime and hides it. Only its appearance matters here.
	hidden := filepath.Join(dir, "libhidden.c")
	if err := os.WriteFile(hidden, []byte(`#include <pthread.h>
#define LOCAL __attribute__((visibility("hidden"), used)) int
LOCAL GOMP_parallel(void) { return 1; }
LOCAL omp_get_thread_num(void) { return 0; }
int plugin(pthread_t *t, void *(*f)(void *)) {
	pthread_attr_t a;
	pthread_attr_init(&a);
	pthread_attr_setstacksize(&a, 1 << 20);
	return pthread_create(t, &a, f, 0);
}
`), 0o644); err != nil {
		t.Fatal(err)
	}
	compiled := func(as string, flags ...string) string {
		out := filepath.Join(dir, as)
		if b, err := exec.Command("gcc", append([]string{"-shared", "-fPIC", "-o", out, hidden}, flags...)...).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, b)
		}
		return out
	}
	for _, tc := range []struct {
		name, path string
		may        bool
		is         event.Runtime
	}{
		{"libgomp under a hashed name", renamed("gcc", "libgomp.so.1", "libgomp-a34b3233.so.1"), true, event.Gomp},
		{"libgomp under another name", renamed("gcc", "libgomp.so.1", "plugin.so"), true, event.Gomp},
		{"libomp under another name", renamed("clang-19", "libomp.so", "plugin2.so"), true, event.Kmpc},
		{"program", gomp(), true, event.NoRuntime},
		{"static program", gomp("-static"), true, event.Gomp},
		{"static-pie", gomp("-static-pie"), true, event.Gomp},
		{"hidden in a library", compiled("a.so"), true, event.Gomp},
		{"hidden, no names", compiled("b.so", "-s"), false, event.NoRuntime},
		{"sysv hash", compiled("c.so", "-s", "-Wl,--hash-style=sysv"), false, event.NoRuntime},
		{"library that uses OpenMP", testbin.Build(t, "libregions.c", testbin.Options{Flags: []string{"-O2", "-fPIC", "-shared"}}), false, event.NoRuntime},
	} {
		t.Run(tc.name, func(t *testing.T) {
			o, err := symbols.OpenObject(tc.path)
			if err != nil {
				t.Fatal(err)
			}
			defer o.Close()
			if may, is := MayBeRuntime(o), openmp.Identify(o); may != tc.may || is != tc.is {
				t.Errorf("may be a runtime: %t, want %t; is %v, want %v", may, tc.may, is, tc.is)
			}
		})
	}
}

// Not all of the hundreds of libraries of a process may be parsed. Opening them costs no more than
// /proc/PID/maps does.
func BenchmarkMayBeRuntime(b *testing.B) {
	libs, err := filepath.Glob("/usr/lib/*/lib*.so.*")
	if err != nil || len(libs) == 0 {
		b.Skip("no libraries to look at")
	}
	for b.Loop() {
		looked := 0
		for _, lib := range libs[:min(len(libs), 300)] {
			b.StopTimer()
			o, err := symbols.OpenObject(lib)
			b.StartTimer()
			if err != nil {
				continue
			}
			MayBeRuntime(o)
			looked++
			b.StopTimer()
			o.Close()
			b.StartTimer()
		}
		b.ReportMetric(float64(looked), "libraries")
	}
}

func TestSystemLibraries(t *testing.T) {
	for path, want := range map[string]bool{
		"/usr/lib/x86_64-linux-gnu/libopenblas.so.0": true, "/lib64/libc.so.6": true, "/opt/app/lib/libgomp-a34b3233.so.1": true,
		"/opt/app/lib/libsolve.so": false, "/usr/local/lib/libsolve.so": false, "/home/u/a.out": false,
	} {
		if got := IsSystem(path); got != want {
			t.Errorf("%s: %t", path, got)
		}
	}
}

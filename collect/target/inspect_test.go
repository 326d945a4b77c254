package target

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"ompp-attach/event"
	"ompp-attach/internal/testbin"
)

// started runs a program in the background and waits until it has threads.
func started(t *testing.T, bin string, threads int, args ...string) int {
	t.Helper()
	cmd := exec.Command(bin, args...)
	cmd.Env = append(os.Environ(), "OMP_NUM_THREADS=2")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	testbin.Until(t, "the program has its threads", func() bool { return len(ThreadsOf(cmd.Process.Pid)) >= threads })
	return cmd.Process.Pid
}

func TestInspect(t *testing.T) {
	longrun := func(opt testbin.Options) string { return testbin.Build(t, "longrun.c", opt) }
	for _, tc := range []struct {
		name     string
		bin      func() string
		kind     event.Runtime
		static   bool
		stripped bool
		lines    bool
		call     string // one of those imported
	}{
		{"gcc -g", func() string { return longrun(testbin.Options{}) }, event.Gomp, false, false, true, "GOMP_parallel"},
		{"gcc", func() string { return longrun(testbin.Options{Flags: []string{"-O2"}}) }, event.Gomp, false, false, false, "GOMP_critical_start"},
		{"gcc stripped", func() string { return longrun(testbin.Options{Flags: []string{"-O2", "-s"}}) }, event.Gomp, false, true, false, "GOMP_barrier"},
		{"gcc static", func() string { return longrun(testbin.Options{Flags: []string{"-O2", "-g", "-static"}}) }, event.Gomp, true, false, true, ""},
		{"clang -g", func() string { return longrun(testbin.Options{Compiler: "clang-19"}) }, event.Kmpc, false, false, true, "__kmpc_fork_call"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			bin := tc.bin()
			pid := started(t, bin, 2, "600")
			in, err := Inspect(pid)
			if err != nil {
				t.Fatal(err)
			}
			if in.Path != bin || in.NoOpenMP != "" || in.Process.Threads < 2 || (in.Libraries == 0) != tc.static {
				t.Errorf("path %s, no OpenMP %q, %d threads, %d libraries", in.Path, in.NoOpenMP, in.Process.Threads, in.Libraries)
			}
			if len(in.Runtimes) != 1 || len(in.Users) != 1 {
				t.Fatalf("%d runtimes, %d users, want 1 of each", len(in.Runtimes), len(in.Users))
			}
			r, u := in.Runtimes[0], in.Users[0]
			if r.Kind != tc.kind || r.Static != tc.static || r.Err != nil || r.Replaced {
				t.Errorf("runtime %+v", r)
			}
			sum := 0
			for _, n := range r.Costs {
				sum += n
			}
			if sum == 0 || sum != r.Probes || r.Returns == 0 || r.Returns > sum {
				t.Errorf("%d probes in classes %v, %d with return", r.Probes, r.Costs, r.Returns)
			}
			if tc.kind == event.Gomp && !tc.static && r.BuildID == "" {
				t.Error("no build-id")
			}
			if u.Path != bin || !u.Executable || u.Stripped != tc.stripped || u.Lines != tc.lines || u.Static != tc.static {
				t.Errorf("user %+v", u)
			}
			if tc.call != "" && !slices.Contains(u.Calls, tc.call) {
				t.Errorf("calls %v lack %s", u.Calls, tc.call)
			}
			if len(u.Tasking()) > 0 {
				t.Errorf("tasks %v in a program without", u.Tasking())
			}
			if tc.lines {
				want := []Source{{testbin.Program(t, "longrun.c"), SourceFound}}
				if !slices.Equal(u.Sources, want) {
					t.Errorf("sources %v, want %v", u.Sources, want)
				}
			} else if len(u.Sources) > 0 {
				t.Errorf("sources %v without line information", u.Sources)
			}
			if name, err := Check(pid); err != nil || name != filepath.Base(bin) {
				t.Errorf("Check: %q, %v", name, err)
			}
			if err := CheckRuntime(pid); err != nil {
				t.Errorf("CheckRuntime: %v", err)
			}
		})
	}
}

func TestInspectWithoutOpenMP(t *testing.T) {
	pid := started(t, testbin.Build(t, "plain.c", testbin.Options{NoOpenMP: true}), 1, "600")
	in, err := Inspect(pid)
	if err != nil {
		t.Fatal(err)
	}
	if len(in.Runtimes) != 0 || len(in.Users) != 0 || !strings.Contains(in.NoOpenMP, "no OpenMP runtime") {
		t.Errorf("%+v", in)
	}
}

// TestInspectSource tells a source that is missing and one that is newer than the program from an
// unchanged one.
func TestInspectSource(t *testing.T) {
	dir := t.TempDir()
	src, bin := filepath.Join(dir, "loop.c"), filepath.Join(dir, "loop")
	text := "#include <unistd.h>\nint main(void) {\n#pragma omp parallel\n  pause();\n}\n"
	if err := os.WriteFile(src, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("gcc", "-g", "-fopenmp", "-o", bin, src).CombinedOutput(); err != nil {
		t.Fatalf("gcc: %v\n%s", err, out)
	}
	later := time.Now().Add(time.Hour)
	if err := os.Chtimes(src, later, later); err != nil {
		t.Fatal(err)
	}
	state := func(bin string) SourceState {
		in, err := Inspect(started(t, bin, 2))
		if err != nil {
			t.Fatal(err)
		}
		if len(in.Users) != 1 || len(in.Users[0].Sources) != 1 {
			t.Fatalf("users %+v, want one with one source", in.Users)
		}
		return in.Users[0].Sources[0].State
	}
	if s := state(bin); s != SourceNewer {
		t.Errorf("newer source: state %d, want %d", s, SourceNewer)
	}
	// This needs another file, since the results of reading a file are kept.
	if err := os.Remove(src); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(bin)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(bin+"2", b, 0o755); err != nil {
		t.Fatal(err)
	}
	if s := state(bin + "2"); s != SourceMissing {
		t.Errorf("source gone: state %d, want %d", s, SourceMissing)
	}
}

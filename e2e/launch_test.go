package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"ompp-attach/internal/testbin"
)

// The program keeps its streams, environment and working directory, and the
// shell that starts it is followed into it.
func TestProgramIsUndisturbed(t *testing.T) {
	atOnce(t)
	bin := testbin.Build(t, "constructs.c", testbin.Options{})
	wd := t.TempDir()
	s := clean(t, options{wd: wd, stdin: "one\ntwo\n", env: []string{"E2E=a b", "OMP_NUM_THREADS=2"}},
		"/bin/sh", "-c", `cat; pwd; echo "$E2E"; echo oops >&2; exec "$0" 1 8`, bin)
	if want := "one\ntwo\n" + wd + "\na b\n"; s.stdout != want {
		t.Errorf("stdout %q, want %q", s.stdout, want)
	}
	if s.stderr != "oops\n" {
		t.Errorf("stderr %q", s.stderr)
	}
	if s.main.Meta.Program != "constructs" {
		t.Errorf("the profile is %q's", s.main.Meta.Program)
	}
	complete(t, s.main)
}

// A program that runs another and ends with a status of its own.
func TestExitStatus(t *testing.T) {
	atOnce(t)
	bin := testbin.Build(t, "constructs.c", testbin.Options{})
	s := run(t, options{}, "/bin/sh", "-c", `"$0"; exit 7`, bin)
	if s.exit != 7 {
		t.Errorf("exit status %d, want 7; stderr: %s", s.exit, s.stderr)
	}
	if s.main != nil || len(s.others) != 1 {
		t.Errorf("profile of the shell: %t, further profiles: %d; want none and one", s.main != nil, len(s.others))
	}
	s = run(t, options{}, testbin.Build(t, "plain.c", testbin.Options{NoOpenMP: true}))
	if s.main != nil || len(s.others) != 0 {
		t.Error("a program without OpenMP has a profile")
	}
}

// started is the tool running in the background.
type started struct {
	cmd            *exec.Cmd
	dir            string
	stdout, stderr output
	began          time.Time
	ended          chan error
}

func start(t *testing.T, args ...string) *started {
	t.Helper()
	return startWith(t, nil, args...)
}

// startWith is start with more environment variables for the tool.
func startWith(t *testing.T, env []string, args ...string) *started {
	t.Helper()
	needTool(t)
	s := &started{dir: filepath.Join(t.TempDir(), "out"), began: time.Now(), ended: make(chan error, 1)}
	argv := append([]string{args[0], "-o", s.dir, "--quiet"}, args[1:]...)
	s.cmd = exec.Command(tool, argv...)
	s.cmd.Env = append(append(os.Environ(), "OMP_NUM_THREADS=2"), env...)
	s.cmd.Stdout, s.cmd.Stderr = &s.stdout, &s.stderr
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { s.ended <- s.cmd.Wait() }()
	t.Cleanup(func() { _ = s.cmd.Process.Kill() })
	return s
}

// wait returns the tool's exit status.
func (s *started) wait(t *testing.T) int {
	t.Helper()
	select {
	case <-s.ended:
		return s.cmd.ProcessState.ExitCode()
	case <-time.After(patience):
		_ = s.cmd.Process.Kill()
		t.Fatalf("the tool has not ended\nstderr: %s", s.stderr.String())
		return 0
	}
}

// childOf waits for the process that runs bin under a parent.
func childOf(t *testing.T, parent int, bin string) int {
	t.Helper()
	child := 0
	until(t, filepath.Base(bin)+" is started", func() bool {
		for _, pid := range childrenOf(parent) {
			if exe, _ := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid)); exe == bin {
				child = pid
			}
		}
		return child != 0
	})
	return child
}

// atWork waits until longrun has its team, and then for many of its regions.
func atWork(t *testing.T, pid int) {
	t.Helper()
	until(t, "the program has its team", func() bool {
		tasks, _ := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
		return len(tasks) >= targetThreads
	})
	untilPassed(t, pid, manyRegions)
}

// A signal ends the program, whether it is sent to it or to the tool, and the
// status says so; the profile is written.
func TestSignals(t *testing.T) {
	atOnce(t)
	bin := testbin.Build(t, "longrun.c", testbin.Options{})
	for _, tc := range []struct {
		name   string
		toTool bool
		signal syscall.Signal
	}{
		{"SIGTERM to the program", false, syscall.SIGTERM},
		{"SIGKILL to the program", false, syscall.SIGKILL},
		{"SIGTERM to the tool", true, syscall.SIGTERM},
		{"SIGINT to the tool", true, syscall.SIGINT},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := start(t, "run", "--", bin, "60")
			pid := childOf(t, s.cmd.Process.Pid, bin)
			atWork(t, pid)
			if tc.toTool {
				pid = s.cmd.Process.Pid
			}
			if err := syscall.Kill(pid, tc.signal); err != nil {
				t.Fatal(err)
			}
			if got, want := s.wait(t), 128+int(tc.signal); got != want {
				t.Errorf("exit status %d, want %d; stderr: %s", got, want, s.stderr.String())
			}
			p := decode(t, filepath.Join(s.dir, "profile.json.gz"))
			if got := count(p, execC, parallel)[0]; got == 0 {
				t.Error("no region was recorded")
			}
			if p.Meta.Unmatched != 0 || p.Meta.LostHits != 0 {
				t.Errorf("unmatched %d, lost %d", p.Meta.Unmatched, p.Meta.LostHits)
			}
		})
	}
}

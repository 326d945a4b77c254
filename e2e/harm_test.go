package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"ompp-attach/internal/testbin"
)

// What must not harm a program, or lose what was measured.

// su stops itself when the program that it has started is stopped, and waits until
// somebody continues it.
func TestParentThatStopsToo(t *testing.T) {
	atOnce(t)
	if _, err := exec.LookPath("su"); err != nil {
		t.Skip("there is no su")
	}
	bin := testbin.Build(t, "longrun.c", testbin.Options{})
	// Long enough to place probes in it meanwhile.
	s := start(t, "run", "--", "su", "root", "-s", "/bin/bash", "-c", bin+" 3")
	select {
	case err := <-s.ended:
		if err != nil {
			t.Errorf("%v: %s", err, s.stderr.String())
		}
	case <-time.After(patience):
		t.Error("the program has not ended")
		for _, pid := range childrenOf(s.cmd.Process.Pid) {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		return
	}
	profiles, _ := filepath.Glob(filepath.Join(s.dir, "profile.*json.gz"))
	if len(profiles) != 1 {
		t.Errorf("%d profiles, want one; %s", len(profiles), s.stderr.String())
	}
}

// Whoever watches over stopped processes is not meant by signals to the tool, and
// is replaced if somebody kills it.
func TestGuardianIsReplaced(t *testing.T) {
	atOnce(t)
	bin := testbin.Build(t, "longrun.c", testbin.Options{})
	const always = "OMPP_ATTACH_GUARDIAN=always" // also where the kernel needs none
	s := startWith(t, []string{always}, "run", "--", bin, aLongTime)
	guardians := func() []int {
		return slices.DeleteFunc(childrenOf(s.cmd.Process.Pid), func(pid int) bool {
			comm, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
			return err != nil || strings.TrimSpace(string(comm)) != "ompp-guardian"
		})
	}
	await := func(what string, old int) int {
		t.Helper()
		found := 0
		until(t, "a guardian "+what, func() bool {
			g := guardians()
			if len(g) == 1 && g[0] != old {
				found = g[0]
			}
			return found != 0
		})
		return found
	}
	first := await("at first", 0)
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP} {
		_ = syscall.Kill(first, sig)
	}
	time.Sleep(100 * time.Millisecond)
	if g := guardians(); !slices.Equal(g, []int{first}) {
		t.Errorf("guardians after signals: %v, want %d", g, first)
	}
	_ = syscall.Kill(first, syscall.SIGKILL)
	second := await("after one was killed", first)
	program := childOf(t, s.cmd.Process.Pid, bin)
	atWork(t, program)
	_ = syscall.Kill(program, syscall.SIGUSR1) // enough
	if err := <-s.ended; err != nil {
		t.Errorf("%v: %s", err, s.stderr.String())
	}
	if syscall.Kill(second, 0) == nil {
		t.Error("a guardian is left")
	}
}

// Processes that have ended are let go of also while others start all the time.
func TestEndedWhileOthersStart(t *testing.T) {
	atOnce(t)
	bin := testbin.Build(t, "longrun.c", testbin.Options{})
	const runs = 30
	s := start(t, "run", "--", "bash", "-c", fmt.Sprintf("(while sleep 0.02; do :; done) & for i in {1..%d}; do %s 0.01; done; kill $!", runs, bin))
	most := 0
	for over := false; !over; {
		select {
		case err := <-s.ended:
			if over = true; err != nil {
				t.Errorf("%v: %s", err, s.stderr.String())
			}
		case <-time.After(20 * time.Millisecond):
			most = max(most, linksOf(s.cmd.Process.Pid))
		}
	}
	profiles, _ := filepath.Glob(filepath.Join(s.dir, "profile.*json.gz"))
	if len(profiles) != runs {
		t.Errorf("%d profiles, want %d; %s", len(profiles), runs, s.stderr.String())
	}
	// A process has four, or less.
	if most == 0 || most > 2*runs {
		t.Errorf("at most %d links at a time, want those of some processes", most)
	}
}

// linksOf counts the links of BPF programs that a process holds.
func linksOf(pid int) (n int) {
	dir := fmt.Sprintf("/proc/%d/fd", pid)
	fds, _ := os.ReadDir(dir)
	for _, fd := range fds {
		if to, err := os.Readlink(filepath.Join(dir, fd.Name())); err == nil && strings.Contains(to, "bpf_link") {
			n++
		}
	}
	return n
}

package e2e

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
)

// enoughRegions is how many regions a program has to execute while it is attached to. windowOf
// wants 10 of them.
const enoughRegions = 30

// repeats waits until a program that pauses in each repetition, as longrun and ranks do, has
// repeated so often. A busy machine gives it no core for as long as it likes, so that a time tells
// nothing of how often that was.
func repeats(t *testing.T, pid, times int) {
	t.Helper()
	// A thread sleeps once in each pause. In a repetition it may wait some times more for its team.
	const most = 8
	began := sleeps(pid)
	until(t, "the program goes on", func() bool { return sleeps(pid) >= began+most*times })
}

// sleeps returns how often the first thread of a process has given its core away.
func sleeps(pid int) (n int) {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	_, text, _ := strings.Cut(string(b), "\nvoluntary_ctxt_switches:")
	_, _ = fmt.Sscan(text, &n)
	return n
}

// attachWhile attaches, and detaches when each of the processes has repeated so often while it was
// measured.
func attachWhile(t *testing.T, times int, pids []int, args ...string) *started {
	t.Helper()
	s := start(t, append([]string{"attach", "--quiet=false"}, args...)...)
	until(t, "the tool attaches", func() bool { return strings.Contains(s.stderr.String(), "attached to") })
	for _, pid := range pids {
		repeats(t, pid, times)
	}
	_ = s.cmd.Process.Signal(syscall.SIGINT)
	return s
}

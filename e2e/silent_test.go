package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"ompp-attach/internal/testbin"
)

// napping returns how many threads of a process sleep for a time.
func napping(pid int) (n int) {
	names, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/syscall", pid))
	for _, name := range names {
		b, _ := os.ReadFile(name)
		if call, _, _ := strings.Cut(string(b), " "); call == strconv.Itoa(unix.SYS_CLOCK_NANOSLEEP) || call == strconv.Itoa(unix.SYS_NANOSLEEP) {
			n++
		}
	}
	return n
}

// A process that waits in one region all the time shows nothing, and the report
// does not take that for a program without OpenMP.
func TestAttachedInSilence(t *testing.T) {
	atOnce(t)
	needTool(t)
	tg := launch(t, testbin.Build(t, "timed.c", testbin.Options{}), "imbalance", strconv.Itoa(targetThreads), aLongTime+"000")
	until(t, "all threads are at work", func() bool { return napping(tg.pid()) == targetThreads })
	p := start(t, "attach", "--duration", "300ms", "--pid", strconv.Itoa(tg.pid())).profile(t)
	want := fmt.Sprintf("its %d threads were outside of all constructs, or in one all the time", targetThreads)
	if p.Meta.Hits != 0 || !strings.Contains(strings.Join(p.Warnings, "\n"), want) {
		t.Errorf("%d hits, warnings %q", p.Meta.Hits, p.Warnings)
	}
}

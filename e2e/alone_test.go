package e2e

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// unlessOthersRun judges an attempt that needs the machine for itself. The tool has to read hits as
// fast as a program that does nothing else makes them. What is wrong fails the test, unless other
// programs took a good part of the processors meanwhile: then the attempt is made again.
func unlessOthersRun(t *testing.T, attempt func() (wrong []string)) {
	t.Helper()
	const attempts = 4
	for range attempts {
		before := readMachine(t)
		wrong := attempt()
		if len(wrong) == 0 || t.Failed() || judged(t, before, strings.Join(wrong, "; ")) {
			return
		}
	}
}

// severalTries judges what a bad moment may decide once, such as one in which a hypervisor takes a
// processor away. A fault of the tool shows in each try.
func severalTries(t *testing.T, try func() (wrong []string)) {
	t.Helper()
	const tries = 3
	for n := 1; ; n++ {
		wrong := try()
		switch {
		case len(wrong) == 0 || t.Failed():
			return
		case n == tries:
			t.Errorf("in each of %d tries, the last time:\n%s", tries, strings.Join(wrong, "\n"))
			return
		}
		t.Logf("try %d: %s", n, strings.Join(wrong, "; "))
	}
}

// judged fails the test with what is wrong, unless other programs took a good part of the
// processors since then. In that case it only tells, and judged is false.
func judged(t *testing.T, since machine, wrong string) bool {
	t.Helper()
	now := readMachine(t)
	said := fmt.Sprintf("others took %.0f %% of the processors; %s", 100*now.others(since), wrong)
	if now.busyWithOthers(since) {
		t.Logf("not judged: %s", said)
		return false
	}
	t.Error(said)
	return true
}

// machine is the time of all processors so far: in all, busy, and busy with this process and the
// children that it has waited for.
type machine struct{ all, busy, own time.Duration }

// others is the share of the time since then that other programs used.
func (m machine) others(then machine) float64 {
	return float64((m.busy-then.busy)-(m.own-then.own)) / float64(max(1, m.all-then.all))
}

// busyWithOthers is whether other programs took a good part of the processors since then.
func (m machine) busyWithOthers(then machine) bool { return m.others(then) >= 0.1 }

func readMachine(t *testing.T) (m machine) {
	t.Helper()
	b, err := os.ReadFile("/proc/stat")
	if err != nil {
		t.Fatal(err)
	}
	// proc_stat(5), in hundredths of a second; a guest's time is in the first two, too.
	var user, nice, system, idle, iowait, irq, softirq, steal time.Duration
	if _, err := fmt.Sscanf(string(b), "cpu %d %d %d %d %d %d %d %d", &user, &nice, &system, &idle, &iowait, &irq, &softirq, &steal); err != nil {
		t.Fatalf("/proc/stat: %v", err)
	}
	m.busy = (user + nice + system + irq + softirq + steal) * 10 * time.Millisecond
	m.all = m.busy + (idle+iowait)*10*time.Millisecond
	for _, who := range []int{unix.RUSAGE_SELF, unix.RUSAGE_CHILDREN} {
		var u unix.Rusage
		if err := unix.Getrusage(who, &u); err != nil {
			t.Fatal(err)
		}
		m.own += time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	return m
}

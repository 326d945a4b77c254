package e2e

import (
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A measurement of times is tried that often, with more time in between each
// turn: others may keep the machine busy for seconds.
const (
	timedAttempts = 6
	timedPause    = 300 * time.Millisecond
)

// timed tries a measurement of times until they are right. Each attempt returns
// a judge, which says what is wrong if anything may be as late as it is told. A machine on which no
// attempt is right is given the time for which its processors were away (a hypervisor's other
// guests, other programs). A witness on each processor saw that time. On a machine of its own that
// is nothing.
func timed(t *testing.T, attempt func() (judge func(late time.Duration) []string)) {
	t.Helper()
	var forgiven time.Duration
	var wrong []string
	for i := range timedAttempts {
		time.Sleep(time.Duration(i) * timedPause)
		w := watchProcessors()
		judge := attempt()
		late := w.end()
		if wrong = judge(0); len(wrong) == 0 || t.Failed() {
			return
		}
		if len(judge(late)) == 0 {
			forgiven = max(forgiven, late)
		}
	}
	if forgiven > 0 {
		t.Logf("right only but for the %s for which processors were away", forgiven)
		return
	}
	t.Errorf("in each of %d attempts, the last time:\n%s", timedAttempts, strings.Join(wrong, "\n"))
}

// witness adds up how late a thread on each processor wakes.
type witness struct {
	late atomic.Int64 // ns
	stop atomic.Bool
	wait sync.WaitGroup
}

func watchProcessors() *witness {
	// Later than this is late: waking takes some time on any machine.
	const period, late = time.Millisecond, time.Millisecond
	w := &witness{}
	for cpu := range runtime.NumCPU() {
		w.wait.Go(func() {
			runtime.LockOSThread() // ends with the goroutine, and so does its processor
			var set unix.CPUSet
			set.Set(cpu)
			if unix.SchedSetaffinity(0, &set) != nil {
				return
			}
			for !w.stop.Load() {
				began := time.Now()
				ts := unix.NsecToTimespec(int64(period))
				_ = unix.Nanosleep(&ts, nil)
				if d := time.Since(began) - period; d > late {
					w.late.Add(int64(d))
				}
			}
		})
	}
	return w
}

// end returns for how long processors were away, in sum over them.
func (w *witness) end() time.Duration {
	w.stop.Store(true)
	w.wait.Wait()
	return time.Duration(w.late.Load())
}

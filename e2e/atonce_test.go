package e2e

import (
	"os"
	"sync"
	"testing"
)

// spinning is the environment variable that says how the threads of OpenMP programs wait.
const spinning = "OMP_WAIT_POLICY"

// running counts the tests that run at once.
var running struct {
	sync.Mutex
	tests int
	was   string // spinning, before
}

// atOnce lets a test run beside others (test-counts in the Makefile reads this call). Such a test
// compares counts, or waits for events: no load decides it. Threads of its programs sleep while
// they wait. By default they spin, up to 200 ms in libomp, which would take the processors from
// the other tests' programs. The tests that run alone keep the default.
func atOnce(t *testing.T) {
	t.Helper()
	t.Parallel()
	running.Lock()
	defer running.Unlock()
	if running.tests++; running.tests == 1 {
		running.was = os.Getenv(spinning)
		_ = os.Setenv(spinning, "passive")
	}
	t.Cleanup(func() {
		running.Lock()
		defer running.Unlock()
		if running.tests--; running.tests > 0 {
			return
		}
		_ = os.Unsetenv(spinning) // with -count, tests that run alone follow
		if running.was != "" {
			_ = os.Setenv(spinning, running.was)
		}
	})
}

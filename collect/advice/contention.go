package advice

import (
	"fmt"

	"ompp-attach/preflight"
)

// Contention returns a warning if the hits of a process's threads may have cost more than was
// measured with one thread.
func Contention(m *preflight.Machine, threads int) string {
	if !m.HitsContend(threads) {
		return ""
	}
	return fmt.Sprintf("What a probe costs was measured with one thread. Before Linux 6.14 (this is %s) the hits of many threads at one time hold each other up: with %d threads probes may have taken several times what the report says, unless samples have corrected it.", m.Release, threads)
}

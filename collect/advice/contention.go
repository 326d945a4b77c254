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
	return fmt.Sprintf("The probes may have cost several times what the report says. Before Linux 6.14 (this is %s) hits of several threads hold each other up; here %d threads hit probes, and the cost was measured with one. Samples correct that where they were taken.", m.Release, threads)
}

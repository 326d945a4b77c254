package e2e

import (
	"testing"
	"time"

	"ompp-attach/internal/testbin"
)

// The processor time that the tool says it took itself is a part of what the kernel says: of what
// the tool and the program took together, less the program's.
func TestToolTime(t *testing.T) {
	atOnce(t)
	const reading = 100 * time.Millisecond // 800,000 hits take this and more
	bin := testbin.Build(t, "hydro.c", testbin.Options{Compiler: "gcc"})
	s := clean(t, options{env: threadsEnv(2)}, bin, "4000", "500")
	m := s.main.Meta
	told, program := time.Duration(m.ToolTime), time.Duration(m.UserTime+m.SysTime)
	tool := s.used - program
	t.Logf("%v of %v, of which the program took %v", told, s.used, program)
	// The kernel counts the program's times in ticks.
	if told > tool+50*time.Millisecond {
		t.Errorf("the tool says that it took %v; it took %v", told, tool)
	}
	// What the tool does while the program is stopped for its probes, and behind its end, does not
	// count. The rest is more than it takes to read the hits.
	if told < reading {
		t.Errorf("the tool says that it took %v of the %v that it took", told, tool)
	}
}

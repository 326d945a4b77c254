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
	if told < reading {
		t.Errorf("the tool says that it took %v of the %v that it took", told, tool)
	}
}

// The time that the tool takes while the program is stopped for its probes does not count: no
// thread lacks a core for that. Here nothing is cached, so the tool has to find the places of the
// probes while the program is stopped. That takes longer than the program runs.
func TestToolTimeLeavesOutStops(t *testing.T) {
	atOnce(t)
	bin := testbin.Build(t, "hydro.c", testbin.Options{Compiler: "clang-19"})
	s := clean(t, options{env: append(threadsEnv(2), "XDG_CACHE_HOME="+t.TempDir())}, bin, "1", "500")
	m := s.main.Meta
	told, stopped := time.Duration(m.ToolTime), time.Duration(m.Stopped.Total)
	t.Logf("%v, and the program was stopped for %v", told, stopped)
	if told > stopped/4 {
		t.Errorf("the tool says that it took %v; the program was stopped for %v", told, stopped)
	}
}

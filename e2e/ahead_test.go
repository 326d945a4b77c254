package e2e

import (
	"strings"
	"testing"

	"ompp-attach/internal/testbin"
)

// The table of a program's regions is made before the program starts, if the engine will ask for
// the table. That takes seconds for large programs that the tool has not seen before. While the
// rings are read, nothing may take so long: the rings would become full, and hits be lost.
func TestTableIsMadeBeforeTheStart(t *testing.T) {
	atOnce(t)
	bin := testbin.Build(t, "ahead.c", testbin.Options{})
	s := clean(t, options{env: append(threadsEnv(2), "XDG_CACHE_HOME="+t.TempDir())}, bin)
	if !strings.Contains(s.stdout, ".json") {
		t.Errorf("no table in the cache when the program starts: %q", s.stdout)
	}
}

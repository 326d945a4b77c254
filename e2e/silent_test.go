package e2e

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"ompp-attach/internal/testbin"
)

// A process that waits in one region all the time shows nothing, and the report
// does not take that for a program without OpenMP.
func TestAttachedInSilence(t *testing.T) {
	atOnce(t)
	needTool(t)
	tg := launch(t, testbin.Build(t, "timed.c", testbin.Options{}), "imbalance", strconv.Itoa(targetThreads), "30000")
	time.Sleep(time.Second) // all threads are at work, for half a minute
	p := start(t, "attach", "--duration", "300ms", "--pid", strconv.Itoa(tg.pid())).profile(t)
	want := fmt.Sprintf("its %d threads were outside of all constructs, or in one all the time", targetThreads)
	if p.Meta.Hits != 0 || !strings.Contains(strings.Join(p.Warnings, "\n"), want) {
		t.Errorf("%d hits, warnings %q", p.Meta.Hits, p.Warnings)
	}
}

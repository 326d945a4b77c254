package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// untouched fails the test if the runtime's code does not become what it was before in time:
// a breakpoint was left. The kernel may free a link after the process that held it has ended.
func (tg *target) untouched(t *testing.T) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for {
		left := tg.breakpoints(t)
		if left == "" {
			return
		}
		if time.Now().After(deadline) {
			t.Error(left)
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// breakpoints names a byte of the runtime's code that is not what it was before; empty:
// there is none.
func (tg *target) breakpoints(t *testing.T) string {
	t.Helper()
	checked := 0
	for name, is := range tg.readCode(t) {
		if !strings.HasPrefix(name, tg.runtimes) {
			continue // a file that others may probe
		}
		checked++
		was := tg.code[name]
		for i := range is {
			if i >= len(was) || is[i] != was[i] {
				return fmt.Sprintf("%s: byte %#x is %#x now", name, i, is[i])
			}
		}
	}
	if checked != 1 {
		t.Fatalf("%d runtimes of the tests' own are mapped, want 1", checked)
	}
	return ""
}

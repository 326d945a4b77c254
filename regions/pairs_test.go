package regions

import (
	"testing"

	"ompp-attach/event"
)

// TestPairs: if an empty single is directly followed by another single, each call gets its own
// directive. GCC gives the calls the line of the code before.
func TestPairs(t *testing.T) {
	for _, level := range []string{"-O0", "-O1", "-O2", "-O3", "-Os", "-Og"} {
		t.Run(level, func(t *testing.T) {
			t.Parallel()
			singles := 0
			tab := build(t, "align.c", "gcc", level, "-g")
			for i := range tab.Regions {
				r := &tab.Regions[i]
				if r.Construct != event.Single || r.Function != "pairs" {
					continue
				}
				if singles++; r.Measure != Exact {
					t.Errorf("the single of line %d is %s: %s", r.Begin, r.Measure, r.Why)
				}
			}
			if singles != 8 {
				t.Errorf("%d singles, want 8", singles)
			}
		})
	}
}

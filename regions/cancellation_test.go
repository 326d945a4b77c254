package regions

import "testing"

// TestCancellationPoint: a cancellation point has the name of the construct that it may cancel. It
// is not taken for that construct.
func TestCancellationPoint(t *testing.T) {
	for _, compiler := range []string{"gcc", "clang-19"} {
		tab, points := build(t, "joins.c", compiler, "-O1", "-g"), 0
		for i := range tab.Regions {
			r := &tab.Regions[i]
			if r.Begin != 100 {
				continue
			}
			if points++; r.Type() != "CANCELLATION POINT PARALLEL" {
				t.Errorf("%s: the cancellation point of line 100 is a %s", compiler, r.Type())
			}
		}
		if points != 1 {
			t.Errorf("%s: %d regions of line 100, want 1", compiler, points)
		}
	}
}

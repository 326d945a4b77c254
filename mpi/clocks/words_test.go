package clocks

import "testing"

// TestBoundText: bounds are rounded up, and have the unit in which they are short.
func TestBoundText(t *testing.T) {
	for ns, want := range map[int64]string{1: "0.1 us", 1000: "1.0 us", 1001: "1.1 us", 999_900: "999.9 us", 1e6: "1.0 ms", 15_269_800: "15.3 ms", 2_010_000_000: "2.1 sec"} {
		if got := BoundText(ns); got != want {
			t.Errorf("%d ns: %s, not %s", ns, got, want)
		}
	}
}

package collect

import (
	"math"
	"testing"
)

func TestSince(t *testing.T) {
	for _, tc := range []struct {
		to, from uint64
		want     int64
	}{{5, 3, 2}, {3, 5, 0}, {7, 7, 0}, {0, math.MaxUint64, 0}} {
		if got := since(tc.to, tc.from); got != tc.want {
			t.Errorf("since(%d, %d) = %d, want %d", tc.to, tc.from, got, tc.want)
		}
	}
}

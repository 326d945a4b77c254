package jobs

import (
	"math/big"
	"testing"

	"ompp-attach/job/spread"
)

// A receive may ask for more than comes: where sums show that, the text says what they count.
func TestAskedFor(t *testing.T) {
	for _, tc := range []struct {
		sent, received int64
		want           bool
	}{{0, 0, false}, {8, 8, false}, {8, 7, false}, {8, 9, true}} {
		got := askedFor(spread.Stats{Sum: big.NewInt(tc.sent)}, spread.Stats{Sum: big.NewInt(tc.received)})
		if (got != "") != tc.want {
			t.Errorf("%d sent, %d received: %q", tc.sent, tc.received, got)
		}
	}
}

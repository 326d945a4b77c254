package symbols

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestByAddress compares the result with that of the standard library's stable sort.
func TestByAddress(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for _, mask := range []uint64{0, 1, 1<<11 - 1, 1 << 11, 1<<24 - 1, 1<<33 - 1, 1<<64 - 1} {
		keys := make([]entry, 3000)
		for n := range keys {
			keys[n] = entry{0x400000 + rnd.Uint64()&mask, int32(n)}
		}
		want := slices.Clone(keys)
		slices.SortStableFunc(want, func(a, b entry) int { return compare(a.addr, b.addr) })
		if got := byAddress(keys); !slices.Equal(got, want) {
			t.Errorf("addresses within %#x are not in order", mask)
		}
	}
	if got := byAddress(nil); len(got) != 0 {
		t.Errorf("%v", got)
	}
}

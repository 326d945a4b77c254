package clocks

import (
	"fmt"
	"math"
)

// BoundText writes a bound (ns), rounded up, in the unit that makes it shortest.
func BoundText(ns int64) string {
	unit, name := 1e3, "us"
	switch {
	case ns >= 1e9:
		unit, name = 1e9, "sec"
	case ns >= 1e6:
		unit, name = 1e6, "ms"
	}
	return fmt.Sprintf("%.1f %s", math.Ceil(float64(ns)/unit*10)/10, name)
}

// Compared says how the clocks were compared, by messages or by synchronisation, and within which
// bounds. Each sentence follows a space.
func (a *Alignment) Compared() (s string) {
	for _, x := range []struct {
		messages, synchronised bool
		by                     string
	}{
		{true, false, "the order of messages"},
		{true, true, "the order of messages, and by what the kernels say of their synchronisation"},
		{false, true, "what the kernels say of their synchronisation"},
	} {
		n, least, most := 0, int64(0), int64(0)
		for i := range a.Links {
			k := &a.Links[i]
			if k.Messages != x.messages || k.Synchronised != x.synchronised {
				continue
			}
			if n++; n == 1 {
				least = k.Bound
			}
			least, most = min(least, k.Bound), max(most, k.Bound)
		}
		switch {
		case n == 1:
			s += fmt.Sprintf(" Clocks of 1 pair were compared by %s: within %s on average.", x.by, BoundText(most))
		case n > 1:
			s += fmt.Sprintf(" Clocks of %d pairs were compared by %s: within %s to %s on average.", n, x.by, BoundText(least), BoundText(most))
		}
	}
	return s
}

package words

import (
	"math"
	"strconv"
	"strings"
	"time"

	"ompp-attach/profile"
)

// Clock prints the times of one report, in seconds: its value is the number of decimals.
type Clock int

// ClockOf returns ompP's two decimals for runs of ten seconds or more, and more decimals for
// shorter runs. So a thousandth of a run shows, and columns stay as wide as ompP's.
func ClockOf(p *profile.Profile) Clock {
	c := Clock(2)
	if p.Meta.Duration <= 0 {
		return c
	}
	const most = 6 // microseconds
	for d := time.Duration(p.Meta.Duration); d < 10*time.Second && c < most; d *= 10 {
		c++
	}
	return c
}

// Seconds prints a time in ns as seconds, right-aligned to width. A time that rounds to zero has no
// sign.
func (c Clock) Seconds(ns int64, width int) string {
	return Decimal(float64(ns)/1e9, width, int(c))
}

// Wider returns the blanks by which a column of times is wider than ompP's seven characters. ns is
// the largest time in the column.
func (c Clock) Wider(ns int64) string {
	return strings.Repeat(" ", max(0, len(c.Seconds(ns, 0))-7))
}

// Time prints a time in ns with about three digits, in s, ms or us; page/web/format.ts does the
// same.
func Time(ns float64) string {
	unit, name := 1e3, "us"
	switch a := math.Abs(ns); {
	case a == 0:
		return "0 s"
	case a >= 1e11:
		return Decimal(ns/1e9, 0, 0) + " s"
	case a >= 1e9:
		return Decimal(ns/1e9, 0, 2) + " s"
	case a >= 1e6:
		unit, name = 1e6, "ms"
	}
	v := ns / unit
	// Three digits, but no exponent: 999.9 is 1000, not 1e+03.
	decimals := max(0, 2-int(math.Floor(math.Log10(math.Abs(v)))))
	text := strconv.FormatFloat(v, 'f', decimals, 64)
	if decimals > 0 {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return text + " " + name
}

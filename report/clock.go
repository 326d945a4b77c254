package report

import (
	"strings"
	"time"

	"ompp-attach/profile"
)

// clock prints the times of one report, in seconds: its value is the number of decimals.
type clock int

// clock is clockOf, unless the reader wants a number of decimals.
func (o Options) clock(p *profile.Profile) clock {
	if o.Decimals > 0 {
		return clock(o.Decimals)
	}
	return clockOf(p)
}

// clockOf has ompP's two decimals for a run of ten seconds, and more for shorter runs, so
// that a thousandth of the run shows, and columns are as wide as ompP's.
func clockOf(p *profile.Profile) clock {
	c := clock(2)
	if p.Meta.Duration <= 0 {
		return c
	}
	const most = 6 // microseconds
	for d := time.Duration(p.Meta.Duration); d < 10*time.Second && c < most; d *= 10 {
		c++
	}
	return c
}

// seconds prints a time, right-aligned to width. A time that rounds to zero has no sign.
func (c clock) seconds(ns int64, width int) string { return decimal(float64(ns)/1e9, width, int(c)) }

// wider returns by how many blanks a column of times has to be wider than ompP's
// seven characters, for the largest of them.
func (c clock) wider(ns int64) string {
	return strings.Repeat(" ", max(0, len(c.seconds(ns, 0))-7))
}

// seconds prints a time with ompP's two decimals, where no single run gives the number.
func seconds(ns int64, width int) string { return clock(2).seconds(ns, width) }

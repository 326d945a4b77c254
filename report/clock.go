package report

import (
	"strings"
	"time"

	"ompp-attach/profile"
	"ompp-attach/report/words"
)

// clock prints the times of one report, in seconds: its value is the number of decimals.
type clock int

// clock is clockOf, unless the user asks for a number of decimals.
func (o Options) clock(p *profile.Profile) clock {
	if o.Decimals > 0 {
		return clock(o.Decimals)
	}
	return clockOf(p)
}

// clockOf returns ompP's two decimals for runs of ten seconds or more, and more decimals for
// shorter runs. So a thousandth of a run shows, and columns stay as wide as ompP's.
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

// seconds prints a time in ns as seconds, right-aligned to width. A time that rounds to zero has no
// sign.
func (c clock) seconds(ns int64, width int) string {
	return words.Decimal(float64(ns)/1e9, width, int(c))
}

// wider returns the blanks by which a column of times is wider than ompP's seven characters. ns is
// the largest time in the column.
func (c clock) wider(ns int64) string {
	return strings.Repeat(" ", max(0, len(c.seconds(ns, 0))-7))
}

// seconds prints a time in ns with ompP's two decimals, for figures that belong to no single run.
func seconds(ns int64, width int) string { return clock(2).seconds(ns, width) }

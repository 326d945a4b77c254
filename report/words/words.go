// Package words puts names, places and numbers into words. Reports of processes and of jobs share
// it.
package words

import (
	"fmt"
	"math"
	"strings"

	"ompp-attach/profile"
)

// Clean makes a name of the measured program or of its files harmless to a line of text and to a
// terminal.
func Clean(s string) string { return profile.Pasteable(s) }

// Plural returns "1 thread", "2 threads".
func Plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// Percent writes a share in percent with one decimal, without the sign.
func Percent(share float64) string { return Decimal(100*share, 0, 1) }

// WholePercent returns a share as a percentage without decimals: "14%".
func WholePercent(share float64) string { return Decimal(100*share, 0, 0) + "%" }

// Decimal prints a number, right-aligned to width. A number that rounds to zero has no sign.
func Decimal(v float64, width, decimals int) string {
	unit := math.Pow10(-decimals)
	if math.Abs(v) < unit/2 {
		v = 0
	}
	return fmt.Sprintf("%*.*f", width, decimals, v)
}

// SnapshotTime is the form of times of snapshots, for time.Format.
const SnapshotTime = "2006-01-02 15:04:05"

// SplitText says how much of the time in MPI is communication, and how much start and end.
func SplitText(sec func(int64) string, communication, startEnd int64, operations []string) string {
	return fmt.Sprintf("%s communication, %s start and end (%s)", sec(max(0, communication)), sec(startEnd), strings.Join(operations, ", "))
}

// FirstOf joins the first n items, and says how many more there are.
func FirstOf(items []string, n int) string {
	if len(items) <= n {
		return strings.Join(items, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(items[:n], ", "), len(items)-n)
}

// Bullets returns a title and its items, or nil if there are no items.
func Bullets(title string, items []string) []string {
	if len(items) == 0 {
		return nil
	}
	out := []string{title}
	for _, i := range items {
		out = append(out, " * "+i)
	}
	return out
}

package timeline

import (
	"encoding/binary"
	"slices"

	"ompp-attach/event"
	"ompp-attach/profile"
)

// Counting says what the numbers in Span.Counts are.
type Counting struct {
	// Counters are those of the profile, in its order.
	// The profile's Running is known only at the end.
	Counters []profile.Counter `json:"counters"`
	// Column has, for each counter, its index in Counts; -1: it could not be counted.
	Column []int `json:"column"`
	// Turns is the number of counters that took turns; 0: all counted all of the time. Behind so
	// many counts come the times for which each of them counted, and the time on a core (ns).
	Turns int `json:"turns,omitempty"`
}

// valid tells whether the numbers lie within their bounds.
func (c *Counting) valid() bool {
	if len(c.Column) != len(c.Counters) || c.Turns < 0 || 2*c.Turns >= event.MaxCounts {
		return false
	}
	for _, at := range c.Column {
		if at < -1 || at >= event.MaxCounts {
			return false
		}
	}
	return true
}

// Count returns the i-th counter of Counting, of a list in Span.Counts. A counter that took turns
// is scaled to the whole time, as the profile scales its sums. So the executions' counts add up to
// the profile's but for the scaling. ok is false if the counter did not count.
func (f *File) Count(list []int64, i int) (n float64, ok bool) {
	at := f.Counting.Column[i]
	if at < 0 {
		return 0, false
	}
	if len(list) == 0 {
		return 0, true
	}
	if at >= len(list) {
		return 0, false
	}
	n = float64(list[at])
	if t := f.Counting.Turns; t > 0 {
		if at >= t || 2*t >= len(list) {
			return 0, false
		}
		ran, all := list[t+at], list[2*t]
		if ran <= 0 {
			return 0, all <= 0
		}
		return n * float64(all) / float64(ran), true
	}
	if c := f.Dictionary.Meta.Counters; i < len(c) && c[i].Running > 0 {
		n /= c[i].Running
	}
	return n, true
}

// CounterName names the i-th counter of Counting, with its unit. It tells if the counts are scaled.
func (f *File) CounterName(i int) string {
	c := &f.Counting.Counters[i]
	name := c.Name
	if c.Unit != "" {
		name += ", " + c.Unit
	}
	known := f.Dictionary.Meta.Counters
	if f.Counting.Turns > 0 || i < len(known) && known[i].Running > 0 {
		name += " (scaled)"
	}
	return name
}

// A span's counts begin with a number: how many there are, and these flags in its lowest bits.
const (
	countsPartial = 1 << iota
	countsChild   // the counts of the regions inside follow
	countsBits    = iota
)

func putCounts(b []byte, c *profile.Counts) []byte {
	head := uint64(len(c.All)) << countsBits
	if c.Partial {
		head |= countsPartial
	}
	if some(c.Child) {
		head |= countsChild
	}
	b = binary.AppendUvarint(b, head)
	for _, n := range c.All {
		b = binary.AppendVarint(b, n)
	}
	if head&countsChild != 0 {
		for _, n := range c.Child {
			b = binary.AppendVarint(b, n)
		}
	}
	return b
}

// some tells whether a list has a number that is not 0.
func some(list []int64) bool { return slices.ContainsFunc(list, func(n int64) bool { return n != 0 }) }

func takeCounts(r *source) *profile.Counts {
	head := r.unsigned()
	n := head >> countsBits
	if n > event.MaxCounts {
		r.bad = true
		return nil
	}
	c := &profile.Counts{Partial: head&countsPartial != 0}
	c.All = takeList(r, int(n))
	if head&countsChild != 0 {
		if c.Child = takeList(r, int(n)); !some(c.Child) {
			c.Child = nil
		}
	}
	return c
}

func takeList(r *source, n int) (out []int64) {
	for range n {
		out = append(out, r.signed())
	}
	return out
}

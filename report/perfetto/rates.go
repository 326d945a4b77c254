package perfetto

import (
	"fmt"
	"math"
	"time"

	"ompp-attach/report/words"
	"ompp-attach/timeline"
)

// rates adds up the counters of a process by bins of time. An execution's own counts are spread
// evenly over the time that it spent outside of the regions inside.
type rates struct {
	file  *timeline.File
	bins  *working    // the bins' times
	sums  [][]float64 // by counter and bin
	names []string
	list  []int64 // scratch
	// twofold are the nodes that have a part which is not shown by itself. For an execution at
	// such a node, it is not known what it counted without the regions inside.
	twofold map[int32]bool
}

// newRates returns nil if the spans have no counters.
func newRates(f *timeline.File, bins *working) *rates {
	if f.Counting == nil {
		return nil
	}
	r := &rates{file: f, bins: bins, twofold: map[int32]bool{}}
	for _, id := range f.Dictionary.Within {
		if int(id) < len(f.Dictionary.NodeOf) {
			r.twofold[f.Dictionary.NodeOf[id]] = true
		}
	}
	for i := range f.Counting.Counters {
		r.sums = append(r.sums, make([]float64, workBins))
		r.names = append(r.names, words.Clean(f.CounterName(i)))
	}
	return r
}

// counting is a thread whose counters are being spread.
type counting struct {
	*rates
	open  []countedSpan
	since uint64 // until which the innermost execution has its own time
}

// countedSpan is an open execution with counters. Times are of the engine's clock, ns.
type countedSpan struct {
	from, to uint64
	lo, hi   uint64    // between which its counters counted
	own      []float64 // its counts without those of the regions inside
	first    int       // the bin in which it began
	time     []uint64  // its own time, by bins from first on
	total    uint64    // of time
}

// span takes a span, in order of their starts. Spans without counts belong to the region around.
func (c *counting) span(s *timeline.Span) {
	if c.rates == nil || s.Counts == nil {
		return
	}
	c.until(s.From)
	e := countedSpan{from: s.From, to: s.To, lo: s.From, hi: s.To, own: c.ownCounts(s)}
	if s.Kind == timeline.Fold { // it does not say when its executions were
		c.spread(&e)
		return
	}
	if n := len(c.open); n > 0 { // a lock may reach out of what it was taken in
		e.to = min(e.to, c.open[n-1].to)
	}
	e.first = c.bins.bin(e.from)
	if c.ofWorker(s) { // its barrier is not counted
		e.lo += uint64(max(s.Parts[timeline.Enter].T, 0))
		e.hi = max(e.lo, e.hi-min(e.hi, uint64(max(s.Parts[timeline.Barrier].T+s.Parts[timeline.Exit].T, 0))))
	}
	c.open = append(c.open, e)
}

// ofWorker tells whether a span is a worker's part in a team.
func (c *counting) ofWorker(s *timeline.Span) bool {
	threads, n := c.file.Dictionary.Threads, int(s.Thread)
	return s.Team != 0 && n >= 0 && n < len(threads) && threads[n].Num > 0
}

// ownCounts returns the counts of a span without those of the regions inside.
func (c *counting) ownCounts(s *timeline.Span) []float64 {
	c.list = append(c.list[:0], s.Counts.All...)
	for i, n := range s.Counts.Child {
		c.list[i] -= n
	}
	out := make([]float64, len(c.sums))
	for i := range out {
		out[i], _ = c.file.Count(c.list, i)
	}
	return out
}

// until ends the executions that end before a time, and gives the innermost one its time.
func (c *counting) until(at uint64) {
	for n := len(c.open) - 1; n >= 0 && c.open[n].to <= at; n-- {
		e := &c.open[n]
		c.pass(e, e.to)
		c.spread(e)
		c.open = c.open[:n]
	}
	if n := len(c.open) - 1; n >= 0 {
		c.pass(&c.open[n], at)
	}
	c.since = max(c.since, at)
}

// pass gives an execution the time since the thread's last moment.
func (c *counting) pass(e *countedSpan, to uint64) {
	from := max(c.since, e.lo)
	c.bins.each(from, min(to, e.hi), func(bin int, ns uint64) {
		for len(e.time) <= bin-e.first {
			e.time = append(e.time, 0)
		}
		e.time[bin-e.first] += ns
		e.total += ns
	})
	c.since = max(c.since, to)
}

// spread adds an execution's counts to the bins of its own time. If it has none, they are spread
// over all of its time.
func (c *counting) spread(e *countedSpan) {
	if e.total == 0 {
		e.first, e.time = c.bins.bin(e.from), nil
		c.bins.each(e.from, max(e.to, e.from+1), func(_ int, ns uint64) {
			e.time = append(e.time, ns)
			e.total += ns
		})
	}
	for i, n := range e.own {
		for k, ns := range e.time {
			if ns > 0 {
				c.sums[i][e.first+k] += n * float64(ns) / float64(e.total)
			}
		}
	}
}

// counters writes the rate of each counter, as the mean of each bin.
func (p *process) counters(r *rates) {
	if r == nil || r.bins.to <= r.bins.from {
		return
	}
	for i, name := range r.names {
		if r.file.Counting.Column[i] >= 0 {
			p.means(r.bins, fmt.Sprintf("%s: per second, in regions (means of %s)", name, time.Duration(r.bins.width)),
				func(bin int) float64 { return r.sums[i][bin] * 1e9 })
		}
	}
}

// arguments are the counters of a span, with the regions inside and without them.
func (r *rates) arguments(s *timeline.Span) (a []argument) {
	if r == nil || s.Counts == nil {
		return nil
	}
	if s.Counts.Partial {
		a = append(a, argument{name: "counters", text: "known for a part of the execution only"})
	}
	for i, name := range r.names {
		all, ok := r.file.Count(s.Counts.All, i)
		if !ok {
			continue
		}
		a = append(a, argument{name: name, n: int64(math.Round(all))})
		if len(s.Counts.Child) > 0 && !r.twofold[s.Node] {
			child, _ := r.file.Count(s.Counts.Child, i)
			a = append(a, argument{name: name + ", without regions inside", n: int64(math.Round(all - child))})
		}
	}
	return a
}

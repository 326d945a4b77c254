package efficiencies

import (
	"fmt"

	"ompp-attach/efficiency"
)

// Estimates. e_mt of a single run takes for granted that the useful time is the serial time. All
// other figures are measured, unless constructs were not observed all of the time.

// estimated is the mark of an estimate in text.
const estimated = "~"

// estimates names the figures of a run that are estimates, for JSON and CSV.
func estimates(r *efficiency.Run) string {
	if r.Estimated() {
		return "all"
	}
	return "e_mt"
}

// extrapolated is the mark of figures that hold estimates of what was not observed.
func extrapolated(r *efficiency.Run) string {
	if r.Estimated() {
		return estimated
	}
	return ""
}

func (t *text) sec(ns int64) string { return extrapolated(t.run) + sec(ns) }

func (t *text) percent(share float64) string { return extrapolated(t.run) + percent(share) }

func (t *text) rate(v float64) string { return extrapolated(t.run) + rate(v) }

// emt prints a multithreading efficiency.
func emt(p *efficiency.Parts) string { return fmt.Sprintf("%s%s", estimated, rate(p.Efficiency())) }

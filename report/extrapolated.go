package report

import (
	"fmt"
	"math"

	"ompp-attach/analysis"
	"ompp-attach/attribution"
)

// To keep a budget, constructs are not observed for some of the time, and what
// was executed then is extrapolated: such figures bear a ~.

// extrapolatedMark stands before extrapolated figures.
const extrapolatedMark = "~"

// guessed marks a figure that is extrapolated in part.
func guessed(text string, extrapolated bool) string {
	if extrapolated {
		return extrapolatedMark + text
	}
	return text
}

// isExtrapolated tells whether some of a row's executions were not observed.
func isExtrapolated(s *attribution.ThreadStats) bool {
	return s.Estimate != nil && s.Estimate.Exec.C > 0
}

// holdsExtrapolated tells whether some of what was executed inside was not.
func holdsExtrapolated(s *attribution.ThreadStats) bool {
	return s.Estimate != nil && s.Estimate.Child != 0
}

// budgetHeader writes what a budget has led to.
func (o *ompp) budgetHeader(key func(name, format string, args ...any)) {
	m := &o.p.Meta
	if b := m.Budget; b != nil {
		key("Overhead Budget", "%s%% of a thread's time, at most %s%% used in any %.0f sec", share(b.Share), decimal(100*b.Worst, 0, 2), float64(b.Window)/1e9)
	}
	for _, x := range m.Observations {
		key("Extrapolated", "%s", observationText(&x))
	}
}

// observationText says how long constructs were not observed.
func observationText(x *attribution.Observation) string {
	return fmt.Sprintf("%s: %s sec in %s, from %s sec around them", x.Title(), seconds(x.Away, 0), plural(x.Gaps, "gap"), seconds(x.Sampled, 0))
}

// extrapolatedNotes tell which figures are extrapolated, and how far they may be
// off.
func extrapolatedNotes(p *attribution.Profile) []string {
	var items []string
	for _, b := range analysis.Flat(p) {
		e := b.Sum.Estimate
		if e == nil || e.Exec.C == 0 {
			continue
		}
		known := ""
		if e.CountError >= float64(e.Exec.C) {
			known = "; they were observed so briefly, or so dearly, that the rest is as good as unknown"
		}
		items = append(items, fmt.Sprintf("%s: %d executions (%d observed, the rest +- %.0f), %s sec (%s observed, the rest +- %s)%s",
			regionLabel(p, b.Region), b.Sum.Exec.C, minus(b.Sum.Exec.C, e.Exec.C), math.Ceil(e.CountError),
			seconds(b.Sum.Exec.T, 0), seconds(b.Sum.Exec.T-e.Exec.T, 0), decimal(e.TimeError/1e9, 0, 2), known))
	}
	if len(items) == 0 {
		return nil
	}
	for i := range p.Meta.Observations {
		items = append(items, "Not observed: "+observationText(&p.Meta.Observations[i])+".")
	}
	return bullets(extrapolatedMark+" stands before figures that are extrapolated in part: their probes were away for some of the time, to keep the measurement's cost within its budget. The times come out of the exclusive time of the regions around them. +- is one standard error:", items)
}

func minus(a, b uint64) uint64 {
	if b > a {
		return 0
	}
	return a - b
}

// extrapolatedTroubles are the summary's lines about it.
func extrapolatedTroubles(p *attribution.Profile) (out [][2]string) {
	var names []string
	for i := range p.Meta.Observations {
		names = append(names, p.Meta.Observations[i].Title())
	}
	if len(names) > 0 {
		out = append(out, [2]string{"extrapolated", firstOf(names, 4) + ", for some of the time: see the Measurement Notes of the text report"})
	}
	return out
}

// extrapolatedComments are pprof's comments about it.
func extrapolatedComments(p *attribution.Profile) (out []string) {
	for i := range p.Meta.Observations {
		out = append(out, "Extrapolated, and labelled so: "+observationText(&p.Meta.Observations[i]))
	}
	return out
}

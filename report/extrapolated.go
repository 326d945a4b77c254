package report

import (
	"fmt"

	"ompp-attach/analysis"
	"ompp-attach/profile"
	"ompp-attach/report/limits"
	"ompp-attach/report/words"
)

// With a budget, constructs are not observed for a part of the time. Where executions in that time
// can be extrapolated, the figures bear a ~. Otherwise a + follows figures that hold the observed
// executions only.

// marked marks a figure that is partly extrapolated (~), or a lower bound (+).
func marked(text string, e *profile.Estimate) string {
	switch {
	case e == nil:
	case e.AtLeast:
		return text + "+"
	case e.Exec.C > 0:
		return "~" + text
	}
	return text
}

// markedExclusive marks a figure that excludes the regions inside. If executions inside were not
// observed, the figure holds their time.
func markedExclusive(text string, e *profile.Estimate) string {
	if e != nil && !e.AtLeast && (e.Exec.C > 0 || e.Child != 0 || e.Inside) {
		return "~" + text
	}
	return marked(text, e)
}

// isEstimated tells whether figures of a row are marked.
func isEstimated(e *profile.Estimate) bool { return markedExclusive("", e) != "" }

// budgetHeader writes the header lines about the budget and its effects.
func (o *ompp) budgetHeader(key func(name, format string, args ...any)) {
	m := &o.p.Meta
	if b := m.Budget; b != nil {
		key("Overhead Budget", "%s%% of a thread's time, at most %s%% used in any %.2g sec", words.Percent(b.Share), words.Decimal(100*b.Worst, 0, 2), float64(b.Horizon)/1e9)
		if text := limits.BudgetText(o.p); text != "" {
			key("Not Bounded", "%s", text)
		}
	}
	for i := range m.Observations {
		key("Not Observed", "%s", observationText(o.p, o.Clock, &m.Observations[i]))
	}
}

// observationText says how long constructs were not observed, and how many executions were counted.
func observationText(p *profile.Profile, c words.Clock, x *profile.Observation) string {
	return fmt.Sprintf("%s: %s sec in %s; observed for %s sec around them%s", x.Title(), c.Seconds(x.Unobserved, 0),
		words.Plural(x.Gaps, "gap"), c.Seconds(x.Sampled, 0), countedText(p, c, x))
}

// countedText says how many executions were counted, until the first gap and in all; empty: that is
// not known.
func countedText(p *profile.Profile, c words.Clock, x *profile.Observation) string {
	if x.First <= 0 {
		return ""
	}
	what, all := "execution", "all "
	if len(x.Levels) > 0 {
		what = "call"
	}
	if p.Meta.LostHits > 0 {
		all = "" // the header says so
	}
	return fmt.Sprintf("; counted: %s%s of the first %s sec, %d in all; there may have been more", all, words.Plural(int(x.Before), what),
		c.Seconds(x.First, 0), x.Counted)
}

// extrapolatedNotes tell which figures are extrapolated and how large their error may be, and which
// are lower bounds.
func extrapolatedNotes(p *profile.Profile, c words.Clock) []string {
	var guesses, floors, gaps []string
	for _, b := range analysis.Flat(p) {
		e := b.Sum.Estimate
		switch {
		case e == nil:
		case e.AtLeast:
			floors = append(floors, fmt.Sprintf("%s: at least %s, at least %s sec", words.Label(p, b.Region), words.Plural(int(b.Sum.Exec.C), "execution"), c.Seconds(b.Sum.Exec.T, 0)))
		case e.Exec.C > 0:
			least, most := e.Interval(b.Sum.Exec.C)
			guesses = append(guesses, fmt.Sprintf("%s: %d executions, %d to %d (%d observed), %s sec +- %s (%s observed)",
				words.Label(p, b.Region), b.Sum.Exec.C, least, most, minus(b.Sum.Exec.C, e.Exec.C),
				c.Seconds(b.Sum.Exec.T, 0), c.Seconds(int64(profile.Sigmas*e.TimeError), 0), c.Seconds(b.Sum.Exec.T-e.Exec.T, 0)))
		}
	}
	for i := range p.Meta.Observations {
		gaps = append(gaps, "Not observed: "+observationText(p, c, &p.Meta.Observations[i])+".")
	}
	var notes []string
	if len(guesses) > 0 {
		notes = append(notes, words.Bullets("~ stands before figures that are extrapolated in part: their probes were away for some of the time, to keep the measurement's cost within its budget. The times come out of the exclusive time of the regions around them. The intervals hold the truth in nine of ten cases:", guesses)...)
	}
	if len(floors) > 0 {
		notes = append(notes, words.Bullets("+ stands behind figures of what was observed, where nothing can be said of the rest: their probes were away for some of the time, and what was observed went at the probes' pace, or differed from one time to the next. The regions around them hold the time of the rest:", floors)...)
	}
	if len(gaps) > 0 {
		notes = append(notes, words.Bullets("What was executed only while it was not observed does not appear at all. So there may be more places of these constructs:", gaps)...)
	}
	return notes
}

func minus(a, b uint64) uint64 {
	if b > a {
		return 0
	}
	return a - b
}

// extrapolatedTroubles are the summary's lines about extrapolated figures.
func extrapolatedTroubles(p *profile.Profile) (out [][2]string) {
	const see = ": see the Measurement Notes of the text report"
	var names, floors []string
	for i := range p.Meta.Observations {
		names = append(names, p.Meta.Observations[i].Title())
	}
	for _, b := range analysis.Flat(p) {
		if e := b.Sum.Estimate; e != nil && e.AtLeast {
			floors = append(floors, fmt.Sprintf("%s of %s", words.Plural(int(b.Sum.Exec.C), "execution"), words.Label(p, b.Region)))
		}
	}
	if len(names) > 0 {
		out = append(out, [2]string{"not always observed", words.FirstOf(names, 4) + ": their probes were away at times, to keep the cost within the budget. There may be more places of these constructs" + see})
	}
	if len(floors) > 0 {
		out = append(out, [2]string{"at least", words.FirstOf(floors, 3) + "; how many more is not known"})
	}
	return out
}

// extrapolatedComments are the pprof profile's comments about extrapolated figures.
func extrapolatedComments(p *profile.Profile) (out []string) {
	for i := range p.Meta.Observations {
		out = append(out, "Not observed for some of the time, with labels extrapolated or at_least: "+observationText(p, words.ClockOf(p), &p.Meta.Observations[i]))
	}
	return out
}

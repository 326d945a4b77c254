package limits

import (
	"fmt"
	"slices"
	"strings"

	"ompp-attach/analysis"
	"ompp-attach/profile"
	"ompp-attach/report/words"
)

// CostText says how much of the threads' time the measurement took, by kind of probe.
func CostText(p *profile.Profile, c words.Clock) string {
	o := p.Meta.Overhead
	switch {
	case o == nil:
		return "not recorded"
	case o.Failed != "":
		return strings.TrimSuffix(o.Failed, ".")
	}
	type class struct {
		name     string
		hits, ns int64
	}
	var classes []class
	for _, h := range o.Probes {
		if h.Hits == 0 { // none in the time between two snapshots
			continue
		}
		ns := int64(h.Hits) * (h.Before + h.After)
		at := slices.IndexFunc(classes, func(c class) bool { return c.name == h.Probe })
		if at < 0 {
			at = len(classes)
			classes = append(classes, class{name: h.Probe})
		}
		classes[at].hits += int64(h.Hits)
		classes[at].ns += ns
	}
	var kinds []string
	for _, c := range classes {
		kinds = append(kinds, fmt.Sprintf("%d %s x %.2f us", c.hits, c.name, float64(c.ns)/float64(c.hits)/1e3))
	}
	text := fmt.Sprintf("%s thread-sec (%s%% of the threads' wall time%s)", CostSeconds(p, c), words.Percent(CostShare(p)), OfProcessorTime(p, c))
	if len(kinds) > 0 {
		text += ": " + strings.Join(kinds, ", ")
	}
	if o.Threads > 0 {
		text += fmt.Sprintf("; by the cost of one thread's hits: a hit takes %s times as long while %d threads hit probes at once", words.Decimal(o.Times, 0, 1), o.Threads)
	}
	switch cost := analysis.ProbeCost(p); {
	case cost > o.Total():
		text += fmt.Sprintf("; samples say that they took %s times as long", words.Decimal(float64(cost)/float64(o.Total()), 0, 2))
	case analysis.CostLowered(p):
		text += fmt.Sprintf("; they took at most %s times as long, by the process's processor time", words.Decimal(float64(cost)/float64(o.Total()), 0, 2))
	}
	return text
}

// BudgetText says that MPI calls took most of the cost, if more than half of the budget was used:
// --max-overhead does not bound that. It returns "" otherwise.
func BudgetText(p *profile.Profile) string {
	b := p.Meta.Budget
	if b == nil || b.Worst <= b.Share/2 {
		return ""
	}
	share, operations := analysis.MPICost(p)
	if share <= 0.5 {
		return ""
	}
	text := fmt.Sprintf("MPI calls took %s of the probes' cost, which --max-overhead does not bound", words.WholePercent(share))
	if len(operations) > 0 {
		text += ": --disable " + strings.Join(operations, ",") + " leaves out these calls"
	}
	return text
}

// CostSeconds says how much of the threads' time the probes took. It has the mark ~ if the
// process's processor time bounds it (analysis.CostLowered).
func CostSeconds(p *profile.Profile, c words.Clock) string {
	text := c.Seconds(analysis.ProbeCost(p), 0)
	if analysis.CostLowered(p) {
		return "~" + text
	}
	return text
}

// OfProcessorTime says which share of the process's processor time the probes took. Where threads
// were idle, that is more than their share of the wall time.
func OfProcessorTime(p *profile.Profile, c words.Clock) string {
	cpu := p.Meta.UserTime + p.Meta.SysTime
	if cpu <= 0 {
		return ""
	}
	const rounding = 1 // ns, of Overhead.AtMost
	cost := analysis.ProbeCost(p)
	// A cost that was lowered may exceed the processor time by that time's accuracy. It exceeds the
	// time by more only between two snapshots, which have the factor of the later one.
	if cost > cpu && (!analysis.CostLowered(p) || cost > profile.MostInHits(cpu)+rounding) {
		return fmt.Sprintf(", an overestimate: all took %s sec of processor time", c.Seconds(cpu, 0))
	}
	return fmt.Sprintf(", %s%% of %s sec of processor time", words.Percent(analysis.Ratio(min(cost, cpu), cpu)), c.Seconds(cpu, 0))
}

// MuchProbed names, in one line, the program and the regions in which probes took more than a tenth
// of the time; "": there are none.
func MuchProbed(p *profile.Profile, most int) string {
	var names []string
	for _, s := range analysis.MuchProbed(p) {
		name := "the program"
		if s.Region >= 0 {
			name = words.Label(p, s.Region)
		}
		names = append(names, fmt.Sprintf("%s (%s%%)", name, words.Percent(s.Share())))
	}
	if len(names) == 0 {
		return ""
	}
	counts, where := "counts are exact", []string{}
	if hasEstimates(p) {
		where = append(where, "where they bear no mark")
	}
	if p.Meta.LostHits > 0 {
		where = append(where, "where no hits were lost")
	}
	if len(where) > 0 {
		counts += " " + strings.Join(where, " and ")
	}
	return "Probes took more than a tenth of the time of " + words.FirstOf(names, most) + ": " + counts + ", times and waits are rough."
}

// hasEstimates tells whether some count is extrapolated, or of observed executions only.
func hasEstimates(p *profile.Profile) bool {
	return slices.ContainsFunc(analysis.Flat(p), func(b analysis.Block) bool {
		e := b.Sum.Estimate
		return e != nil && (e.AtLeast || e.Exec.C > 0)
	})
}

// TasksAway names, in one line, the regions where tasks that were not observed may look like
// waiting; "": there are none.
func TasksAway(p *profile.Profile, most int) string {
	var names []string
	for _, region := range analysis.TasksAway(p) {
		names = append(names, words.Label(p, region))
	}
	if len(names) == 0 {
		return ""
	}
	return "Tasks were not observed all of the time: what seems to be waiting in " + words.FirstOf(names, most) + " may be tasks."
}

// LeftOut says which findings are left out, in one line for each reason.
func LeftOut(p *profile.Profile, f analysis.Findings) (lines []string) {
	for _, x := range []struct {
		of  []analysis.Property
		why string
	}{
		{f.Probe, "since probes may have made them"},
		{f.Task, "since they may be tasks that were not observed"},
	} {
		var names []string
		for _, o := range x.of {
			names = append(names, fmt.Sprintf("%s of %s", o.Name, words.Label(p, o.Region)))
		}
		if len(names) > 0 {
			lines = append(lines, "Left out, "+x.why+": "+words.FirstOf(names, 4)+".")
		}
	}
	return lines
}

// CostShare is the probes' share of the threads' wall time, as it was measured.
func CostShare(p *profile.Profile) float64 {
	measured := *p
	measured.Meta.Duration = MeasuredDuration(p)
	return analysis.Ratio(analysis.ProbeCost(p), analysis.ThreadTime(&measured))
}

// MeasuredDuration is the wall time in ns as it was measured, with the probes' time.
func MeasuredDuration(p *profile.Profile) int64 { return p.Meta.Duration + p.Meta.TakenOut }

// TimesText says whether the report's times are as measured or without the probes' time.
func TimesText(p *profile.Profile, raw bool) string {
	switch {
	case p.Meta.Adjusted && analysis.HiddenByProbes(p) != nil:
		return "derived, and not to be relied on: as measured, less what the probes took, which is most of them (--raw shows them as measured)"
	case p.Meta.Adjusted:
		return "derived: as measured, less what the probes took (--raw shows them as measured)"
	case raw:
		return "as measured, with what the probes took"
	}
	if o := p.Meta.Overhead; o != nil && o.Failed == "" && p.Meta.Hits+p.Meta.LostHits == 0 {
		return "as measured: no probe was hit"
	}
	return "as measured; what the probes took is not known"
}

// CostNotes lists the regions in which measuring took most.
func CostNotes(p *profile.Profile, t words.Clock) []string {
	const most = 5
	var items []string
	costs := analysis.OwnCosts(p)
	for _, c := range costs[:min(most, len(costs))] {
		items = append(items, fmt.Sprintf("%s: %s thread-sec, %s%% of its own time as measured", words.Label(p, c.Region), t.Seconds(c.Cost, 0), words.Percent(analysis.Ratio(c.Cost, c.Time))))
	}
	notes := words.Bullets("Where measuring took most, by regions without those inside them:", items)
	if p.Meta.Adjusted {
		notes = append(notes, "Times are without what the probes took of them. Still in them are: waits for a thread that its probes slowed down, except",
			"in the final barrier of a parallel region; hits that report nothing; what hits do to caches (docs/overhead.md).")
	}
	return notes
}

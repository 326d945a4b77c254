package report

import (
	"fmt"
	"slices"
	"strings"

	"ompp-attach/analysis"
	"ompp-attach/attribution"
)

// costText says what the measurement took of the threads' time, by kind of
// probe; of that time a share as long as the profile knows it.
func costText(p *attribution.Profile, c clock) string {
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
	text := fmt.Sprintf("%s thread-sec (%s%% of the threads' wall time)", c.seconds(o.Total(), 0), share(costShare(p)))
	if len(kinds) > 0 {
		text += ": " + strings.Join(kinds, ", ")
	}
	return text
}

// costShare is what part of the threads' wall time, as measured, the probes
// took.
func costShare(p *attribution.Profile) float64 {
	measured := *p
	measured.Meta.Duration = measuredDuration(p)
	return analysis.Ratio(p.Meta.Overhead.Total(), analysis.ThreadTime(&measured))
}

// measuredDuration is the wall time as it was measured.
func measuredDuration(p *attribution.Profile) int64 { return p.Meta.Duration + p.Meta.TakenOut }

// timesText says what the report's times are.
func timesText(p *attribution.Profile, raw bool) string {
	switch {
	case p.Meta.Adjusted:
		return "derived: as measured, less what the probes took (--raw shows them as measured)"
	case raw:
		return "as measured, with what the probes took"
	}
	return "as measured; what the probes took is not known"
}

// costNotes lists the regions in which measuring took most.
func costNotes(p *attribution.Profile, t clock) []string {
	const most = 5
	var items []string
	costs := analysis.OwnCosts(p)
	for _, c := range costs[:min(most, len(costs))] {
		items = append(items, fmt.Sprintf("%s: %s thread-sec, %s%% of its own time as measured", regionLabel(p, c.Region), t.seconds(c.Cost, 0), share(analysis.Ratio(c.Cost, c.Time))))
	}
	notes := bullets("Where measuring took most, by regions without those inside them:", items)
	if p.Meta.Adjusted {
		notes = append(notes, "Times are without what the probes took of them. Not taken out: waiting for a thread that its probes had slowed down,",
			"hits that report nothing, and what hits do to caches (docs/overhead.md).")
	}
	return notes
}

package report

import (
	"fmt"
	"strings"

	"ompp-attach/analysis"
	"ompp-attach/profile"
	"ompp-attach/report/words"
)

// derivedEnds returns the derived ends of a profile, summed over all regions and threads;
// nil: none.
func derivedEnds(p *profile.Profile) (sum *profile.Ends) {
	for i := range p.Nodes {
		for j := range p.Nodes[i].Stats {
			sum = sum.Plus(p.Nodes[i].Stats[j].Ends)
		}
	}
	return sum
}

// endsText tells times with derived ends, and the intervals that hold the truth.
func endsText(x *profile.Ends) string {
	var out []string
	for _, part := range []struct {
		name string
		end  *profile.End
	}{{"startup", &x.Startup}, {"barrier", &x.Barrier}, {"shutdown", &x.Shutdown}} {
		if e := part.end; e.Count > 0 {
			least, most := e.Interval()
			ms := func(ns int64) string { return words.Decimal(float64(ns)/1e6, 0, 3) }
			out = append(out, fmt.Sprintf("%s of %s %s ms (%s to %s)", part.name, words.Plural(int(e.Count), "execution"), ms(e.Time), ms(least), ms(most)))
		}
	}
	return strings.Join(out, ", ")
}

// endsNotes tell how exact derived ends are.
func (o *ompp) endsNotes() []string {
	var items []string
	blocks := analysis.Flat(o.p)
	var of []int
	for _, b := range blocks {
		if b.Sum.Ends != nil {
			of = append(of, b.Region)
		}
	}
	shown, others := o.outline.shownOf(of)
	for _, r := range shown {
		items = append(items, words.Label(o.p, r)+": "+endsText(blocks[r].Sum.Ends))
	}
	if others > 0 {
		items = append(items, joined(others, "region"))
	}
	return words.Bullets("Ends that are derived, as most executions were not measured in full (--derive-edges): waits for the start of a team, at barriers after the last arrival, and for the join. Each time is a part of startupT, exitBarT, execT of BARRIER, or shutdwnT. What a startup gets too much, the body gets too little. The intervals hold the true times in nine of ten cases:", items)
}

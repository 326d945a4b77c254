package jobs

import (
	"fmt"

	"ompp-attach/job"
	"ompp-attach/report/words"
)

// costHeader says how much of the threads' time probes took, and whether the report's times include
// that time.
func (t *jobText) costHeader(key func(name, format string, args ...any)) {
	known, lowered, adjusted := 0, 0, 0
	for i := range t.j.Ranks {
		if t.j.Ranks[i].CostKnown {
			known++
		}
		if t.j.Ranks[i].CostLowered {
			lowered++
		}
		if t.j.Ranks[i].Adjusted {
			adjusted++
		}
	}
	n := len(t.j.Ranks)
	of := func(some int) string {
		if some == n {
			return ""
		}
		return ", known of " + words.Plural(some, "rank")
	}
	if known == 0 {
		key("Probe Cost", "not known")
	} else {
		cost := t.j.RankStats(func(r *job.Rank) int64 { return r.ProbeCost })
		measured := t.j.RankStats((*job.Rank).MeasuredTime)
		mark, bounded := "", ""
		if lowered > 0 {
			mark, bounded = "~", fmt.Sprintf(", bounded by the processor time of %s", words.Plural(lowered, "rank"))
		}
		key("Probe Cost", "%s%s sec, %s%% of thread time as measured%s%s", mark, t.sec(cost.Total()), jobShare(cost.Total(), measured.Total()), of(known), bounded)
	}
	switch {
	case adjusted > 0 && t.j.Efficiency().Hidden() != nil:
		key("Times", "derived, and not to be relied on: as measured, less what the probes took, which is most of them on some rank (--raw shows them as measured)")
	case adjusted == n:
		key("Times", "derived: as measured, less what the probes took (--raw shows them as measured)")
	case adjusted > 0:
		key("Times", "of %s derived: as measured, less what the probes took (--raw shows them as measured); of the others as measured", words.Plural(adjusted, "rank"))
	case t.Raw:
		key("Times", "as measured, with what the probes took")
	default:
		key("Times", "as measured; what the probes took is not known, or nothing")
	}
}

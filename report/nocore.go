package report

import (
	"fmt"

	"ompp-attach/analysis"
	"ompp-attach/profile"
	"ompp-attach/report/words"
)

// showsNoCore tells whether threads lacked a core for so much of their time that the report has a
// column for it.
func showsNoCore(p *profile.Profile, r analysis.Rules) bool {
	return r == analysis.Disjoint && analysis.Ratio(analysis.NoCore(p), analysis.ThreadTime(p)) >= words.LeastShare
}

// coreText says for which share of their time in a region threads had a core: "had a core for 14%
// of their time there". It says nothing unless the share is below analysis.FewCore.
func coreText(share float64) string {
	if share >= analysis.FewCore {
		return ""
	}
	return fmt.Sprintf("had a core for %s%% of their time there", words.Decimal(100*share, 0, 0))
}

// noCoreText says how long threads lacked a core. class is the part that the overheads of parallel
// regions have as a class of its own (ns).
func noCoreText(p *profile.Profile, class int64, part func(int64) string) string {
	none := analysis.NoCore(p)
	text := fmt.Sprintf("%s thread-sec (%s%% of the threads' time) ready to run without a core", words.ClockOf(p).Seconds(none, 0), part(none))
	if rest := part(none - class); class <= 0 {
		text += ", none of it in the overheads of parallel regions"
	} else if part(class) == part(0) {
		text += ", next to none of it in the overheads of parallel regions"
	} else if class < none && rest != part(0) {
		text += fmt.Sprintf(": %s%% in the overheads of parallel regions, %s%% in other time", part(class), rest)
	}
	if analysis.ProgramCoreShare(p) < analysis.FewCore {
		text += "; overheads may come from that, and not from the program's work"
		if crowds := analysis.Crowds([]analysis.Crew{analysis.CrewOf(p)}); len(crowds) > 0 {
			text += ". The process itself has more threads than cores: " + crowds[0].Threading()
		}
		if t := p.Meta.ToolTime; float64(t) >= leastOfNoCore*float64(none) {
			text += fmt.Sprintf(". ompp-attach itself took %s sec of processor time, for which threads may have had to wait", words.ClockOf(p).Seconds(t, 0))
		}
	}
	return text
}

// leastOfNoCore is the part of the time without a core from which on the processor time of the tool
// is named as a reason.
const leastOfNoCore = 0.1

// toolText says how much processor time ompp-attach itself took, beside the process's.
func toolText(p *profile.Profile, c words.Clock) string {
	text := c.Seconds(p.Meta.ToolTime, 0) + " sec of processor time that ompp-attach itself took, on any core"
	if cpu := p.Meta.UserTime + p.Meta.SysTime; cpu > 0 {
		text += fmt.Sprintf(" (the process: %s sec)", c.Seconds(cpu, 0))
	}
	return text
}

package report

import (
	"ompp-attach/analysis"
	"ompp-attach/report/words"
)

// levels writes the exclusive time of each level, if libraries were measured as levels. ompP has no
// such section.
func (o *ompp) levels() {
	if o.Classic || !analysis.HasLevels(o.p) {
		return
	}
	o.banner("Levels")
	o.printf("Exclusive time: in no inner region of another level. App: of duration x threads.\n")
	all := analysis.Levels(o.p)
	whole := analysis.ThreadTime(o.p)
	width := len("level")
	var time int64
	for _, l := range all {
		width = max(width, len(words.Clean(l.Name)))
		time += l.Time
	}
	o.printf("   %-*s %12s %12s  App(%%)\n", width, "level", "calls", "exclT")
	for _, l := range all {
		mark := " "
		if l.Estimated {
			mark = "~"
		}
		o.printf("  %s%-*s %12d %12s  %6s\n", mark, width, words.Clean(l.Name), l.Calls, o.Seconds(l.Time, 0), percent(analysis.Ratio(l.Time, whole)))
	}
	o.printf("   %-*s %12s %12s  %6s\n\n", width, "SUM", "", o.Seconds(time, 0), percent(analysis.Ratio(time, whole)))
}

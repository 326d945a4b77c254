package report

import (
	"ompp-attach/analysis"
	"ompp-attach/efficiency"
	"ompp-attach/report/efficiencies"
)

// efficiency writes how much of the threads' time was useful. ompP has no such section, so
// --classic leaves it out.
func (o *ompp) efficiency() {
	if o.Classic {
		return
	}
	o.banner("Efficiency Report")
	if analysis.Silent(o.p) {
		o.printf("Useful time of all threads  : %s\n", analysis.SilentText)
		return
	}
	efficiencies.WriteShort(o.printf, efficiency.OfProfile(o.p))
}

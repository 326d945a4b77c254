package report

import (
	"ompp-attach/efficiency"
	"ompp-attach/report/efficiencies"
)

// efficiency writes how much of the threads' time was useful. ompP has no such section, so --classic
// leaves it out.
func (o *ompp) efficiency() {
	if o.Classic {
		return
	}
	o.banner("Efficiency Report")
	useful, lost := efficiencies.Short(efficiency.OfProfile(o.p))
	writeShort(o.printf, useful, lost)
}

// efficiency writes the same of a job.
func (t *jobText) efficiency() {
	t.section("How much of the threads' time was useful?")
	useful, lost := efficiencies.Short(t.j.Efficiency())
	writeShort(t.printf, useful, lost)
}

func writeShort(printf func(string, ...any), useful, lost string) {
	if useful != "" {
		printf("Useful time of all threads  : %s\n", useful)
	}
	if lost != "" {
		printf("Lost                        : %s\n", lost)
	}
	printf("(report --efficiency has more.)\n\n")
}

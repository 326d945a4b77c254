package jobs

import (
	"fmt"

	"ompp-attach/job"
	"ompp-attach/report/words"
)

// mostOfPath is the number of parts of the critical path that the text lists.
const mostOfPath = 3

// path writes where the critical path over the ranks was, if there are several and their MPI calls
// were recorded.
func (t *jobText) path() {
	p, why := t.j.CriticalPath()
	if p == nil && why == "" || t.j.Size == 1 {
		return
	}
	t.section("What decides when the job ends?")
	if p == nil {
		t.sentence("%s", why)
		t.printf("\n")
		return
	}
	span := "from the first MPI call on it to the end of the last"
	if p.Part {
		span = "from the first to the last call at which all ranks met while they were measured"
	}
	t.sentence("The critical path over the ranks: only less time there makes the job shorter. It takes %s sec, %s, as measured.", t.sec(float64(p.Length)), span)
	t.printf("\n")
	told := int64(0)
	n := min(len(p.Parts), mostOfPath)
	for _, x := range p.Parts[:n] {
		told += x.Time
		t.sentence("* %s", t.onPath(p, &x))
	}
	part := func(ns int64, format string, args ...any) {
		t.sentence("* %s sec (%s%%) %s", t.sec(float64(ns)), jobShare(float64(ns), float64(p.Length)), fmt.Sprintf(format, args...))
	}
	if p.Unknown > 0 {
		part(p.Unknown, "not known: %s.", p.Why)
	}
	if p.Nowhere > 0 {
		part(p.Nowhere, "at calls whose place is not recorded.")
	}
	if rest := len(p.Parts) - n; rest > 0 {
		part(p.Length-p.Unknown-p.Nowhere-told, "at %s.", words.Plural(rest, "other place"))
	}
	t.printf("\n")
	t.sentence("(report --properties tells of all places, and who waits for whom.)")
	t.printf("\n")
}

// onPath says where a part of the path was, at which rank most, and what balance saves.
func (t *jobText) onPath(p *job.CriticalPath, x *job.PathPart) string {
	text := fmt.Sprintf("%s sec (%s%%) %s", t.sec(float64(x.Time)), jobShare(float64(x.Time), float64(p.Length)), t.placeOnPath(x))
	if x.MostT == x.Time {
		text += fmt.Sprintf(": all of it at rank %d", x.Most)
	} else {
		text += fmt.Sprintf(": most at rank %d, %s sec", x.Most, t.sec(float64(x.MostT)))
	}
	if x.Saves*1000 >= p.Length {
		text += fmt.Sprintf("; perfect balance here saves at most %s sec", t.sec(float64(x.Saves)))
		if x.Saves > x.Time {
			text += ", if the part of the path that is not known is here, too"
		}
		return text + "."
	}
	return text + "; balance here saves next to nothing."
}

// placeOnPath names the call, or the stretch before it, and the region around.
func (t *jobText) placeOnPath(x *job.PathPart) string {
	call, around := t.jobRegion(x.Region), ""
	if x.Around >= 0 {
		around = t.jobRegion(x.Around)
	}
	text, its := "before "+call, ", called in "
	switch {
	case x.In:
		text = "in " + call
	case x.Last < 0:
	case x.LastT == x.Time:
		text, its = fmt.Sprintf("between %s and %s", t.jobRegion(x.Last), call), ", the latter in "
		if x.Last == x.Region {
			text = "between calls of " + call
		}
		if x.Same {
			its = ", both in "
		}
	case 2*x.LastT > x.Time:
		text, its = text+", mostly after "+t.jobRegion(x.Last), ", the former in "
		if x.Last == x.Region {
			text, its = "before "+call+", mostly since its call before", ", called in "
		}
	}
	if around == "" {
		return text
	}
	return text + its + around
}

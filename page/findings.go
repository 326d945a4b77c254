package page

import (
	"fmt"
	"slices"
	"strings"

	"ompp-attach/analysis"
	"ompp-attach/profile"
	"ompp-attach/report/properties"
	"ompp-attach/report/words"
	"ompp-attach/severity"
)

// says holds, by property, the sentence that states a finding on a page. %s stands for the place.
// Findings of other properties are stated by the property's name and the place.
var says = map[string]string{
	severity.NoCore:               "Threads are ready to run %s, and have no core",
	severity.IdleThreads:          "Workers are idle while their initial thread is %s",
	severity.IdleStartEnd:         "Workers are idle while their initial thread is %s",
	severity.PrimaryOnly:          "One thread works alone %s",
	severity.TeamStart:            "Starting the team takes time %s",
	severity.TeamEnd:              "Ending the team takes time %s",
	severity.Taskwait:             "Threads wait with nothing to do %s",
	"omp_barrier_explicit":        "Threads wait %s",
	"omp_barrier_implicit":        "Threads wait at the end %s",
	"omp_barrier_region":          "Threads wait at the end %s: some have more to do",
	"omp_barrier_loop":            "Threads wait at the end %s: iterations are divided unevenly",
	"omp_barrier_workshare":       "Threads wait at the end %s",
	"omp_barrier_sections":        "Threads wait at the end %s: sections differ in length",
	"omp_barrier_sections_few":    "Threads have nothing to do %s: there are fewer sections than threads",
	"omp_barrier_sections_uneven": "Threads wait at the end %s: some execute more sections than others",
	"omp_barrier_single":          "Threads wait while one works alone %s",
	"omp_critical":                "Threads wait to enter %s",
	"omp_ordered":                 "Threads wait for their turn %s",
	"omp_lock":                    "Threads wait for the lock %s",
	"omp_atomic":                  "Threads execute atomic operations %s",
}

// unevenSays are the sentences of says for waits of which the reason is known.
var unevenSays = [...]string{
	analysis.Starved:  "Threads wait %s: some have next to nothing to do",
	analysis.Coreless: "Threads wait %s: those that they wait for have no core",
	analysis.Late:     "Threads wait %s: some begin late",
	analysis.Behind:   "Threads wait %s: some come late to it",
}

// classOf returns the class of Parts that gives a property its colour.
func classOf(c *severity.Cube, property int) string {
	below := func(id string) bool { return c.Below(property, c.Property(id)) }
	p := &c.Properties[property]
	switch {
	case below(severity.NoCore):
		return "no_core"
	case below(severity.IdleThreads):
		return "idle"
	case below(severity.Management):
		return "mgmt"
	case below("mpi"):
		return "mpi"
	case p.OmpP == analysis.UnparallelizedInSingleRegion, p.OmpP == analysis.ImbalanceDueToNotEnoughSections:
		return "limpar"
	case below("omp_barrier_implicit"):
		return "imbal"
	case below(severity.Execution):
		return "synch"
	}
	return "work"
}

// findingsOf returns the findings of a run, the worst first. Small findings are only counted: those
// below severity.Little of the time.
func findingsOf(c *severity.Cube) (out []Finding, small int) {
	out = []Finding{}
	if c == nil || c.ThreadTime <= 0 {
		return out, 0
	}
	for _, e := range c.List(c.Findings(), false) {
		share := analysis.Ratio(e.Time, c.ThreadTime)
		if share < severity.Little {
			small++
			continue
		}
		p := &c.Properties[e.Property]
		f := Finding{Name: clean(p.Title()), Region: c.Paths[e.Path].Region + 1, Class: classOf(c, e.Property), Time: e.Time, Severity: share,
			Says: clean(saysOf(c, &e)), Helps: c.Helps(&e.Finding), Doubt: c.DoubtText(&e.Finding), Estimated: e.Estimated}
		f.Saves, f.Of = savingOf(c, e.Saving)
		if len(e.Places) == 0 {
			f.Path = clean(properties.PathText(c, e.Path))
		}
		f.extremes(c, &e.Finding)
		out = append(out, f)
	}
	return out, small
}

// saysOf returns a finding as a sentence.
func saysOf(c *severity.Cube, e *severity.Entry) string {
	const most = 3
	places := []string{placeOf(c, e.Path)}
	for i := range e.Places {
		if place := placeOf(c, e.Places[i].Path); !slices.Contains(places, place) {
			places = append(places, place)
		}
	}
	p, place := &c.Properties[e.Property], words.FirstOf(places, most)
	text, known := says[p.ID]
	if !known {
		text = strings.ReplaceAll(p.Name, "%", "%%") + " %s"
	}
	switch why := c.UnevenAt(&e.Finding); {
	case why == 0:
	case p.ID == severity.TeamEnd:
		text += ": the thread that ends the team has no core"
	default:
		text = unevenSays[why]
		if p.ID != "omp_barrier_explicit" {
			text = strings.Replace(text, "%s", "at the end %s", 1)
		}
	}
	preposition := "in "
	switch {
	case places[0] == properties.Outside, p.ID == "omp_critical":
		preposition = ""
	case strings.Contains(text, "at the end %s"):
		preposition = "of "
	case !known, p.ID == "omp_barrier_explicit", p.ID == "omp_lock", p.ID == severity.Taskwait:
		preposition = "at "
	}
	return fmt.Sprintf(text, preposition+place)
}

// placeOf names the region in which a call path ends.
func placeOf(c *severity.Cube, path int) string {
	if path == 0 {
		return properties.Outside
	}
	r := &c.Regions[c.Paths[path].Region]
	return fmt.Sprintf("%s %s", r.Construct, words.Region(r))
}

// extremes names the threads, or ranks, with most and with least of the time. A thread that the
// finding does not name has none of it.
func (f *Finding) extremes(c *severity.Cube, of *severity.Finding) {
	rows := 0
	for i := range c.Threads {
		if c.Threads[i].Num != profile.UnknownNum {
			rows++
		}
	}
	if rows < 2 || c.Level == severity.Whole || len(of.Threads) == 0 {
		return
	}
	most, least := of.Threads[0], of.Threads[len(of.Threads)-1]
	if len(of.Threads) < len(c.Threads) {
		has := map[int]bool{}
		for _, x := range of.Threads {
			has[x.Thread] = true
		}
		for i := range c.Threads {
			if !has[i] && c.Threads[i].Num != profile.UnknownNum {
				least = severity.ThreadTime{Thread: i}
				break
			}
		}
	}
	f.Most = &Extreme{rowText(c, most.Thread), most.Time}
	f.Least = &Extreme{rowText(c, least.Thread), least.Time}
}

// rowText names a row of a cube.
func rowText(c *severity.Cube, row int) string {
	if c.Level == severity.ByProcess {
		return "rank " + properties.ThreadText(c, row)
	}
	return "thread " + properties.ThreadText(c, row)
}

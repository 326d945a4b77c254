package difference

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"ompp-attach/compare"
	"ompp-attach/report/words"
)

// clock prints the times of one comparison in seconds: its value is the number of decimals. Times
// that have less than two digits then are in ms or us: no change of many percent reads as 0.
type clock int

// clockOf returns two decimals for runs of ten seconds or more, and more for shorter runs.
func clockOf(c *compare.Comparison) clock {
	wall := c.Quantity("wall").Change
	decimals := clock(2)
	for d := math.Max(wall.Sides[0].Median, wall.Sides[1].Median); d > 0 && d < 1e10 && decimals < 6; d *= 10 {
		decimals++
	}
	return decimals
}

func (d clock) sec(ns float64) string {
	if math.Abs(ns)/1e9 < math.Pow10(1-int(d)) {
		return words.Time(ns)
	}
	return fmt.Sprintf("%.*f s", int(d), ns/1e9)
}

func (d clock) delta(ns float64) string {
	if ns > 0 {
		return "+" + d.sec(ns)
	}
	return d.sec(ns)
}

// finding is a change that is more than noise. region is nil if it is the program's.
type finding struct {
	region *compare.Region
	says   string
}

// findings returns what is more than noise; nothing if there are too few repeats.
func findings(c *compare.Comparison) (out []finding) {
	if !c.Repeated() {
		return nil
	}
	d := clockOf(c)
	for _, q := range c.Program {
		if q.Significant {
			out = append(out, finding{nil, fmt.Sprintf("The %s time %s.", q.Name, d.went(q.Change))})
		}
	}
	for _, r := range c.Regions {
		if r.Changed() {
			out = append(out, finding{r, d.region(r)})
		}
	}
	return out
}

func (d clock) region(r *compare.Region) string {
	own, title := r.Change(compare.OwnT), compare.Title(r.Any())
	switch {
	case r.New():
		return fmt.Sprintf("%s is new: it takes %s of all threads.", title, d.sec(own.Sides[compare.After].Median))
	case r.Gone():
		return fmt.Sprintf("%s is gone: it took %s of all threads.", title, d.sec(own.Sides[compare.Before].Median))
	case r.Significant(compare.OwnT):
		return fmt.Sprintf("The own time of %s %s: %s.", title, d.went(own), d.parts(r))
	}
	// Others' use of the machine hides the change in the whole.
	return fmt.Sprintf("The work in %s %s.", title, d.went(r.Change(compare.OwnWorkT)))
}

// went says how a time changed.
func (d clock) went(x compare.Change) string {
	verb := "grew"
	if x.Delta() < 0 {
		verb = "fell"
	}
	return fmt.Sprintf("%s%s, from %s to %s", verb, by(x), d.sec(x.Sides[compare.Before].Median), d.sec(x.Sides[compare.After].Median))
}

func by(x compare.Change) string {
	if math.IsInf(x.Ratio(), 0) {
		return ""
	}
	return " by" + percentOf(x)
}

func percentOf(x compare.Change) string {
	if math.IsInf(x.Ratio(), 0) {
		return ""
	}
	return fmt.Sprintf(" %.1f %%", 100*math.Abs(x.Ratio()))
}

// parts says what of a region's own time changed: work, and the classes of overhead.
func (d clock) parts(r *compare.Region) string {
	var all []string
	for _, f := range compare.Parts {
		name := f.String()
		if f == compare.OwnWorkT {
			name = "work"
		}
		if x := r.Change(f).Delta(); f == compare.OwnWorkT || math.Abs(x) >= 0.05*math.Abs(r.Change(compare.OwnT).Delta()) && x != 0 {
			all = append(all, name+" "+d.delta(x))
		}
	}
	return strings.Join(all, ", ")
}

// testedText says what the findings' level of significance means.
func testedText(c *compare.Comparison) string {
	of := 100.0
	for of*c.Alpha < 1 && of < 1e9 {
		of *= 10
	}
	return fmt.Sprintf("%d figures tested together: in %.3g of %.0f comparisons of a program with itself, at most, one or more would be named.",
		c.Tests, of*c.Alpha, of)
}

// Headline says in one sentence, or in two, what the comparison found.
func Headline(c *compare.Comparison) string {
	wall, d := c.Quantity("wall"), clockOf(c)
	x := wall.Change
	took := fmt.Sprintf("%s instead of %s", d.sec(x.Sides[compare.After].Median), d.sec(x.Sides[compare.Before].Median))
	than := "more"
	if x.Delta() < 0 {
		than = "less"
	}
	switch {
	case !c.Repeated() && math.Abs(x.Ratio()) < 0.0005: // 0.0 %
		return fmt.Sprintf("B took as long as A: %s.", d.sec(x.Sides[compare.After].Median))
	case !c.Repeated():
		return fmt.Sprintf("B took%s %s time than A (%s). %s of each side cannot tell that from noise.", percentOf(x), than, took, repeatsText(c)) + recountedText(c)
	case wall.Significant:
		text := fmt.Sprintf("B takes%s %s time than A: %s.", percentOf(x), than, took)
		for _, r := range c.Regions { // by their changes
			if r.Changed() && (r.Change(compare.OwnT).Delta() > 0) == (x.Delta() > 0) {
				switch {
				case r.New():
					return text + fmt.Sprintf(" %s is new.", compare.Title(r.Any()))
				case r.Gone():
					return text + fmt.Sprintf(" %s is gone.", compare.Title(r.Any()))
				}
				return text + fmt.Sprintf(" %s changed most.", compare.Title(r.Any()))
			}
		}
		return text
	}
	if all := findings(c); len(all) > 0 {
		return all[0].says
	}
	return "No difference of time between A and B is more than the spread of the repeats." + recountedText(c)
}

func recountedText(c *compare.Comparison) string {
	if n := recounted(c); n > 0 {
		return fmt.Sprintf(" B executes %s more or less often than A.", words.Plural(n, "region"))
	}
	return ""
}

// recounted returns the number of regions that all runs of each side execute equally often, but one
// side more often than the other.
func recounted(c *compare.Comparison) (n int) {
	for _, r := range c.Regions {
		x := r.Change(compare.Executions)
		same := true
		for _, s := range x.Sides {
			same = same && slices.Min(s.Values) == slices.Max(s.Values)
		}
		if same && x.Delta() != 0 {
			n++
		}
	}
	return n
}

func repeatsText(c *compare.Comparison) string {
	n := min(len(c.Sides[compare.Before]), len(c.Sides[compare.After]))
	return words.Plural(n, "run")
}

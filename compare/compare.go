package compare

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"ompp-attach/job"
	"ompp-attach/mpi"
	"ompp-attach/profile"
)

// The two sides of a comparison.
const (
	Before = iota // A
	After         // B
)

// letters name the sides for the user.
var letters = [2]string{"A", "B"}

// Run is one run of a program.
type Run struct {
	Name string // directory or file, for messages
	Job  *job.Job
	// Notes are whole sentences on what of the run could not be read.
	Notes []string
}

// Options are choices of a comparison's reader.
type Options struct {
	Alpha   float64        // level of significance; 0: DefaultAlpha
	Volumes mpi.Accounting // how volumes of collective operations are counted
}

// DefaultAlpha is the level of significance unless the user gives another one.
const DefaultAlpha = 0.05

// Worthwhile is the share of the thread time from which on a region is tested by itself, 0 to 1.
// Each further test makes each single one weaker (see Comparison.Tests).
const Worthwhile = 0.01

// Comparison is the joined data of two sides.
type Comparison struct {
	Options
	Sides [2][]Run
	// Program holds the quantities of whole runs, in the order of Quantities.
	Program []Quantity
	// Regions are ordered by the change of their own time, the greatest first.
	Regions []*Region
	// Paths are the call paths. Paths[0] is the program, and a parent precedes its children.
	Paths []*Path
	// Tests is the number of differences that were tested together: the wall time, the serial
	// time, and OwnT and OwnWorkT of regions above Worthwhile. Significant marks those whose
	// chance of being noise, by Holm's method over all of them, is below Alpha. 0: too few
	// repeats.
	Tests int
	// Repeats is the number of repeats of each side from which on such a test can find a
	// difference.
	Repeats int
	// Notes are whole sentences: what the sides do not have in common, and what is not known.
	Notes []string
}

// Quantity is a figure of whole runs.
type Quantity struct {
	Name        string
	Unit        string // ns, count or bytes
	Change      Change
	Significant bool // see Comparison.Tests
}

// Region is a region of either side, or of both.
type Region struct {
	// At are the region as the last run of each side has it; nil: the side does not have it.
	At [2]*profile.Region
	// Share is the part of the thread time that is the region's own, on the side with more of
	// it, 0 to 1.
	Share    float64
	Tested   bool // see Comparison.Tests
	more     [NumFigures]bool
	values   [NumFigures]values
	counters map[string]*values
	alpha    float64
}

// Any returns the region as the later side has it or, if it is gone, the earlier one.
func (r *Region) Any() *profile.Region {
	if r.At[After] != nil {
		return r.At[After]
	}
	return r.At[Before]
}

// New tells that only the later side has the region; Gone, that only the earlier side has it.
func (r *Region) New() bool { return r.At[Before] == nil }

// Gone tells that only the earlier side has the region.
func (r *Region) Gone() bool { return r.At[After] == nil }

// Moved tells that both sides have the region, in other lines or at another address.
func (r *Region) Moved() bool {
	return !r.New() && !r.Gone() && lineOf(r.At[Before]) != lineOf(r.At[After])
}

// Significant tells whether OwnT or OwnWorkT changed by more than noise: see Comparison.Tests.
func (r *Region) Significant(f Figure) bool { return r.more[f] }

// Changed tells whether either did.
func (r *Region) Changed() bool { return r.more[OwnT] || r.more[OwnWorkT] }

// Change returns the change of a figure.
func (r *Region) Change(f Figure) Change { return r.values[f].change(r.alpha) }

// Counters returns the names of the performance counters that are known of all runs that have the
// region.
func (r *Region) Counters() (names []string) {
	for name, v := range r.counters {
		if len(v[Before]) == r.ran(Before) && len(v[After]) == r.ran(After) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// Counter returns the change of a performance counter.
func (r *Region) Counter(name string) Change { return r.counters[name].change(r.alpha) }

// ran returns the number of a side's runs in which the region was executed.
func (r *Region) ran(side int) (n int) {
	for i, v := range r.values[Executions][side] {
		if v > 0 || r.values[InclusiveT][side][i] > 0 {
			n++
		}
	}
	return n
}

// Compare joins the runs of two sides, each of which has at least one run whose job was read with
// its call paths.
func Compare(before, after []Run, o Options) *Comparison {
	if o.Alpha == 0 {
		o.Alpha = DefaultAlpha
	}
	c := &Comparison{Options: o, Sides: [2][]Run{before, after}}
	c.Program = quantities(c)
	c.join()
	var all [2]float64
	for side, runs := range c.Sides {
		for _, run := range runs {
			all[side] += float64(threadTime(run.Job)) / float64(len(runs))
		}
	}
	for _, r := range c.Regions {
		own := r.Change(OwnT)
		for side, at := range own.Sides {
			if all[side] > 0 {
				r.Share = max(r.Share, at.Median/all[side])
			}
		}
	}
	slices.SortStableFunc(c.Regions, func(x, y *Region) int {
		return cmp.Or(cmp.Compare(math.Abs(y.Change(OwnT).Delta()), math.Abs(x.Change(OwnT).Delta())), cmp.Compare(y.Share, x.Share))
	})
	c.test()
	c.note()
	return c
}

// Quantity returns a quantity of whole runs by its name; nil if there is none.
func (c *Comparison) Quantity(name string) *Quantity {
	for i := range c.Program {
		if c.Program[i].Name == name {
			return &c.Program[i]
		}
	}
	return nil
}

// Only returns the regions that one side alone has.
func (c *Comparison) Only(side int) (out []*Region) {
	for _, r := range c.Regions {
		if r.At[1-side] == nil {
			out = append(out, r)
		}
	}
	return out
}

// Repeated tells whether both sides have repeats enough for tests.
func (c *Comparison) Repeated() bool { return c.Tests > 0 }

// Title names a region in a sentence: construct, place, function and name. Long template arguments
// of the function are left out.
func Title(r *profile.Region) string { return titled(r, profile.Brief(r.Location.Function)) }

// titled is the title with a name for the function.
func titled(r *profile.Region, function string) string {
	l := &r.Location
	text := r.Construct.String() + " "
	switch {
	case l.File != "" && l.Begin > 0 && l.End > l.Begin:
		text += fmt.Sprintf("%s (%d-%d)", base(l.File), l.Begin, l.End)
	case l.File != "" && l.Begin > 0:
		text += fmt.Sprintf("%s (%d)", base(l.File), l.Begin)
	default:
		text += fmt.Sprintf("%s+%#x", base(l.Object), l.Offset)
	}
	if l.Function != "" {
		text += " in " + function
	}
	if r.Name != "" && r.Name != l.Function {
		text += " (" + r.Name + ")"
	}
	if r.Merged != "" {
		text += " (merged with " + r.Merged + ")"
	}
	return profile.Pasteable(text)
}

func base(name string) string { return name[strings.LastIndexByte(name, '/')+1:] }

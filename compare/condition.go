package compare

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"ompp-attach/job"
	"ompp-attach/mpi"
	"ompp-attach/profile"
)

// Condition is what must not be: a figure that changed by more than a limit.
type Condition struct {
	Text string // as the user gave it
	// Of is a part of a region's title, with template arguments or without. "*": every region, for
	// times those above Worthwhile; empty: the program.
	Of      string
	Figure  string
	Below   bool    // the change is less than the limit, not greater
	Limit   float64 // by which the later side may differ, in the figure's unit or as a part
	Percent bool    // Limit is a part of the earlier figure
	counter bool
}

// BadCondition is an error in a condition's text.
type BadCondition struct {
	Text string
	At   int // position of the first character that is wrong, from 1
	Why  string
}

// Error says where the text is wrong, and what is possible.
func (e *BadCondition) Error() string {
	return fmt.Sprintf("%q is wrong at character %d: %s", e.Text, e.At, e.Why)
}

// short are names of figures for the user, beside those of the figures themselves.
var short = map[string]Figure{"time": InclusiveT, "own": OwnT, "wall": Figure(job.WallT), "work": Figure(job.WorkT), "count": Executions}

// units are the units of limits, and what they are in the unit of the figure.
var units = map[string]map[string]float64{
	"ns":    {"s": 1e9, "ms": 1e6, "us": 1e3, "ns": 1},
	"bytes": {"B": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30},
	"count": {"": 1},
}

// ParseCondition reads a condition, `time > 5%` of the program or `R:solve imbal > 10ms` of the
// regions whose titles contain solve. counters are the names of the performance counters that were
// read.
func ParseCondition(text string, counters []string) (*Condition, error) {
	c := &Condition{Text: text}
	wrong := func(at int, format string, args ...any) (*Condition, error) {
		return nil, &BadCondition{text, len([]rune(text[:at])) + 1, fmt.Sprintf(format, args...)}
	}
	op := strings.LastIndexAny(text, "<>")
	if op < 0 {
		return wrong(len(text), "a comparison is missing, > or < and a limit, as in 'time > 5%%'")
	}
	c.Below = text[op] == '<'
	left := strings.TrimRight(text[:op], " \t")
	start := strings.LastIndexAny(left, " \t") + 1
	if start == 0 && strings.HasPrefix(left, "R:") {
		return wrong(len(left), "the figure is missing, as in 'R:solve imbal > 10%%'")
	}
	c.Figure = left[start:]
	unit := ""
	if of := strings.TrimSpace(left[:start]); of != "" {
		if !strings.HasPrefix(of, "R:") || len(of) == len("R:") {
			return wrong(strings.Index(text, of), "a condition is FIGURE > LIMIT, or R:REGION FIGURE > LIMIT, where REGION is * or a part of a region's place or function")
		}
		c.Of = strings.TrimPrefix(of, "R:")
		var ok bool
		if unit, ok = c.regionUnit(counters); !ok {
			return wrong(start, "a region has no figure %q; there are %s", c.Figure, strings.Join(append(regionFigures(), counters...), ", "))
		}
	} else {
		all := (&Options{}).quantitiesOf()
		name := programFigure(c.Figure)
		i := slices.IndexFunc(all, func(q quantity) bool { return q.name == name })
		if i < 0 {
			var names []string
			for _, q := range all {
				names = append(names, q.name)
			}
			return wrong(start, "the program has no figure %q; there are time, %s; a region's are tested as in 'R:solve imbal > 10%%'", c.Figure, strings.Join(names, ", "))
		}
		c.Figure, unit = name, all[i].unit
	}
	limit := strings.TrimSpace(text[op+1:])
	at := op + 1 + len(text[op+1:]) - len(strings.TrimLeft(text[op+1:], " \t"))
	digits := len(limit) - len(strings.TrimLeft(limit, "+-0123456789.eE"))
	gap := len(limit[digits:]) - len(strings.TrimLeft(limit[digits:], " \t"))
	v, err := strconv.ParseFloat(limit[:digits], 64)
	if err != nil || math.IsInf(v, 0) {
		return wrong(at, "the limit is a number with a unit, as in 5%% or 0.2s")
	}
	c.Limit = v
	switch suffix := strings.TrimSpace(limit[digits:]); {
	case suffix == "%":
		c.Percent, c.Limit = true, v/100
	default:
		by, ok := units[unit][suffix]
		if !ok {
			return wrong(at+digits+gap, "the limit of %s is given in %%%s", c.Figure, map[string]string{"ns": ", s, ms, us or ns", "bytes": ", B, kB, MB, GB, KiB, MiB or GiB", "count": ", or as a plain number"}[unit])
		}
		c.Limit *= by
	}
	return c, nil
}

// regionUnit returns the unit of the condition's figure, which is a region's or a counter. known is
// false if it is neither.
func (c *Condition) regionUnit(counters []string) (unit string, known bool) {
	if f, ok := figureNamed(c.Figure); ok {
		return f.Unit(), true
	}
	c.counter = slices.Contains(counters, c.Figure)
	return "count", c.counter
}

// programFigure returns the name of a quantity of the program that a condition names.
func programFigure(name string) string {
	switch name {
	case "time":
		return wallTime
	case "nocore": // older conditions have this name
		return "no_core"
	}
	return name
}

func figureNamed(name string) (Figure, bool) {
	if f, ok := short[name]; ok {
		return f, true
	}
	for f := range NumFigures {
		if strings.EqualFold(f.String(), name) {
			return f, true
		}
	}
	// Check takes the volumes of the reader's accounting.
	switch by := mpi.Minimal; strings.ToLower(name) {
	case "bytes":
		_, _, f := job.Volumes(by)
		return Figure(f), true
	case "sent":
		f, _, _ := job.Volumes(by)
		return Figure(f), true
	case "received":
		_, f, _ := job.Volumes(by)
		return Figure(f), true
	}
	return 0, false
}

func regionFigures() []string {
	names := []string{"time", "own", "wall", "work", "count", "bytes", "sent", "received"}
	for f := range NumFigures {
		if _, known := short[f.String()]; !known {
			names = append(names, f.String())
		}
	}
	return names
}

// Violation is a condition that holds.
type Violation struct {
	Condition *Condition
	Region    *Region // nil: of the program
	Change    Change
	Sentence  string
}

// Untold is the error of a condition on times that cannot be told.
type Untold struct {
	Condition string
	Run       string // its name
	Why       string // begins with "cannot be told"
}

// Error says why the condition was not checked.
func (e *Untold) Error() string {
	return fmt.Sprintf("%q was not checked: the times of %s %s", e.Condition, e.Run, e.Why)
}

// Check returns where a condition holds. With repeats enough, a change counts only if it is more
// than noise, over all regions that the condition names together. The error is a sentence: no
// region has that name, or times of a run cannot be told (Untold).
func (c *Comparison) Check(x *Condition) (out []Violation, err error) {
	out, unit, err := c.candidates(x)
	if err != nil {
		return nil, err
	}
	if unit == "ns" {
		if err := c.untold(x); err != nil {
			return nil, err
		}
	}
	return c.violations(x, out, unit), nil
}

// untold returns an error if the times of a run cannot be told.
func (c *Comparison) untold(x *Condition) error {
	for _, side := range c.Sides {
		for _, r := range side {
			if h := r.Job.Efficiency().Hidden(); h != nil {
				return &Untold{x.Text, r.Name, h.Says()}
			}
		}
	}
	return nil
}

// candidates returns the places that a condition names, with the changes of its figure, and the
// figure's unit.
func (c *Comparison) candidates(x *Condition) (out []Violation, unit string, err error) {
	if x.Of == "" {
		q := c.Quantity(x.Figure)
		return []Violation{{Condition: x, Change: q.Change}}, q.Unit, nil
	}
	unit = "count"
	for _, r := range c.Regions {
		if !x.matches(r) {
			continue
		}
		v := Violation{Condition: x, Region: r}
		if x.counter {
			if !slices.Contains(r.Counters(), x.Figure) {
				continue
			}
			v.Change = r.Counter(x.Figure)
		} else {
			f := c.figure(x.Figure)
			unit, v.Change = f.Unit(), r.Change(f)
			if x.Of == "*" && unit == "ns" && r.Share < Worthwhile {
				continue // a small time varies by much
			}
		}
		out = append(out, v)
	}
	if len(out) == 0 && x.Of != "*" {
		return nil, "", fmt.Errorf("%q: no region's place, function or name contains %q; `ompp-attach diff --all` lists the regions", x.Text, x.Of)
	}
	return out, unit, nil
}

func (x *Condition) matches(r *Region) bool {
	if x.Of == "*" {
		return true
	}
	for _, at := range r.At {
		if at != nil && (strings.Contains(Title(at), x.Of) || strings.Contains(titled(at, profile.Pasteable(at.Location.Function)), x.Of)) {
			return true
		}
	}
	return false
}

// figure is the figure of a region with that name.
func (c *Comparison) figure(name string) Figure {
	out, in, both := job.Volumes(c.Volumes)
	switch strings.ToLower(name) {
	case "bytes":
		return Figure(both)
	case "sent":
		return Figure(out)
	case "received":
		return Figure(in)
	}
	f, _ := figureNamed(name)
	return f
}

// violations returns the candidates in which the condition holds, with a sentence each.
func (c *Comparison) violations(x *Condition, all []Violation, unit string) (out []Violation) {
	p := make([]float64, len(all))
	for i := range all {
		p[i] = all[i].Change.P
	}
	tested := float64(len(all))*leastP(len(c.Sides[Before]), len(c.Sides[After])) < c.Alpha
	more := holm(p, c.Alpha)
	for i, v := range all {
		by := v.Change.Delta()
		if x.Percent {
			by = v.Change.Ratio()
		}
		if holds := by > x.Limit && !x.Below || by < x.Limit && x.Below; !holds || tested && !more[i] {
			continue
		}
		v.Sentence = x.sentence(&v, unit, tested)
		out = append(out, v)
	}
	return out
}

func (x *Condition) sentence(v *Violation, unit string, tested bool) string {
	figure := x.Figure
	if unit == "ns" && !strings.HasSuffix(figure, "T") && figure != "time" {
		figure += " time"
	}
	who := "the program's " + figure
	if v.Region != nil {
		who = fmt.Sprintf("the %s of %s", figure, Title(v.Region.Any()))
	}
	a, b := v.Change.Sides[Before].Median, v.Change.Sides[After].Median
	text := fmt.Sprintf("%s: %s went from %s to %s", x.Text, who, Amount(a, unit), Amount(b, unit))
	if a != 0 {
		text += fmt.Sprintf(" (%+.1f %%)", 100*v.Change.Ratio())
	}
	if tested {
		return text + fmt.Sprintf(", p=%.3f", v.Change.P)
	}
	return text + "; too few repeats to tell this from noise"
}

// Amount writes a figure with its unit.
func Amount(v float64, unit string) string {
	switch {
	case unit == "ns" && v != 0 && math.Abs(v) < 1e5: // in seconds it would have an exponent
		return fmt.Sprintf("%.4g us", v/1e3)
	case unit == "ns":
		return fmt.Sprintf("%.4g s", v/1e9)
	case unit == "bytes" && math.Abs(v) >= 1e4:
		return fmt.Sprintf("%.4g MB", v/1e6)
	case unit == "bytes":
		return fmt.Sprintf("%.0f bytes", v)
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}

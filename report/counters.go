package report

import (
	"fmt"
	"math"
	"slices"

	pprof "github.com/google/pprof/profile"

	"ompp-attach/analysis"
	"ompp-attach/event"
	"ompp-attach/perfcounters"
	"ompp-attach/profile"
	"ompp-attach/report/words"
)

// counterText prints a counter's value. A + follows a value that lacks some executions. A - stands
// for a value that is not known, since 0 would be a figure.
func counterText(p *profile.Profile, s *profile.ThreadStats, counts []int64, i int) string {
	v, ok := counterValue(p, s, counts, i)
	switch {
	case !ok:
		return "-"
	case s.Uncounted > 0:
		return fmt.Sprintf("%d+", v)
	}
	return fmt.Sprint(v)
}

// counterValue is the value of a thread's i-th counter; ok is false if the value is not known.
func counterValue(p *profile.Profile, s *profile.ThreadStats, counts []int64, i int) (v int64, ok bool) {
	if p.Meta.Counters[i].Failed != "" {
		return 0, false
	}
	if i < len(counts) {
		v = counts[i]
	}
	if s.Exec.C == 0 && s.Counters == nil { // the thread did not take part
		return 0, true
	}
	return v, s.Counters != nil && (s.Uncounted == 0 || v != 0)
}

// exclusiveCounters are the counts of a region without those of the regions inside.
func exclusiveCounters(s *profile.ThreadStats) []int64 {
	out := slices.Clone(s.Counters)
	for i := range out {
		if i < len(s.ChildCounters) {
			out[i] -= s.ChildCounters[i]
		}
	}
	return out
}

// evaluators returns the formulas of a report. They are the user's formulas. If the user has none,
// they are those that the measurement recorded, and some that are useful with its counters.
// Formulas over counters that failed are left out: the user has been told.
func (o *Options) evaluators(p *profile.Profile) (out []*perfcounters.Formula) {
	if len(p.Meta.Counters) == 0 {
		return nil
	}
	var counters []perfcounters.Counter
	for _, c := range p.Meta.Counters {
		if c.Failed == "" {
			counters = append(counters, perfcounters.Counter{Name: c.Name})
		}
	}
	texts := o.Evaluators
	if texts == nil {
		texts = p.Meta.Evaluators
	}
	for _, text := range texts {
		if f, err := perfcounters.ParseFormula(text, CounterNames(p)); err == nil {
			out = append(out, f)
		}
	}
	for _, f := range perfcounters.Evaluators(counters) {
		if !slices.ContainsFunc(out, func(g *perfcounters.Formula) bool { return g.Name == f.Name }) {
			out = append(out, f)
		}
	}
	return out
}

// CounterNames returns the names of counters that formulas over a profile may use.
func CounterNames(p *profile.Profile) (names []string) {
	for _, c := range p.Meta.Counters {
		names = append(names, c.Name)
	}
	return names
}

// evaluate computes a formula for a thread's figures; ok is false if a value is not known.
func evaluate(p *profile.Profile, f *perfcounters.Formula, s *profile.ThreadStats) (float64, bool) {
	return f.Eval(func(name string) (float64, bool) {
		switch name {
		case perfcounters.ExecT:
			// With what the probes took, as counters are.
			return float64(s.Exec.T+s.TakenOut) / 1e9, true
		case perfcounters.ExecC:
			return float64(s.Exec.C), true
		}
		i := slices.IndexFunc(p.Meta.Counters, func(c profile.Counter) bool { return c.Name == name })
		if i < 0 { // of a rank that did not read it
			return 0, false
		}
		v, ok := counterValue(p, s, s.Counters, i)
		return float64(v), ok && s.Uncounted == 0
	})
}

// ompP's column widths: of a counter in the flat profiles and in the callgraph's, and of an
// evaluator.
const (
	flatCounterWidth      = 18
	callgraphCounterWidth = 20
	evaluatorWidth        = 12
)

// counterColumns are the columns of counters and evaluators.
func (o *ompp) counterColumns(split bool) (columns []column) {
	width := flatCounterWidth
	if split {
		width = callgraphCounterWidth
	}
	for i := range o.p.Meta.Counters {
		columns = append(columns, column{title: o.p.Meta.Counters[i].Name, nested: true, width: width,
			text: func(r *analysis.ThreadFigures, exclusive bool) string {
				counts := r.Counters
				if exclusive {
					counts = exclusiveCounters(&r.ThreadStats)
				}
				return counterText(o.p, &r.ThreadStats, counts, i)
			}})
	}
	for _, f := range o.formulas {
		columns = append(columns, column{title: f.Name, width: evaluatorWidth,
			text: func(r *analysis.ThreadFigures, _ bool) string { return evaluatorText(o.p, f, &r.ThreadStats) }})
	}
	return columns
}

func evaluatorText(p *profile.Profile, f *perfcounters.Formula, s *profile.ThreadStats) string {
	v, ok := evaluate(p, f, s)
	if !ok {
		return "-"
	}
	// With ompP's two decimals it would be printed as zero.
	if a := math.Abs(v); a != 0 && a < 0.01 {
		return fmt.Sprintf("%.2e", v)
	}
	return words.Decimal(v, 0, 2)
}

// counterHeader writes ompP's header lines on counters.
func (o *ompp) counterHeader(key func(name, format string, args ...any)) {
	m := &o.p.Meta
	if len(m.Counters) == 0 {
		key("Used Counters", "none (--counters LIST reads some; `ompp-attach counters` lists them)")
		return
	}
	const most = 8
	key("Max Counters", "%d", most)
	key("PAPI Active", "no, perf_event")
	key("Used Counters", "%d", len(m.Counters))
	for i, c := range m.Counters {
		text := c.Name
		if c.Unit != "" {
			text += " (" + c.Unit + ")"
		}
		switch {
		case c.Failed != "":
			text += ", not counted: " + c.Failed
		case c.Running > 0:
			text += fmt.Sprintf(", scaled: it counted %s%% of the time", percent(c.Running))
		}
		key(fmt.Sprintf("OMPP_CTR%d", i+1), "%s", text)
	}
	key("Max Evaluators", "any number")
	key("Used Evaluators", "%d", len(o.formulas))
	for i, f := range o.formulas {
		key(fmt.Sprintf("OMPP_EVAL%d", i+1), "%s", f.Text)
	}
}

// countedOf returns the indices of the counters that were counted.
func countedOf(p *profile.Profile) (out []int) {
	for i, c := range p.Meta.Counters {
		if c.Failed == "" {
			out = append(out, i)
		}
	}
	return out
}

// counterTypes returns the pprof sample types of counters.
func counterTypes(p *profile.Profile, counters []int) (types []*pprof.ValueType) {
	for _, i := range counters {
		c := &p.Meta.Counters[i]
		unit := c.Unit
		switch unit {
		case "ns":
			unit = "nanoseconds"
		case "":
			unit = "count"
		}
		types = append(types, &pprof.ValueType{Type: c.Name, Unit: unit})
	}
	return types
}

// counts returns a thread's exclusive counts for a pprof profile. pprof knows no missing values, so
// a missing count is 0.
func (b *pprofBuilder) counts(s *profile.ThreadStats) (out []int64) {
	own := exclusiveCounters(s)
	for _, i := range b.counters {
		v, _ := counterValue(b.p, s, own, i)
		out = append(out, max(0, v))
	}
	return out
}

// counterNotes returns what the reader must know about the counters.
func counterNotes(p *profile.Profile) (out []string) {
	uncounted := uint64(0)
	for i := range p.Nodes {
		if r := p.Nodes[i].Region; r >= 0 && p.Regions[r].Construct == event.MPI {
			continue // reports show no counters of single calls
		}
		for j := range p.Nodes[i].Stats {
			uncounted += p.Nodes[i].Stats[j].Uncounted
		}
	}
	for _, c := range p.Meta.Counters {
		switch {
		case c.Failed != "":
			out = append(out, fmt.Sprintf("Counter %s has no counts: %s.", c.Name, c.Failed))
		case c.Running > 0:
			out = append(out, fmt.Sprintf("Counter %s counted %s%% of the time, and is scaled.", c.Name, percent(c.Running)))
		}
	}
	if len(p.Meta.Counters) > 0 && uncounted > 0 {
		out = append(out, fmt.Sprintf("Of %s the counters are not known, or not all of them: figures with a + hold what is.", words.Plural(int(uncounted), "execution")))
	}
	return out
}

// countingNotes say how to read the columns of counters.
func (o *ompp) countingNotes() []string {
	if len(o.p.Meta.Counters) == 0 {
		return nil
	}
	return append([]string{"Counters are those of the thread in execT, whatever else ran on its core. In a parallel region, those of a worker end where it arrives at the final barrier. " +
		"What our probes cost is part of what is counted in the kernel; COUNTER:u leaves the kernel out. EXECT in formulas is as measured, too. - stands for what is not known, or what a formula has no value for."}, counterNotes(o.p)...)
}

// wallCounters are the cells of counters and evaluators in the table of parallel regions by wall
// time. They sum up all threads of a region.
func (o *ompp) wallCounters(s *profile.ThreadStats) (text string) {
	for i := range o.p.Meta.Counters {
		text += fmt.Sprintf(" %*s", flatCounterWidth, counterText(o.p, s, s.Counters, i))
	}
	for _, f := range o.formulas {
		text += fmt.Sprintf(" %*s", evaluatorWidth, evaluatorText(o.p, f, s))
	}
	return text
}

// addCounted adds the figures that formulas use to sum.
func addCounted(sum, s *profile.ThreadStats) {
	sum.Exec.T += s.Exec.T
	sum.Exec.C += s.Exec.C
	sum.Counters = profile.SumCounters(sum.Counters, s.Counters)
	sum.Uncounted += s.Uncounted
	sum.TakenOut += s.TakenOut
}

func (o *ompp) wallCounterTitles() (text string) {
	for _, c := range o.p.Meta.Counters {
		text += fmt.Sprintf(" %*s", flatCounterWidth, c.Name)
	}
	for _, f := range o.formulas {
		text += fmt.Sprintf(" %*s", evaluatorWidth, f.Name)
	}
	return text
}

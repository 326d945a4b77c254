package compare

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"ompp-attach/job"
)

// note writes down what the reader must know about the sides.
func (c *Comparison) note() {
	add := func(format string, args ...any) { c.Notes = append(c.Notes, fmt.Sprintf(format, args...)) }
	differ := func(what string, of func(*job.Rank) string) bool {
		a, b := c.all(Before, of), c.all(After, of)
		if a == b {
			return false
		}
		add("%s: A %s, B %s.", what, orNothing(a), orNothing(b))
		return true
	}
	if differ("The sides are of different programs", func(r *job.Rank) string { return r.Program }) {
		add("Regions of different programs are joined only where function, construct and order agree.")
	}
	width := func(side int) string {
		var all []string
		for _, run := range c.Sides[side] {
			all = append(all, Width(run.Job))
		}
		return distinct(all)
	}
	if a, b := width(Before), width(After); a != b {
		add("The sides ran with different numbers of threads or ranks: A with %s, B with %s. Sums over threads do not compare; the wall time does.", a, b)
	}
	differ("The sides ran on different machines", func(r *job.Rank) string { return r.Host })
	differ("Constructs that were not measured differ", func(r *job.Rank) string { return r.LeftOut })
	differ("The versions of ompp-attach differ", func(r *job.Rank) string { return r.Tool })
	differ("Times are with what the probes took on one side only", func(r *job.Rank) string {
		if r.Adjusted {
			return "without"
		}
		return "with, or not known"
	})
	c.Notes = append(c.Notes, c.implicitNotes()...)
	for side, runs := range c.Sides {
		for _, run := range runs {
			for _, text := range append(slices.Clone(run.Notes), runNotes(run.Job)...) {
				add("%s, %s: %s", letters[side], run.Name, text)
			}
		}
	}
	switch n, m := len(c.Sides[Before]), len(c.Sides[After]); {
	case n == 1 && m == 1:
		add("Each side is one run, so nothing says how much runs differ by chance. The spread over threads or ranks is no substitute: it says how unlike they are within one run. Repeat the runs, in turns, at least %d of each, and give them as A1,A2,...", c.Repeats)
	case c.Tests == 0:
		add("%d and %d runs are too few for a test of all regions together: %d of each side are enough. P values of single figures are shown where there are at least 4 of each.", n, m, c.Repeats)
	}
}

// implicitNotes say, as the reports do, which barriers are the ends of constructs of which nothing
// else was seen. The other side may have the construct itself.
func (c *Comparison) implicitNotes() (out []string) {
	of := map[string][]string{}
	for _, r := range c.Regions {
		for _, at := range r.At {
			if at == nil {
				continue
			}
			for _, n := range at.NotesOnImplicit() {
				of[n] = append(of[n], Title(r.Any()))
			}
		}
	}
	for _, n := range slices.Sorted(maps.Keys(of)) {
		out = append(out, fmt.Sprintf("%s: %s.", distinct(of[n]), n))
	}
	return out
}

// Width names the ranks and threads of a job.
func Width(j *job.Job) string {
	threads := j.RankStats(func(r *job.Rank) int64 { return int64(r.Threads) })
	per := fmt.Sprint(threads.Max)
	if threads.Min != threads.Max {
		per = fmt.Sprintf("%d to %d", threads.Min, threads.Max)
	}
	if len(j.Ranks) == 1 {
		return per + threadsOf(threads.Max)
	}
	return fmt.Sprintf("%d processes of %s%s", len(j.Ranks), per, threadsOf(threads.Max))
}

func threadsOf(most int64) string {
	if most == 1 {
		return " thread"
	}
	return " threads"
}

// all lists the distinct values of a side's ranks.
func (c *Comparison) all(side int, of func(*job.Rank) string) string {
	var all []string
	for _, run := range c.Sides[side] {
		for i := range run.Job.Ranks {
			all = append(all, of(&run.Job.Ranks[i]))
		}
	}
	return distinct(all)
}

func distinct(all []string) string {
	set := map[string]bool{}
	for _, s := range all {
		set[s] = true
	}
	names := slices.Sorted(maps.Keys(set))
	const few = 4
	if len(names) > few {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:few], ", "), len(names)-few)
	}
	return strings.Join(names, ", ")
}

func orNothing(s string) string {
	if s == "" {
		return "none"
	}
	return s
}

// muchAway is the share of all threads' time without a core from which on a note says so, as the
// text report has a column for that time.
const muchAway = 0.0005

// runNotes tells what is lacking in a run.
func runNotes(j *job.Job) (out []string) {
	count := func(of func(*job.Rank) bool, text string) {
		n := sum(j, func(r *job.Rank) int64 {
			if of(r) {
				return 1
			}
			return 0
		})
		switch {
		case n == 0:
		case len(j.Ranks) == 1:
			out = append(out, text+".")
		default:
			out = append(out, fmt.Sprintf("%s (%d of %d processes).", text, n, len(j.Ranks)))
		}
	}
	count(func(r *job.Rank) bool { return !r.SnapshotAt.IsZero() }, "the profile is a snapshot, not of the whole run")
	count(func(r *job.Rank) bool { return r.LostHits > 0 }, "records of probe hits were lost, so counts are too low")
	count(func(r *job.Rank) bool { return r.Exit != 0 }, "the program failed")
	if h := j.Efficiency().Hidden(); h != nil {
		out = append(out, "how the time divides "+h.Says())
	}
	if away, all := sum(j, func(r *job.Rank) int64 { return r.NoCore }), threadTime(j); float64(away) >= muchAway*float64(all) && all > 0 {
		out = append(out, fmt.Sprintf("threads were ready to run but had no core for %.1f %% of their time.", 100*float64(away)/float64(all)))
	}
	count(func(r *job.Rank) bool { return r.Extrapolated != "" }, "some constructs were not observed all of the time, and their figures are estimates")
	return out
}

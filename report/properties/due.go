package properties

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"ompp-attach/analysis"
	"ompp-attach/report/words"
	"ompp-attach/severity"
)

// few is the largest number of threads that a line names.
const few = 3

// dueTo says for which threads or ranks others waited. These came last to a barrier, held a lock,
// created tasks late, or were late in MPI.
func (t *text) dueTo(f *severity.Finding) string {
	if t.c.Properties[f.Property].ID == severity.NoTask {
		return t.createdBy(f)
	}
	if t.c.Properties[f.Property].ID == severity.Taskwait {
		return t.executedBy(f)
	}
	if t.c.Properties[f.Property].Gain != severity.Balance {
		if ranks := t.dueToRanks(f); ranks != "" {
			return ranks
		}
		return t.heldBy(f)
	}
	last := t.c.LastAt(f.Path)
	who := t.threads(last, func(x severity.Cause) string {
		return fmt.Sprintf("thread %s, for which others waited %s sec (it came last %s%s)", ThreadText(t.c, x.Thread), t.Seconds(x.Time), times(x.Times), t.cameFrom(f.Path, x.Thread))
	})
	held, waited := int64(0), int64(0)
	for _, x := range last {
		held += x.Time
	}
	for _, p := range f.Parts {
		if t.isPart(p, severity.Waiting) {
			waited += p.Time
		}
	}
	if held > waited+waited/10 {
		who += withoutCore
	}
	return strings.Join(slices.DeleteFunc([]string{who, t.executedBy(f)}, func(s string) bool { return s == "" }), "; ")
}

// executedBy says which threads executed tasks for which others waited. The record has that for all
// waits of the team.
func (t *text) executedBy(f *severity.Finding) string {
	waited := t.c.ForTasks(f.Path)
	if analysis.Ratio(waited, t.c.ThreadTime) < little/10 {
		return ""
	}
	all, sum := t.c.Executors(f.Path), int64(0)
	for _, x := range all {
		sum += x.Time
	}
	who := t.threads(all, func(x severity.Cause) string {
		return fmt.Sprintf("tasks that thread %s executed at %s, for which others waited %s sec", ThreadText(t.c, x.Thread), lastText(t.c, x.Path), t.Seconds(x.Time))
	})
	if sum > waited+waited/10 {
		return fmt.Sprintf("in %s sec, tasks of other threads; in all waits of this team: %s", t.Seconds(waited), who)
	}
	return who
}

// withoutCore says why the time of a finding is shorter than the time for which others waited.
const withoutCore = " (in a part of these waits, the waiting threads had no core)"

// isPart tells whether a part of a finding is of a kind.
func (t *text) isPart(p severity.Part, kind string) bool {
	return strings.HasSuffix(t.c.Properties[p.Property].ID, kind)
}

// createdBy says which threads created the tasks that came late, and where.
func (t *text) createdBy(f *severity.Finding) string {
	return t.threads(t.c.Creators(f.Path), func(x severity.Cause) string {
		return fmt.Sprintf("tasks that thread %s created at %s, for which others waited %s sec", ThreadText(t.c, x.Thread), lastText(t.c, x.Path), t.Seconds(x.Time))
	})
}

// threads names the threads for which others waited longest. The longest comes first. If all are
// alike, the text says that.
func (t *text) threads(all []severity.Cause, name func(severity.Cause) string) string {
	if n := len(all); n > 2 && all[n-1].Time > 0 && all[0].Time <= all[n-1].Time*3/2 {
		return fmt.Sprintf("%d threads alike: others waited %s to %s sec for each", n, t.Seconds(all[n-1].Time), t.Seconds(all[0].Time))
	}
	var names []string
	for i, x := range all {
		if i >= few || x.Time*20 < all[0].Time {
			names = append(names, fmt.Sprintf("and %d more", len(all)-i))
			break
		}
		names = append(names, name(x))
	}
	return strings.Join(names, "; ")
}

// heldBy says which threads held a critical section or lock while others waited for it, and for how
// many waits that is not known.
func (t *text) heldBy(f *severity.Finding) string {
	var out []string
	if who := t.holders(f); who != "" {
		out = append(out, who)
	}
	if n := t.c.WithoutHolder(f.Path); n > 0 && t.hasPart(f, severity.NotHeld) {
		out = append(out, fmt.Sprintf("of %s of it the holder is not known", words.Plural(int(n), "execution")))
	}
	return strings.Join(out, "; ")
}

// hasPart tells whether a finding has a part of a kind.
func (t *text) hasPart(f *severity.Finding, kind string) bool {
	return slices.ContainsFunc(f.Parts, func(p severity.Part) bool { return t.isPart(p, kind) })
}

func (t *text) holders(f *severity.Finding) string {
	if !t.hasPart(f, severity.Contended) {
		return ""
	}
	held := map[int]int64{}
	for _, x := range t.c.Holders(f.Path) {
		held[x.Thread] += x.Time
	}
	var threads []severity.Cause
	for thread, ns := range held {
		threads = append(threads, severity.Cause{Thread: thread, Time: ns})
	}
	slices.SortFunc(threads, func(a, b severity.Cause) int { return cmp.Or(cmp.Compare(b.Time, a.Time), a.Thread-b.Thread) })
	who := t.threads(threads, func(x severity.Cause) string {
		return fmt.Sprintf("thread %s, which held it while others waited %s sec", ThreadText(t.c, x.Thread), t.Seconds(x.Time))
	})
	shortened := func(p severity.Part) bool { return p.Mark&severity.Shortened != 0 && t.isPart(p, severity.Contended) }
	if who != "" && slices.ContainsFunc(f.Parts, shortened) {
		who += withoutCore
	}
	return who
}

// cameFrom says from where a thread came last. The record has that for all barriers of the team. To
// the barrier of a construct it came from the construct itself.
func (t *text) cameFrom(path, thread int) string {
	from := t.c.CameFrom(path, thread)
	name := func(x severity.Cause) string {
		region := t.c.Paths[x.Path].Region
		return words.Region(&t.c.Regions[region]) + " " + t.c.Regions[region].Construct.String()
	}
	switch {
	case len(from) == 0 || slices.ContainsFunc(from, func(x severity.Cause) bool { return x.Path == path }):
		return ""
	case len(from) == 1:
		return ", from " + name(from[0])
	}
	return fmt.Sprintf(", to this team's barriers mostly from %s", name(from[0]))
}

func times(n int64) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// causes prints what threads did for which others waited.
func (t *text) causes(title string, all []severity.Cause) {
	left, rest := 0, int64(0)
	if len(all) == 0 || analysis.Ratio(all[0].Time, t.c.ThreadTime) < little && !t.All {
		return
	}
	fmt.Fprintln(t)
	t.lines("", title)
	fmt.Fprintln(t)
	for i, x := range all {
		if !t.All && (i >= causes || analysis.Ratio(x.Time, t.c.ThreadTime) < little) {
			left++
			rest += x.Time
			continue
		}
		t.lines(fmt.Sprintf("%s sec  %5s %%  ", t.Seconds(x.Time), t.share(x.Time)), fmt.Sprintf("thread %s in %s", ThreadText(t.c, x.Thread), PathText(t.c, x.Path)))
	}
	if left > 0 {
		fmt.Fprintf(t, "... and %d more, %s sec together\n", left, t.Seconds(rest))
	}
}

// critical prints the call paths that decide when the run ends.
func (t *text) critical() {
	all, whole := t.c.Critical(), t.c.Total(severity.CriticalPath)
	if !slices.ContainsFunc(all, func(x severity.Critical) bool { return x.Saving.Known }) {
		return // no team's part is known
	}
	fmt.Fprintln(t)
	title := "Critical path: only less time here makes the run shorter. Shares are of %s sec, the path's length."
	if len(t.c.Processes) > 1 {
		title = "Critical paths of the processes: only less time here makes a process shorter, unless it waits for others in MPI. " +
			"Shares are of %s sec, the length of all these paths together."
	}
	t.lines("", fmt.Sprintf(title, t.Seconds(whole)))
	fmt.Fprintln(t)
	left, rest := 0, int64(0)
	for i, x := range all {
		share := analysis.Ratio(x.Time, whole)
		if !t.All && (i >= causes || share < little) {
			left++
			rest += x.Time
			continue
		}
		text := PathText(t.c, x.Path)
		if s := x.Saving; s.Known && s.Time > 0 {
			text += "; perfect balance here saves " + t.saving(s)
		}
		t.lines(fmt.Sprintf("%s sec  %5s %%  ", t.Seconds(x.Time), words.Decimal(100*share, 0, 1)), text)
	}
	if ns := t.c.Total(severity.CriticalRest); analysis.Ratio(ns, whole) >= little {
		t.lines(fmt.Sprintf("%s sec  %5s %%  ", t.Seconds(ns), words.Decimal(100*analysis.Ratio(ns, whole), 0, 1)),
			"completing barriers, waiting there for tasks, ends of regions, or not known")
	}
	if left > 0 {
		fmt.Fprintf(t, "... and %d more, %s sec together\n", left, t.Seconds(rest))
	}
}

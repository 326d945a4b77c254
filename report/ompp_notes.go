package report

import (
	"fmt"
	"strings"

	"ompp-attach/analysis"
	"ompp-attach/profile"
	"ompp-attach/report/limits"
	"ompp-attach/report/words"
)

// notes writes the last section, an addition to ompP's: what was lost, what could not be seen, and
// which figures need an explanation. The section is left out if there is nothing to say.
func (o *ompp) notes() {
	parts := o.noteParts()
	if len(strings.Join(flatten(parts), "")) == 0 {
		return
	}
	o.banner("Measurement Notes")
	o.printf("\n")
	for _, part := range parts {
		for _, line := range part {
			for _, l := range strings.Split(line, "\n") {
				o.printf("%s\n", words.Clean(l))
			}
		}
		if len(part) > 0 {
			o.printf("\n")
		}
	}
}

// noteParts returns the notes by subject. A subject is a title and its items, or sentences.
func (o *ompp) noteParts() [][]string {
	return [][]string{
		limits.SnapshotNotes(o.p), lossNotes(o.p), extrapolatedNotes(o.p, o.Clock), o.endsNotes(), limits.UnseenNotes(o.p), missingNotes(o.p), limits.DebugNotes(o.p), o.approxNotes(), o.regionNotes(),
		o.readingNotes(), limits.CostNotes(o.p, o.Clock), warningNotes(o.p),
	}
}

func flatten(parts [][]string) []string {
	var all []string
	for _, p := range parts {
		all = append(all, p...)
	}
	return all
}

// lossNotes list where events were lost, with one line for each region and its threads. A region
// may be known to have losses (Region.Lossy) without a thread to name.
func lossNotes(p *profile.Profile) []string {
	var items []string
	for r := -1; r < len(p.Regions); r++ {
		var total uint64
		var threads []string
		for _, l := range p.Lost {
			if l.Region != r || l.Events == 0 {
				continue
			}
			total += l.Events
			if l.Thread >= 0 {
				threads = append(threads, fmt.Sprintf("thread %s: %d", words.Thread(p.Threads[l.Thread]), l.Events))
			}
		}
		where := "outside any region"
		if r >= 0 {
			where = words.Label(p, r)
			total = max(total, p.Regions[r].Lossy)
		}
		if total == 0 {
			continue
		}
		item := fmt.Sprintf("%s: %d", where, total)
		if len(threads) > 0 {
			item += " (" + strings.Join(threads, ", ") + ")"
		}
		items = append(items, item)
	}
	switch {
	case len(items) > 0:
		return words.Bullets("Lost events, by the innermost region when they were lost. Counts there are too low and times incomplete.", items)
	case p.Meta.LostHits > 0:
		return []string{fmt.Sprintf("Lost events: %d; where is not known. Counts are too low and times incomplete.", p.Meta.LostHits)}
	}
	return nil
}

func missingNotes(p *profile.Profile) []string {
	var items []string
	for _, r := range p.Meta.Runtimes {
		for _, m := range r.Missing {
			items = append(items, r.Name+": "+m)
		}
	}
	return words.Bullets("Probe points that could not be placed:", items)
}

func (o *ompp) approxNotes() []string {
	p := o.p
	var near, ends []int
	for i := range p.Regions {
		switch l := &p.Regions[i].Location; {
		case !words.IsApprox(l):
		case l.Mark == profile.Approx:
			near = append(near, i)
		default:
			ends = append(ends, i)
		}
	}
	var items []string
	if len(near) > 0 {
		items = append(items, o.regionList("The place is near the construct, not exact", near)...)
	}
	if len(ends) > 0 {
		items = append(items, o.regionList("The last line is that of the last statement, the construct may close after it", ends)...)
	}
	return words.Bullets("~ stands before a place that is approximate:", items)
}

// regionNotes list each sentence once, with the regions for which it holds.
func (o *ompp) regionNotes() []string {
	p := o.p
	var order []string
	of := map[string][]int{}
	for i := range p.Regions {
		for _, n := range p.Regions[i].Notes {
			if of[n] == nil {
				order = append(order, n)
			}
			of[n] = append(of[n], i)
		}
	}
	var items []string
	for _, n := range order {
		items = append(items, o.regionList(strings.ToUpper(n[:1])+n[1:], of[n])...)
	}
	return words.Bullets("On single regions:", items)
}

// regionList returns a sentence and the regions that it is about, at most ten in a line.
func (o *ompp) regionList(sentence string, regions []int) []string {
	const perLine = 10
	lines := []string{sentence + ":"}
	regions, others := o.outline.shownOf(regions)
	for len(regions) > 0 {
		var names []string
		for _, r := range regions[:min(perLine, len(regions))] {
			names = append(names, fmt.Sprintf("R%05d", r+1))
		}
		regions = regions[len(names):]
		lines = append(lines, "  "+strings.Join(names, ", "))
	}
	switch {
	case len(lines) == 1 && others > 0:
		lines = append(lines, "  "+belowLittle(others, "region"))
	case others > 0:
		lines = append(lines, "  "+joined(others, "region"))
	}
	return []string{strings.Join(lines, "\n  ")}
}

// readingNotes say how to read the figures of this profile.
func (o *ompp) readingNotes() []string {
	p, m := o.p, &o.p.Meta
	items := append(o.mpiNotes(), o.countingNotes()...)
	if m.HasTasks {
		items = append(items, "The program may use tasks, and where this runtime executes them was not found: taskT shows `-`, and the time of tasks that ran inside a barrier is part of exitBarT and of the overheads.")
	}
	if hasTasks(p) {
		items = append(items, "A task stands below the place that created it. Its time is with the thread that executed it. While a thread executes a task, the constructs that it had open are suspended: the times of TASK, TASKEXEC, TASKWAIT, TASKGROUP and TASKLOOP, and of whatever lies in a task, leave out the tasks that were executed meanwhile. So execT of TASKWAIT is waiting with nothing to do. taskT is the time spent executing tasks in a wait; exitBarT leaves it out. queueT is the time from creation to execution, summed. Tasks that create each other, as those of a recursive function do, are a group. Each task of a group stands once below the place where the group was entered, with all its executions, under the creation that leads to it in the fewest steps.")
	}
	if m.Partial > 0 {
		items = append(items, fmt.Sprintf("Region instances seen only in part, because they were under way when measurement began or ended: %d.", m.Partial))
	}
	if m.Unmatched > 0 {
		items = append(items, fmt.Sprintf("Ends without a beginning, left out: %d.", m.Unmatched))
	}
	if n := analysis.Roots(p); n > 1 && !analysis.Silent(p) {
		what := "start teams of their own"
		if o.mpi {
			what += ", or call MPI outside of any team"
		}
		items = append(items, fmt.Sprintf("%d threads of the program %s; in the TID column 1:0 is thread 0 of the second one's teams. Wallclock times of parallel regions are sums over them, and the percentages beside them refer to %d x duration.", n, what, n))
	}
	if analysis.HasNestedTeams(p) {
		items = append(items, "Parallel regions are nested. A row is a thread number in the innermost team, so it can add up several threads, and values of nested regions in the callgraph can exceed those of the region around them, and percentages of the whole program, which refer to the number of rows x duration, 100 %. Parallel coverage counts the outermost regions only.")
	}
	if out := o.Rules.Outside(p); out.Sum() > 0 {
		what := fmt.Sprintf("Overheads outside parallel regions, in none of the tables: Synch %s sec, Mgmt %s sec", o.Seconds(out.Synch, 0), o.Seconds(out.Mgmt, 0))
		if o.mpi {
			what += fmt.Sprintf(", MPI %s sec", o.Seconds(out.MPI, 0))
		}
		items = append(items, what+".")
	}
	return words.Bullets("How to read this report:", items)
}

func hasTasks(p *profile.Profile) bool {
	for i := range p.Regions {
		if p.Regions[i].Construct.IsTasking() {
			return true
		}
	}
	return false
}

func warningNotes(p *profile.Profile) []string { return words.Bullets("Warnings:", p.Warnings) }

package jobs

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"ompp-attach/job"
	"ompp-attach/job/spread"
	"ompp-attach/profile"
	"ompp-attach/report"
	"ompp-attach/report/efficiencies"
	"ompp-attach/report/limits"
	"ompp-attach/report/words"
)

// efficiency writes the same of a job.
func (t *jobText) efficiency() {
	t.section("How much of the threads' time was useful?")
	efficiencies.WriteShort(t.printf, t.j.Efficiency())
}

const (
	// The largest numbers of regions and ranks that a section lists. The other formats list
	// all.
	mostRegions = 10
	mostRanks   = 32
)

// WriteText writes the report of a job. It answers the questions of Fürlinger and Moore
// (OpenMP-centric Performance Analysis of Hybrid Applications, II.B) in their order.
func WriteText(w io.Writer, j *job.Job, o report.Options) error {
	out := bufio.NewWriter(w)
	wall := j.RankStats(func(r *job.Rank) int64 { return r.Wall })
	t := &jobText{Writer: out, j: j, Options: o, decimals: decimalsFor(wall.Max)}
	t.noCore = lacksCores(j)
	t.choose(j.Differences())
	t.ends()
	t.summary()
	t.header()
	t.alike()
	t.where()
	t.why()
	t.classes()
	t.efficiency()
	t.path()
	t.calls()
	t.traffic()
	t.notes()
	return out.Flush()
}

type jobText struct {
	*bufio.Writer
	j *job.Job
	report.Options
	decimals    int              // number of decimals of seconds
	noCore      bool             // threads lacked a core for enough of their time to have columns
	differences []job.Difference // those that are shown
	others      []job.Difference
}

// choose chooses the regions to be shown. They are the first of the regions that differ. If none
// differs, they are the first few of the regions that vary.
func (t *jobText) choose(all []job.Difference) {
	const few = 3
	n := 0
	for n < len(all) && n < mostRegions && all[n].Verdict > job.Alike {
		n++
	}
	if n == 0 {
		n = min(few, len(all))
	}
	t.differences, t.others = all[:n], all[n:]
}

func (t *jobText) printf(format string, args ...any) { fmt.Fprintf(t, format, args...) }

func (t *jobText) section(title string) {
	rule := strings.Repeat("-", 70)
	t.printf("%s\n---- %s %s\n%s\n", rule, title, rule[:max(0, 70-len(title)-6)], rule)
}

// sentence writes a paragraph, broken into lines of a readable width.
func (t *jobText) sentence(format string, args ...any) {
	const width = 100
	column := 0
	for _, word := range strings.Fields(words.Clean(fmt.Sprintf(format, args...))) {
		switch {
		case column == 0:
		case column+1+len(word) > width:
			t.printf("\n")
			column = 0
		default:
			t.printf(" ")
			column++
		}
		t.printf("%s", word)
		column += len(word)
	}
	t.printf("\n")
}

func (t *jobText) header() {
	j := t.j
	key := func(name, format string, args ...any) {
		t.printf("%-16s: %s\n", name, words.Clean(fmt.Sprintf(format, args...)))
	}
	total := func(of func(*job.Rank) int64) float64 { s := j.RankStats(of); return s.Total() }
	t.section("Job")
	key("Application Name", "%s", values(j, func(r *job.Rank) string { return r.Program }))
	first := slices.MinFunc(j.Ranks, func(a, b job.Rank) int { return a.Start.Compare(b.Start) })
	key("Start Date", "%s", first.Start.Format("Mon Jan 02 15:04:05 2006"))
	seen := fmt.Sprintf("%d of %d", len(j.Ranks), j.Size)
	if j.Size == 0 {
		seen = fmt.Sprintf("%d, of how many is not known", len(j.Ranks))
	}
	if m := j.Missing(); len(m) > 0 {
		seen += "; not read: " + job.RankList(m)
	}
	key("Ranks", "%s", seen)
	key("Nodes", "%s", nodes(j))
	key("MPI Library", "%s", values(j, func(r *job.Rank) string { return r.MPI.Library }))
	if v := values(j, func(r *job.Rank) string { return r.MPI.Level }); v != "" {
		key("Thread Level", "%s", v)
	}
	if ended := t.howItEnded(); ended != "" {
		key("How It Ended", "%s", ended)
	}
	threads := j.RankStats(func(r *job.Rank) int64 { return int64(r.Threads) })
	key("Threads", "%s per rank, %s in all", span(threads.Min, threads.Max), threads.Sum)
	wall := j.RankStats(func(r *job.Rank) int64 { return r.Wall })
	duration := fmt.Sprintf("%s sec, that of rank %d", t.sec(float64(wall.Max)), wall.MaxRank)
	if len(j.Ranks) > 1 {
		duration += fmt.Sprintf("; the shortest is %s sec shorter (rank %d)", t.sec(wall.Range()), wall.MinRank)
	}
	key("Duration", "%s", duration)
	all := total(func(r *job.Rank) int64 { return r.ThreadTime })
	inMPI := total(func(r *job.Rank) int64 { return r.MPITime })
	key("Thread Time", "%s sec over all ranks (wall time times threads)", t.sec(all))
	key("MPI Time", "%s sec, %s%% of thread time%s", t.sec(inMPI), jobShare(inMPI, all), t.timeSplit())
	longest := total(func(r *job.Rank) int64 { return r.MPIWall })
	key("MPI Wall Time", "%s sec, %s%% of wall time: of each rank's thread that is in MPI longest",
		t.sec(longest), jobShare(longest, total(func(r *job.Rank) int64 { return r.Wall })))
	over := total(func(r *job.Rank) int64 { return r.Overheads.Sum() })
	key("Overheads", "%s sec, %s%% of thread time, MPI included", t.sec(over), jobShare(over, all))
	t.noCoreHeader(key, all)
	t.costHeader(key)
	t.callsHeader(key)
	if e := j.Edges(); e.Derived > 0 {
		key("Ends Derived", "%s", report.EndsDerived(e))
	}
	if v := values(j, func(r *job.Rank) string { return r.LeftOut }); v != "" {
		key("Left Out", "%s", v)
	}
	t.printf("\n")
}

// callsHeader writes how often the ranks called MPI, and how many bytes they moved.
func (t *jobText) callsHeader(key func(name, format string, args ...any)) {
	j := t.j
	out, in, _ := job.Volumes(t.Volumes)
	calls := func(f job.Figure) spread.Stats { return j.RankStats(func(r *job.Rank) int64 { return r.Calls[f] }) }
	sum := func(f job.Figure) string { return calls(f).Sum.String() }
	unknown := calls(job.Unknown)
	volume := func(f job.Figure) string { v := calls(f); return volumeSum(&v, &unknown) }
	key("MPI Calls", "%s (%s sends, %s receives, %s collective)", sum(job.Calls), sum(job.Sends), sum(job.Recvs), sum(job.Colls))
	key("MPI Volume", "%s bytes sent, %s received (%s accounting)%s", volume(out), volume(in), t.Volumes, askedFor(calls(out), calls(in)))
	files := j.RankStats(func(r *job.Rank) int64 { return r.Calls[job.FileRead] + r.Calls[job.FileWritten] })
	if files.Total() > 0 {
		key("MPI-IO Volume", "%s bytes read, %s written", sum(job.FileRead), sum(job.FileWritten))
	}
	if unknown.Max > 0 {
		key("Unknown Volume", "%s calls; a volume with a + is without them, - is not known at all", unknown.Sum)
	}
}

// askedFor says what receives count, where more was received than sent: a message may be shorter
// than the buffer that waits for it.
func askedFor(sent, received spread.Stats) string {
	if received.Sum.Cmp(sent.Sum) <= 0 {
		return ""
	}
	return "; a receive counts the bytes that it asked for, also if fewer came"
}

// values lists the values that ranks have, and which ranks. It lists a few values only.
func values(j *job.Job, of func(*job.Rank) string) string {
	var all []string
	seen := map[string]bool{}
	for i := range j.Ranks {
		if v := of(&j.Ranks[i]); v != "" && !seen[v] {
			seen[v] = true
			all = append(all, v)
		}
	}
	return counted(all)
}

// counted names the first of several values, after their number.
func counted(all []string) string {
	text := words.FirstOf(all, 4)
	if len(all) > 1 {
		text = fmt.Sprintf("%d: %s", len(all), text)
	}
	return text
}

func span(least, most int64) string {
	if least == most {
		return fmt.Sprint(least)
	}
	return fmt.Sprintf("%d-%d", least, most)
}

// sec prints a time in seconds. All times of a report have the same number of decimals, so that
// columns can be compared. Reports of short jobs have more decimals.
func (t *jobText) sec(ns float64) string { return words.Decimal(ns/1e9, 0, t.decimals) }

func decimalsFor(wall int64) int {
	switch {
	case wall < 1e9:
		return 6
	case wall < 100e9:
		return 4
	}
	return 2
}

func jobShare(part, whole float64) string {
	if whole == 0 {
		return "0.0"
	}
	return words.Decimal(100*part/whole, 0, 1)
}

func (t *jobText) alike() {
	t.section("Do the processes behave alike?")
	tab := table{head: []string{"time (sec)", "min", "rank", "mean", "max", "rank", "stddev", "stddev/mean", "of whole", "ranks are"}}
	worst := job.Alike
	var differ, outliers []string
	for _, q := range t.j.Quantities() {
		if q.Max == 0 || q.Name == "no core" && !t.noCore || q.Name == "communication" && !startsEnds(t.j) {
			continue
		}
		tab.join(q.Name, t.sec(float64(q.Min)), rankNum(q.MinRank), t.sec(q.Mean), t.sec(float64(q.Max)), rankNum(q.MaxRank),
			t.sec(q.StdDev), words.Decimal(100*q.Variation(), 0, 1)+"%", jobShare(q.StdDev, q.Whole)+"%", q.Verdict.String())
		worst = max(worst, q.Verdict)
		switch q.Verdict {
		case job.Differ:
			differ = append(differ, q.Name)
		case job.Outliers:
			outliers = append(outliers, q.Name)
		}
	}
	tab.write(t)
	t.printf("\n")
	switch {
	case len(t.j.Ranks) == 1:
		t.sentence("There is one rank only: nothing to compare.")
	case worst == job.Alike:
		t.sentence("The processes behave alike.")
	case worst == job.Outliers:
		t.sentence("The processes behave alike but for single ranks that stand out in: %s.", strings.Join(outliers, ", "))
	default:
		t.sentence("The processes differ in: %s.", strings.Join(append(differ, outliers...), ", "))
	}
	t.lackOfCores()
	t.sentence("(Rule: they differ in a time if its standard deviation is at least %.0f%% of the whole, and single ranks "+
		"stand out if only its range is at least %.0f%%. The whole is the mean wall time for wall, parallel and MPI wall, "+
		"the time of a rank's thread that is in MPI longest; for the others, which are summed over threads, the mean thread time "+
		"of a rank.)", 100*job.DiffersStdDev, 100*job.DiffersRange)
	t.printf("\n")
}

func rankNum(rank int) string { return fmt.Sprint(rank) }

// jobRegion names a region of the job, with the region's number in this report.
func (t *jobText) jobRegion(number int) string {
	g := t.j.Regions[number]
	return fmt.Sprintf("R%05d %s %s", number+1, words.Region(&g.Region), g.Construct)
}

// where writes the regions that vary most.
func (t *jobText) where() {
	t.section("Where do they differ?")
	if len(t.differences) == 0 || len(t.j.Ranks) == 1 {
		t.sentence("No region varies.")
		t.printf("\n")
		return
	}
	if t.differences[0].Verdict == job.Alike {
		t.sentence("By the rule above, with thread time as the whole (wall time for wallT), the ranks are alike in all regions. These vary most.")
	}
	t.sentence("Regions by the greatest standard deviation over ranks of their time or of a part of it; a rank that did " +
		"not reach a region has 0. execT is inclusive and summed over threads. Its parts: workT in no overhead class, waitT for " +
		"threads and locks, mpiT in MPI, mgmtT of the runtime. wallT is that of a rank's longest thread.")
	t.printf("\n")
	for _, d := range t.differences {
		t.printf("%s\n", t.jobRegion(d.Number))
		t.printf("  reached by %d of %d ranks; %s varies most: %s\n", d.Region.Reached, len(t.j.Ranks), d.By, verdictText(d.Verdict))
		tab := table{indent: 2, head: []string{"", "min", "rank", "mean", "max", "rank", "stddev", "stddev/mean", "sum"}}
		shown := []job.Figure{job.ExecT, job.WallT, job.WorkT, job.WaitT, job.MPIT, job.MgmtT, job.ExecC, job.BodyC}
		if t.noCore {
			shown = append(shown, job.NoCoreT)
		}
		if s := d.Region.Stats(job.Calls); s.Max > 0 {
			out, in, _ := job.Volumes(t.Volumes)
			shown = append(shown, job.Calls, out, in)
		}
		for _, f := range shown {
			t.addFigure(&tab, d.Region, f)
		}
		tab.write(t)
		t.printf("\n")
	}
	if len(t.others) > 0 {
		t.sentence("%s more, each with a standard deviation of %s sec or less, in the csv and json formats.",
			words.Plural(len(t.others), "region"), t.sec(t.others[0].Spread))
		t.printf("\n")
	}
}

func verdictText(v job.Verdict) string {
	switch v {
	case job.Differ:
		return "ranks differ"
	case job.Outliers:
		return "ranks are alike but for single ones"
	}
	return "ranks are alike"
}

// jobNotes returns what the reader must know about the figures, as sentences.
func jobNotes(j *job.Job) []string {
	var items []string
	items = append(items, j.Troubles()...)
	if h := j.Efficiency().Hidden(); h != nil {
		items = append(items, "The program's own times "+h.Says())
	}
	lossy := func(what string, of func(*job.Rank) int64) {
		if s := j.RankStats(of); s.Max > 0 {
			var ranks []int
			for i := range j.Ranks {
				if of(&j.Ranks[i]) > 0 {
					ranks = append(ranks, j.Ranks[i].Rank)
				}
			}
			items = append(items, fmt.Sprintf("%s: %s in all, by %s.", what, s.Sum, job.RankList(ranks)))
		}
	}
	lossy("Events lost, so that counts are too low and times incomplete", func(r *job.Rank) int64 { return int64(r.LostHits) })
	lossy("Region instances seen only in part", func(r *job.Rank) int64 { return int64(r.Partial) })
	items = append(items, ranksTexts(j, func(r *job.Rank) []string { return r.Warnings })...)
	items = append(items, ranksTexts(j, func(r *job.Rank) []string {
		if s := limits.DebugNote(r.Executable); s != "" {
			return []string{s}
		}
		return nil
	})...)
	var volumes []int
	reason := ""
	for i := range j.Ranks {
		if v := j.Ranks[i].MPI.Volumes; v != "" {
			volumes, reason = append(volumes, j.Ranks[i].Rank), v
		}
	}
	if len(volumes) > 0 {
		items = append(items, fmt.Sprintf("Volumes are not known of %s: %s", job.RankList(volumes), reason))
	}
	if s := rivalNote(j); s != "" {
		items = append(items, s)
	}
	return items
}

// ranksTexts returns the first few of the ranks' texts, each with the ranks that have the same.
func ranksTexts(j *job.Job, of func(*job.Rank) []string) (out []string) {
	const few = 3
	ranks := map[string][]int{}
	var order []string
	for i := range j.Ranks {
		for _, text := range of(&j.Ranks[i]) {
			if ranks[text] == nil {
				order = append(order, text)
			}
			ranks[text] = append(ranks[text], j.Ranks[i].Rank)
		}
	}
	for _, text := range order[:min(few, len(order))] {
		out = append(out, fmt.Sprintf("Of %s: %s", job.RankList(ranks[text]), words.Clean(text)))
	}
	if n := len(order) - few; n > 0 {
		out = append(out, fmt.Sprintf("%s, which the reports of the ranks tell (--rank).", words.Plural(n, "further warning")))
	}
	return out
}

// notes writes what the reader must know about the figures.
func (t *jobText) notes() {
	j := t.j
	t.section("Notes")
	for _, i := range jobNotes(j) {
		t.sentence("* %s", i)
	}
	t.sentence("* Region numbers are those of this report: a single rank's report (--rank) has its own.")
	for _, g := range j.Regions {
		if g.Location.Mark == profile.Approx || g.Location.EndMark == profile.Approx {
			t.sentence("* ~ stands before a place that is approximate.")
			break
		}
	}
}

// stamp is the form of times in formats that programs read.
func stamp(at time.Time) string { return at.Format(time.RFC3339Nano) }

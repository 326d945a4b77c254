package report

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"ompp-attach/analysis"
	"ompp-attach/efficiency"
	"ompp-attach/profile"
	"ompp-attach/report/efficiencies"
	"ompp-attach/report/limits"
	"ompp-attach/report/words"
)

// Summary writes the summary at the end of a measurement, in at most 15 lines. It has time,
// threads, coverage, overheads, and the regions that cost most. It also has what was lost or could
// not be seen, and the files that were written. It returns only errors of the writer.
func Summary(w io.Writer, p *profile.Profile, files []string, o Options) error {
	out := bufio.NewWriter(w)
	p = o.view(p)
	sec := o.clock(p)
	line := func(key, format string, args ...any) {
		fmt.Fprintf(out, "%-19s %s\n", key, words.Clean(fmt.Sprintf(format, args...)))
	}
	m := &p.Meta
	ended := ""
	if m.Ended != "" {
		ended = ", " + m.Ended
	}
	wall := sec.Seconds(m.Duration, 0) + " sec wall time"
	if measured := sec.Seconds(limits.MeasuredDuration(p), 0); m.TakenOut > 0 && measured != sec.Seconds(m.Duration, 0) {
		wall += fmt.Sprintf(" (%s with the probes)", measured)
	}
	line(words.Program(p), "%s, %s (pid %d%s)", wall, words.Plural(analysis.Threads(p), "thread"), m.PID, ended)
	all := analysis.ThreadTime(p)
	part := func(t int64) string { return words.Percent(analysis.Ratio(t, all)) }
	sharesLines(line, p, &o, part)
	if usesMPI(p) {
		line("MPI", "%s", mpiSummary(p, sec, part))
	}

	if c := m.Overhead; c != nil && c.Failed == "" {
		line("probes took", "%s thread-sec (%s%%%s)%s", limits.CostSeconds(p, sec), words.Percent(limits.CostShare(p)), limits.OfProcessorTime(p, sec), map[bool]string{true: ", taken out of all other times"}[m.Adjusted])
	}
	key := "costliest regions"
	costs := analysis.Costs(p)[:min(2, len(p.Regions))]
	if o.hidden(p) != nil {
		costs = nil
	}
	for _, c := range costs {
		what := "overhead"
		t := c.Overhead.Sum()
		if t <= 0 {
			what, t = "time", c.Exclusive
		}
		line(key, "%s: %s thread-sec %s (%s%%)", words.Label(p, c.Region), sec.Seconds(t, 0), what, part(t))
		key = ""
	}

	for _, trouble := range troubles(p) {
		line(trouble[0], "%s", trouble[1])
	}
	writtenFiles(line, files)
	return out.Flush()
}

// Untold says that it cannot be told how the time of a process divides, and why. It returns "" if
// that can be told.
func Untold(p *profile.Profile, o Options) string {
	if h := o.hidden(o.view(p)); h != nil {
		return "how the time divides " + h.Says()
	}
	return ""
}

// NotBounded says that MPI calls took most of a measurement's cost, which --max-overhead does not
// bound; "": they did not, or there was no budget.
func NotBounded(p *profile.Profile, o Options) string { return limits.BudgetText(o.view(p)) }

// hidden says why the times of a process cannot be told; nil: they can. ompP itself knows no such
// thing, so --classic shows all figures.
func (o *Options) hidden(p *profile.Profile) *analysis.Hidden {
	if o.Classic {
		return nil
	}
	return analysis.HiddenByProbes(p)
}

// noOpenMP says that no OpenMP construct was seen.
func noOpenMP(p *profile.Profile) string {
	if p.Meta.Attached {
		return "not known: nothing of OpenMP was seen"
	}
	return "nothing of OpenMP was seen"
}

// sharesLines writes how much of the time was parallel, lost and useful.
func sharesLines(line func(key, format string, args ...any), p *profile.Profile, o *Options, part func(int64) string) {
	if analysis.Silent(p) {
		line("parallel coverage", "%s", analysis.SilentText)
		return
	}
	cover := analysis.ParallelCoverage(p)
	if !analysis.SawOpenMP(p) {
		line("parallel coverage", "%s", noOpenMP(p))
	} else {
		line("parallel coverage", "%s%% in %s", words.Percent(cover.Share()), words.Plural(cover.Regions, "parallel region"))
	}
	if h := o.hidden(p); h != nil {
		if sum := classSums(p, o.Rules); showsNoCore(p, o.Rules) {
			line("no core", "%s", noCoreText(p, sum.NoCore, part))
		}
		line("efficiency", "%s", h.Says())
		return
	}
	overheadLines(line, p, o, part)
	if !o.Classic {
		line("efficiency", "%s", efficiencies.Brief(efficiency.OfProfile(p)))
	}
}

// classSums returns the overheads of all parallel regions together.
func classSums(p *profile.Profile, rules analysis.Rules) (sum analysis.Classes) {
	for _, x := range rules.Overheads(p) {
		sum.Add(x.Classes)
	}
	return sum
}

// overheadLines writes the overheads of all parallel regions by class.
func overheadLines(line func(key, format string, args ...any), p *profile.Profile, o *Options, part func(int64) string) {
	sum := classSums(p, o.Rules)
	classes := fmt.Sprintf("%s%% = synchronisation %s%% + imbalance %s%% + limited parallelism %s%% + management %s%%",
		part(sum.Sum()), part(sum.Synch), part(sum.Imbal), part(sum.Limpar), part(sum.Mgmt))
	if usesMPI(p) {
		classes += fmt.Sprintf(" + MPI %s%%", part(sum.MPI))
	}
	if showsNoCore(p, o.Rules) {
		classes += fmt.Sprintf(" + no core %s%%", part(sum.NoCore))
		line("no core", "%s", noCoreText(p, sum.NoCore, part))
	}
	line("overheads", "%s, in parallel regions", classes)
}

// writtenFiles names the files that were written, in three lines at most: the last line has all
// remaining files.
func writtenFiles(line func(key, format string, args ...any), files []string) {
	names := make([]string, len(files))
	for i, f := range files {
		names[i] = profile.PasteableName(f)
	}
	for i, key := 0, "written"; i < len(files); i, key = i+1, "" {
		if i == 2 {
			line(key, "%s", strings.Join(names[i:], " "))
			break
		}
		line(key, "%s", names[i])
	}
}

// mpiSummary says how much time MPI took, in parallel regions and outside.
func mpiSummary(p *profile.Profile, c words.Clock, part func(int64) string) string {
	m := totalMPI(p)
	who := ""
	if job := p.Meta.MPI; job != nil && job.Rank >= 0 && job.Size > 0 {
		who = fmt.Sprintf("rank %d of %d, ", job.Rank, job.Size)
	}
	text := fmt.Sprintf("%s%s thread-sec (%s%%) in %s: %s, %s, %s", who, c.Seconds(m.T, 0), part(m.T), words.Plural(int(m.Calls), "call"),
		words.Plural(int(m.Sends), "send"), words.Plural(int(m.Recvs), "receive"), words.Plural(int(m.Colls), "collective"))
	if ends := analysis.MPIStartEnd(p); ends.T > 0 {
		text += "; " + words.SplitText(func(ns int64) string { return c.Seconds(ns, 0) }, m.T-ends.T, ends.T, ends.Operations)
	}
	return text
}

// incompleteText says what was not seen as a whole.
func incompleteText(m *profile.Meta) string {
	var parts []string
	if m.LostHits > 0 {
		parts = append(parts, fmt.Sprintf("%d of %d events lost", m.LostHits, m.Hits+m.LostHits))
	}
	if m.Partial > 0 {
		parts = append(parts, words.Plural(int(m.Partial), "region instance")+" under way when measurement began or ended")
	}
	return strings.Join(parts, ", ")
}

// troubles returns a few lines for the summary, as key and text, on what the figures lack.
func troubles(p *profile.Profile) [][2]string {
	m := &p.Meta
	var out [][2]string
	if text := limits.SnapshotText(p); text != "" {
		out = append(out, [2]string{"snapshot", text})
	}
	if m.LostHits > 0 || m.Partial > 0 {
		out = append(out, [2]string{"incomplete", incompleteText(m)})
	}
	if much := limits.MuchProbed(p, 2); much != "" {
		out = append(out, [2]string{"rough", much})
	}
	if away := limits.TasksAway(p, 2); away != "" {
		out = append(out, [2]string{"rough", away})
	}
	if text := limits.BudgetText(p); text != "" {
		out = append(out, [2]string{"not bounded", text})
	}
	out = append(out, extrapolatedTroubles(p)...)
	if text := limits.UnseenTrouble(p); text != "" {
		out = append(out, [2]string{"not observed", text})
	}
	missing := 0
	for _, r := range m.Runtimes {
		missing += len(r.Missing)
	}
	if missing > 0 {
		out = append(out, [2]string{"probes missing", fmt.Sprintf("%d; see the Measurement Notes of the text report", missing)})
	}
	if n := len(p.Warnings); n > 0 {
		out = append(out, [2]string{"warning", p.Warnings[0]})
		if n > 1 {
			out = append(out, [2]string{"", fmt.Sprintf("and %d more; see the Measurement Notes of the text report", n-1)})
		}
	}
	return out
}

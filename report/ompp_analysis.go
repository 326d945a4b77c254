package report

import (
	"fmt"
	"strings"

	"ompp-attach/analysis"
	"ompp-attach/report/limits"
	"ompp-attach/report/words"
)

// overheads writes the overheads of each parallel region.
func (o *ompp) overheads() {
	all := o.Rules.Overheads(o.p)
	cover := analysis.ParallelCoverage(o.p)
	o.banner("Overhead Analysis Report")
	o.printf("Total runtime (wallclock)   : %s sec [%s]\n",
		o.Seconds(o.p.Meta.Duration, 0), words.Plural(analysis.Threads(o.p), "thread"))
	o.printf("Number of parallel regions  : %d\n", cover.Regions)
	if o.Classic || analysis.SawOpenMP(o.p) {
		o.printf("Parallel coverage           : %s sec (%s%%)\n\n", o.Seconds(cover.Wall, 0), percent(cover.Share()))
	} else {
		o.printf("Parallel coverage           : %s\n\n", noOpenMP(o.p))
	}
	o.regionsByWall(all, &cover)
	o.overheadTables(all)
	if o.hidden(o.p) != nil {
		o.line("The program's own overheads cannot be told: the Efficiency Report says why.")
	}
	o.line(limits.MuchProbed(o.p, 4))
	o.line(limits.TasksAway(o.p, 4))
	o.printf("\n\n")
}

// regionsByWall writes the parallel regions by their wall time.
func (o *ompp) regionsByWall(all []analysis.RegionOverhead, cover *analysis.Coverage) {
	analysis.SortByWall(all)
	o.printf("Parallel regions sorted by wallclock time:\n")
	var wall int64
	for i := range all {
		wall += all[i].Wall
	}
	gap := o.Wider(wall)
	o.printf("            Type                            Location      %sWallclock (%%)%s\n", gap, o.wallCounterTitles())
	flat, counted := analysis.Flat(o.p), analysis.ThreadFigures{}
	for i := range all {
		r := &o.p.Regions[all[i].Region]
		sum := &flat[all[i].Region].Sum
		addCounted(&counted.ThreadStats, &sum.ThreadStats)
		if !o.outline.regions[all[i].Region] {
			continue
		}
		o.printf("R%05d  %8s %35s    %s (%s)%s\n", all[i].Region+1, shortName(r.Construct), words.Region(r),
			o.Seconds(all[i].Wall, 7+len(gap)), percent(analysis.Ratio(all[i].Wall, cover.Of)), o.wallCounters(&sum.ThreadStats))
	}
	o.otherRegions(all)
	o.printf("%17s%35s    %s (%s)%s\n\n", "", "SUM", o.Seconds(wall, 7+len(gap)), percent(analysis.Ratio(wall, cover.Of)),
		o.wallCounters(&counted.ThreadStats))
}

// otherRegions writes a line on the regions that are left out because others have most of the time.
func (o *ompp) otherRegions(all []analysis.RegionOverhead) {
	others := 0
	for i := range all {
		if !o.outline.regions[all[i].Region] {
			others++
		}
	}
	if others > 0 {
		o.printf("   ... %s of the time\n", joined(others, "region"))
	}
}

// overheadTables writes the overheads by class: as shares of each region's time,
// and of the program's.
func (o *ompp) overheadTables(all []analysis.RegionOverhead) {
	var total int64
	for i := range all {
		total += all[i].Total
	}
	gap := o.Wider(total)
	titles := strings.Join([]string{"          ", "Total        ", "Ovhds (%)  =   ", "Synch  (%)  +  ", "Imbal   (%)  +   ",
		"Limpar (%)   +    ", "Mgmt (%)"}, gap)
	if o.mpi {
		titles += "   +     " + gap + "MPI (%)"
	}
	if o.noCore {
		titles += "   +  " + gap + "NoCore (%)"
	}
	o.printf("Overheads wrt. each individual parallel region:\n%s\n", titles)
	o.overheadRows(all, func(x *analysis.RegionOverhead) int64 { return x.Total }, 7+len(gap))
	o.printf("\n")

	analysis.SortByOverhead(all)
	program := analysis.ThreadTime(o.p)
	o.printf("Overheads wrt. whole program:\n%s\n", titles)
	sum := o.overheadRows(all, func(*analysis.RegionOverhead) int64 { return program }, 7+len(gap))
	o.printf("   SUM")
	o.overheadRow(total, sum, program, 7+len(gap))
}

// overheadRows writes a line for each region, with shares of the time that whole returns. It
// returns the sum over all regions.
func (o *ompp) overheadRows(all []analysis.RegionOverhead, whole func(*analysis.RegionOverhead) int64, width int) (sum analysis.Classes) {
	for i := range all {
		x := &all[i]
		sum.Add(x.Classes)
		if o.outline.regions[x.Region] {
			o.printf("R%05d", x.Region+1)
			o.overheadRow(x.Total, x.Classes, whole(x), width)
		}
	}
	o.otherRegions(all)
	return sum
}

// line writes a sentence on a line of its own, unless it is empty.
func (o *ompp) line(sentence string) {
	if sentence != "" {
		o.printf("%s\n", words.Clean(sentence))
	}
}

// overheadRow writes a region's total time, and its overheads as shares of whole.
func (o *ompp) overheadRow(total int64, c analysis.Classes, whole int64, width int) {
	o.printf("  %s ", o.Seconds(total, width))
	times := []int64{c.Sum(), c.Synch, c.Imbal, c.Limpar, c.Mgmt}
	if o.mpi {
		times = append(times, c.MPI)
	}
	if o.noCore {
		times = append(times, c.NoCore)
	}
	for _, t := range times {
		o.printf(" %s (%s)", o.Seconds(t, width), percent(analysis.Ratio(t, whole)))
	}
	o.printf("\n")
}

// properties writes the properties that hold.
func (o *ompp) properties() {
	o.banner("Performance Properties Report")
	o.printf("\n")
	others, findings := 0, o.Rules.Findings(o.p)
	if o.hidden(o.p) != nil {
		o.printf("Which properties the program itself has cannot be told: the Efficiency Report says why.\n\n")
	}
	hold, coreless := o.joinCoreless(findings.Hold)
	uneven := analysis.WhyUneven(o.p)
	for i, p := range hold {
		if p.Severity < little && !o.All {
			others++
			continue
		}
		r := &o.p.Regions[p.Region]
		o.printf("Property P%05d '%s' holds for\n", i+1, p.Name)
		o.printf("     '%s %s', with a severity (in percent) of %s\n",
			r.Construct, words.Region(r), words.Decimal(100*p.Severity, 0, 6))
		if text := coreText(p.Core); text != "" && o.noCore {
			o.printf("     (its threads %s)\n", text)
		}
		if why := uneven[p.Region].Why().Says(); why != "" && analysis.HasUneven(p.Name) && !o.Classic {
			o.printf("     (%s)\n", why)
		}
		if p.Name == analysis.WaitForCore && coreless != "" {
			o.printf("     %s\n", words.Clean(coreless))
		}
		o.printf("\n")
	}
	if others > 0 {
		o.printf("... and %d with a severity below 0.1 (--all shows them).\n\n", others)
	}
	if lines := limits.LeftOut(o.p, findings); len(lines) > 0 {
		for _, line := range lines {
			o.line(line)
		}
		o.printf("\n")
	}
}

// joinCoreless leaves of several findings of time without a core the most severe, and names those
// that are left out in a sentence. On a busy machine all regions have such time, for one reason.
func (o *ompp) joinCoreless(hold []analysis.Property) (kept []analysis.Property, sentence string) {
	const most = 3
	var names []string
	first, rest := true, 0.
	for _, p := range hold {
		if p.Name != analysis.WaitForCore || first || o.All {
			kept = append(kept, p)
			first = first && p.Name != analysis.WaitForCore
			continue
		}
		names = append(names, words.Label(o.p, p.Region))
		rest += p.Severity
	}
	if len(names) > 0 {
		sentence = fmt.Sprintf("(and for %s, with %s", words.FirstOf(names, most), words.Decimal(100*rest, 0, 6))
		if len(names) > 1 {
			sentence += " together"
		}
		sentence += ")"
	}
	return kept, sentence
}

package efficiencies

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"ompp-attach/analysis"
	"ompp-attach/efficiency"
	"ompp-attach/profile"
)

// Options are choices of the reader.
type Options struct {
	// Label names a region's place, as words.Region does.
	Label func(*profile.Region) string
	All   bool   // show also rows of less than 0.1 %
	Tool  string // version of ompp-attach, for the formats that tell it
}

// little is the share below which rows are left out of text.
const little = 0.001

// WriteText writes the report.
func WriteText(w io.Writer, r *efficiency.Run, o Options) error {
	out := bufio.NewWriter(w)
	t := &text{Writer: out, run: r, Options: o, whole: r.Whole()}
	if h := r.Hidden(); h != nil {
		t.hidden(h)
		return out.Flush()
	}
	t.head()
	t.parts()
	if r.UsesMPI() {
		t.tree("POP, hybrid multiplicative: products of those below, the first of two pairs", r.Multiplicative())
		t.tree("POP, hybrid additive: a metric loses what those below lose", r.Additive())
	} else {
		t.tree("POP, multiplicative: the first is the product of those below", r.Multiplicative())
		t.tree("POP, additive: a metric loses what those below lose", r.Additive())
	}
	t.talp()
	t.regions()
	t.processes()
	t.notes()
	return out.Flush()
}

type text struct {
	*bufio.Writer
	Options
	run   *efficiency.Run
	whole efficiency.Parts
}

func (t *text) printf(format string, args ...any) { fmt.Fprintf(t, format, args...) }

func (t *text) section(title string) {
	rule := strings.Repeat("-", 70)
	t.printf("%s\n%s\n%s\n", rule, strings.TrimRight("---- "+title+" "+rule[:max(0, 70-len(title)-6)], " "), rule)
}

func sec(ns int64) string { return fmt.Sprintf("%.3f", float64(ns)/1e9) }

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

func percent(share float64) string { return fmt.Sprintf("%.1f%%", 100*share) }

// rate prints an efficiency.
func rate(v float64) string { return fmt.Sprintf("%.3f", v) }

func (t *text) label(r *efficiency.Region) string {
	return fmt.Sprintf("R%05d %s %s", r.Number, r.Construct, profile.Pasteable(t.Label(r.Region)))
}

func (t *text) numbered(number int) string {
	for i := range t.run.Regions {
		if t.run.Regions[i].Number == number {
			return t.label(&t.run.Regions[i])
		}
	}
	return ""
}

// who names the run's ranks and threads, below the title.
func (t *text) who() string {
	r := t.run
	t.section("Efficiency of " + profile.Pasteable(r.Program))
	who := plural(r.Threads(), "thread")
	if n := len(r.Processes); n > 1 || r.UsesMPI() {
		who = fmt.Sprintf("%s, %s in all", plural(n, "rank"), who)
	}
	return who
}

func (t *text) head() {
	t.printf("%s, %s sec: %s thread-sec, %s of which did the program's own work (e_mt %s)\n\n",
		t.who(), sec(t.run.Runtime), sec(t.whole.Sum()), t.percent(t.whole.Efficiency()), emt(&t.whole))
}

// hidden writes why there are no figures.
func (t *text) hidden(h *analysis.Hidden) {
	t.printf("%s: the efficiency %s\n", t.who(), h.Says())
}

// parts lists all parts, which add up to 100 %.
func (t *text) parts() {
	t.printf("%10s %8s  %-60s %s\n", "sec", "of all", "", "most of it in")
	for part := range efficiency.NumParts {
		share := t.whole.Share(part)
		if t.whole[part] == 0 || share < little && !t.All {
			continue
		}
		where := ""
		if most, ns := t.run.Most(part); most != nil {
			where = fmt.Sprintf("%s (%s sec)", t.label(most), t.sec(ns))
		}
		t.printf("%10s %8s  %s\n", t.sec(t.whole[part]), t.percent(share), strings.TrimRight(fmt.Sprintf("%-60s %s", part, where), " "))
	}
	t.printf("%10s %8s\n\n", sec(t.whole.Sum()), "100.0%")
}

func (t *text) tree(title string, m efficiency.Metric) {
	t.section(title)
	m.Walk(func(m *efficiency.Metric, depth int) {
		line := fmt.Sprintf("%8s  %-50s", t.rate(m.Value), strings.Repeat("|  ", max(0, depth-1))+map[bool]string{true: "+- "}[depth > 0]+m.Name)
		if m.Region > 0 {
			line += " " + t.numbered(m.Region)
		}
		t.printf("%s\n", strings.TrimRight(line, " "))
	})
	t.printf("\n")
}

func (t *text) talp() {
	m := t.run.TALP()
	t.section("TALP's metrics (DLB's model hybrid-v2)")
	row := func(depth int, name string, v float64) {
		t.printf("%8s  %s%s\n", t.rate(v), strings.Repeat("   ", depth), name)
	}
	row(0, "Parallel efficiency", m.ParallelEfficiency)
	if t.run.UsesMPI() {
		row(1, "MPI parallel efficiency", m.MPIParallel)
		row(2, "Communication efficiency", m.MPICommunication)
		row(2, "Load balance", m.MPIBalance)
		row(3, "In", m.MPIBalanceIn)
		row(3, "Out", m.MPIBalanceOut)
	}
	row(1, "OpenMP parallel efficiency", m.OMPParallel)
	row(2, "Load balance", m.OMPBalance)
	row(2, "Scheduling efficiency", m.OMPScheduling)
	row(2, "Serialization efficiency", m.OMPSerialization)
	t.printf("\n")
}

// regionParts are the parts that parallel regions have.
var regionParts = []efficiency.Part{efficiency.Synch, efficiency.Imbal, efficiency.Limpar, efficiency.Mgmt, efficiency.MPI, efficiency.NoCore}

// parallel returns the parallel regions, the ones that lose most first.
func parallel(r *efficiency.Run) (out []*efficiency.Region) {
	for i := range r.Regions {
		if g := &r.Regions[i]; g.Construct.IsParallel() && g.Team.Sum() > 0 {
			out = append(out, g)
		}
	}
	lost := func(g *efficiency.Region) int64 { return g.Team.Sum() - g.Team.Useful() }
	slices.SortStableFunc(out, func(a, b *efficiency.Region) int { return cmp.Compare(lost(b), lost(a)) })
	return out
}

func (t *text) regions() {
	all := parallel(t.run)
	if len(all) == 0 {
		return
	}
	t.section("Parallel regions: e_mt = 1 less the shares that each class takes")
	t.printf("%-6s %7s %10s %7s", "", "threads", "sec", "e_mt")
	for _, p := range regionParts {
		t.printf(" %8s", p.Key())
	}
	t.printf("  %s\n", "place")
	others := 0
	for _, g := range all {
		sum := g.Team.Sum()
		if float64(sum) < little*float64(t.whole.Sum()) && !t.All {
			others++
			continue
		}
		t.printf("R%05d %7d %10s %7s", g.Number, g.Threads, sec(sum), emt(&g.Team))
		for _, p := range regionParts {
			t.printf(" %8s", t.rate(g.Team.Share(p)))
		}
		t.printf("  %s\n", profile.Pasteable(t.Label(g.Region)))
	}
	if others > 0 {
		t.printf("... and %d with less than 0.1%% of the time (--all shows them)\n", others)
	}
	t.printf("\n")
}

// processParts are the columns of the processes' table.
var processParts = []efficiency.Part{efficiency.Synch, efficiency.Imbal, efficiency.Limpar, efficiency.Mgmt, efficiency.MPI, efficiency.NoCore,
	efficiency.SerialMPI, efficiency.SerialWait, efficiency.SerialIdle, efficiency.MPIIdle, efficiency.TeamIdle, efficiency.Unknown}

func (t *text) processes() {
	if len(t.run.Processes) < 2 {
		return
	}
	t.section("Ranks: e_mt = 1 less the shares of the rank's own time")
	t.printf("%5s %7s %10s %7s", "rank", "threads", "sec", "e_mt")
	for _, p := range processParts {
		t.printf(" %11s", p.Key())
	}
	t.printf("\n")
	const most = 32
	for i := range t.run.Processes {
		if i == most && !t.All {
			t.printf("... and %d more (--all shows them)\n", len(t.run.Processes)-most)
			break
		}
		p := &t.run.Processes[i]
		t.printf("%5d %7d %10s %7s", p.Rank, p.Threads, sec(p.Wall), emt(&p.Parts))
		for _, part := range processParts {
			t.printf(" %11s", t.rate(p.Parts.Share(part)))
		}
		t.printf("\n")
	}
	t.printf("\n")
}

func (t *text) notes() {
	t.section("Notes")
	for _, n := range Notes(t.run) {
		t.printf(" * %s\n", n)
	}
}

// Notes returns what the reader must know about the figures, as sentences.
func Notes(r *efficiency.Run) []string {
	if h := r.Hidden(); h != nil {
		return []string{"The efficiency " + h.Says()}
	}
	notes := []string{"e_mt is estimated from one run (~): it takes for granted that work does not grow with the threads."}
	if r.UsesMPI() {
		var longest int64
		for i := range r.Processes {
			longest = max(longest, r.Processes[i].StartEnd)
		}
		notes = append(notes, fmt.Sprintf("The start and end of MPI, up to %s sec of a rank, are in no figure.", sec(longest)),
			"MPI's serialisation and transfer efficiency are not told: they need a replay of the messages.")
	}
	notes = append(notes, "POP's computation scaling and global efficiency are not told: they need a second run.")
	if r.Whole()[efficiency.NoCore] > 0 {
		notes = append(notes, "Time without a core is a loss here. TALP's metrics, and POP's as other tools measure them, do not see it.")
	}
	if r.Nested() {
		notes = append(notes, "Parallel regions are nested. What other threads of an inner team lose is in the inner region's row. The whole has only the primary thread, and threads that the outer team does not have.")
	}
	if x := r.Excess(); math.Abs(x) > 0.02 {
		notes = append(notes, fmt.Sprintf("These figures are rough: the parts add up to %.0f %% of the threads' time. Some times are shorter than what must be taken out of them: the probes' cost, or time without a core.", 100*(1+x)))
	}
	if took := r.ProbeTime(); took > 0 {
		whole := r.Whole()
		notes = append(notes, fmt.Sprintf("Times are as measured: %.1f %% of the threads' time are what the probes took.", 100*analysis.Ratio(took, whole.Sum())))
	}
	if r.Estimated() {
		notes = append(notes, "Some constructs were not observed all of the time: all figures hold estimates.")
	}
	if r.Missing > 0 {
		notes = append(notes, fmt.Sprintf("The figures are those of %s; %d more could not be read.", plural(len(r.Processes), "rank"), r.Missing))
	}
	return notes
}

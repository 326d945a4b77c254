package efficiencies

import (
	"bufio"
	"fmt"
	"io"
	"strconv"

	"ompp-attach/efficiency"
	"ompp-attach/profile"
	"ompp-attach/report/words"
)

// ScalingFormat is a format of comparisons of several runs.
type ScalingFormat struct {
	Name string // as --format takes it
	File string // name of its file
	// Write writes the comparison.
	Write func(io.Writer, *efficiency.Scaling, Options) error
}

// ScalingFormats lists the formats, in the order of the help.
var ScalingFormats = []ScalingFormat{
	{"text", "scaling.txt", WriteScalingText},
	{"csv", "scaling.csv", WriteScalingCSV},
	{"json", "scaling.json", WriteScalingJSON},
	{"extrap", "scaling.jsonl", WriteExtraP},
}

// ScalingFormatNamed returns the format of that name; ok is false if there is none.
func ScalingFormatNamed(name string) (f ScalingFormat, ok bool) {
	return words.Named(ScalingFormats, func(f *ScalingFormat) string { return f.Name }, name)
}

// size names a run's processes and threads.
func size(x *efficiency.Scaled) string {
	if x.PerRank == 0 {
		return fmt.Sprintf("%d x (%d)", x.Ranks, x.All)
	}
	return fmt.Sprintf("%d x %d", x.Ranks, x.PerRank)
}

// optional prints an efficiency that may not be known.
func optional(v *float64) string {
	if v == nil {
		return "-"
	}
	return rate(*v)
}

// WriteScalingText writes tables with a line per run.
func WriteScalingText(w io.Writer, s *efficiency.Scaling, o Options) error {
	out := bufio.NewWriter(w)
	t := &text{Writer: out, Options: o}
	kind := "strong: the same problem in all runs"
	if s.Weak {
		kind = "weak: the problem grew with the threads of all ranks"
	}
	t.section("Scaling, " + kind)
	longest := len("run")
	for i := range s.Runs {
		longest = max(longest, len(profile.Pasteable(s.Runs[i].Label)))
	}
	last := "of ideal"
	t.printf("%-*s %9s %10s %8s %8s %7s %7s %7s %7s %7s %7s\n", longest, "run", "p x n", "sec", "speed-up", last, "global", "comp", "hybrid", "MPI", "OpenMP", "e_mt")
	for i := range s.Runs {
		x := &s.Runs[i]
		mark := ""
		if x.Crowded() {
			mark = " !"
		}
		if x.Missing > 0 {
			mark += " ?"
		}
		t.printf("%-*s %9s %10s %8s %8s %7s %7s %7s %7s %7s %7s%s\n", longest, profile.Pasteable(x.Label), size(x), sec(x.Runtime), fmt.Sprintf("%.2f", x.Speedup),
			percent(x.Gain), rate(x.Global), rate(x.Computation), rate(x.Parallel), rate(x.MPI), rate(x.OpenMP), optional(x.EMT), mark)
	}
	t.printf("\np x n: ranks x threads. global = comp x hybrid, hybrid = MPI x OpenMP (POP). comp: useful time of\n" +
		"the first run over that of this one. e_mt: Eq. 4, with the run of one thread per rank on as many ranks.\n\n")
	t.factors(s, longest)
	t.communication(s, longest)
	t.scalingRegions(s, longest)
	if troubles := s.Troubles(); len(troubles) > 0 {
		t.section("Notes")
		for _, n := range troubles {
			t.printf(" * %s\n", profile.Pasteable(n))
		}
	}
	return out.Flush()
}

// roughly prints an estimated efficiency that may not be known.
func roughly(v *float64) string {
	if v == nil {
		return "-"
	}
	return "~" + rate(*v)
}

func (t *text) factors(s *efficiency.Scaling, longest int) {
	if s.Runs[0].Factors == nil {
		return
	}
	t.section("Computation scaling by factors")
	t.printf("%-*s %9s %7s %13s %7s %10s %7s\n", longest, "run", "p x n", "comp", "instructions", "IPC", "frequency", "rest")
	for i := range s.Runs {
		if x := &s.Runs[i]; x.Factors != nil {
			t.printf("%-*s %9s %7s %13s %7s %10s %7s\n", longest, profile.Pasteable(x.Label), size(x), rate(x.Computation), "~"+rate(x.Factors.Instructions),
				roughly(x.Factors.IPC), roughly(x.Factors.Frequency), "~"+rate(x.Factors.Rest))
		}
	}
	t.printf("\nEstimates: counts are those of parallel regions, with the waits in them. rest: waits, serial code, and\nfactors that were not counted (-). The frequency needs ref-cycles or task-clock.\n\n")
}

func (t *text) communication(s *efficiency.Scaling, longest int) {
	any := false
	for i := range s.Runs {
		x := &s.Runs[i]
		c := x.Communication
		if c == nil {
			continue
		}
		if !any {
			any = true
			t.section("Communication: hybrid against pure MPI on as many threads")
			t.printf("%-*s %9s %10s %10s %10s  %-*s %10s %10s %10s %7s %9s\n", longest, "hybrid", "p x n", "sec", "mean rank", "most",
				longest, "pure MPI", "sec", "mean rank", "most", "e_mp", "comm gain")
		}
		t.printf("%-*s %9s %10s %10s %10s  %-*s %10s %10s %10s %7s %9s\n", longest, profile.Pasteable(x.Label), size(x), sec(int64(c.Hybrid)), sec(int64(c.MeanHybrid)), sec(c.MostHybrid),
			longest, profile.Pasteable(c.With), sec(int64(c.Pure)), sec(int64(c.MeanPure)), sec(c.MostPure), rate(c.Efficiency()), rate(c.Gain()))
	}
	if any {
		t.printf("\nTime in calls that communicate or wait for it, over all ranks and threads. e_mp (Eq. 1) = hybrid / pure:\n" +
			"above 1 the hybrid run communicates for longer. comm gain = pure / hybrid: above 1 hybrid is better.\n" +
			"Waits for ranks that come late are in both.\n\n")
	}
}

func (t *text) scalingRegions(s *efficiency.Scaling, longest int) {
	regions := s.Regions(func(g *efficiency.Region) string { return t.Label(g.Region) })
	if len(regions) == 0 {
		return
	}
	const most = 10
	t.section("Parallel regions: e_mt by run")
	for i, g := range regions {
		if i == most && !t.All {
			t.printf("... and %d more (--all shows them)\n\n", len(regions)-most)
			break
		}
		t.printf("%s\n", profile.Pasteable(g.Label))
		for i, e := range g.EMT {
			if e.Known {
				t.printf("  %-*s %9s %8s\n", longest, profile.Pasteable(s.Runs[i].Label), size(&s.Runs[i]), mark(e)+rate(e.Value))
			}
		}
		t.printf("\n")
	}
	t.printf("~: estimated from the run itself; the others by Eq. 4.\n\n")
}

func mark(e efficiency.RegionEMT) string {
	if e.Estimated {
		return estimated
	}
	return ""
}

// WriteScalingCSV writes one line per run.
func WriteScalingCSV(w io.Writer, s *efficiency.Scaling, _ Options) error {
	head := []string{"run", "program", "ranks", "threads_per_rank", "threads", "runtime_ns", "weak", "speedup", "of_ideal", "global", "computation", "hybrid", "mpi", "openmp",
		"e_mt", "instructions_scaling", "ipc_scaling", "frequency_scaling", "rest_scaling", "no_core", "crowded", "useful_ns",
		"comm_hybrid_ns", "comm_pure_ns", "comm_pure_run", "e_mp", "comm_gain", "missing_ranks"}
	cell := func(v *float64) string {
		if v == nil {
			return ""
		}
		return float(*v)
	}
	return writeCSV(w, head, func(yield func(...string)) {
		for i := range s.Runs {
			x := &s.Runs[i]
			whole := x.Whole()
			cells := []string{x.Label, x.Program, strconv.Itoa(x.Ranks), strconv.Itoa(x.PerRank), strconv.Itoa(x.All), integer(x.Runtime), strconv.FormatBool(s.Weak),
				float(x.Speedup), float(x.Gain), float(x.Global), float(x.Computation), float(x.Parallel), float(x.MPI), float(x.OpenMP), cell(x.EMT)}
			if f := x.Factors; f != nil {
				cells = append(cells, float(f.Instructions), cell(f.IPC), cell(f.Frequency), float(f.Rest))
			} else {
				cells = append(cells, "", "", "", "")
			}
			cells = append(cells, float(x.NoCore), strconv.FormatBool(x.Crowded()), integer(whole.Useful()))
			if c := x.Communication; c != nil {
				cells = append(cells, integer(int64(c.Hybrid)), integer(int64(c.Pure)), c.With, float(c.Efficiency()), float(c.Gain()))
			} else {
				cells = append(cells, "", "", "", "", "")
			}
			cells = append(cells, strconv.Itoa(x.Missing))
			yield(cells...)
		}
	})
}

// The types below are docs/efficiency.md's.
type (
	scalingJSON struct {
		Version   int             `json:"version"`
		Weak      bool            `json:"weak"`
		Estimated []string        `json:"estimated"`
		Runs      []scaledJSON    `json:"runs"`
		Regions   []scaledRegions `json:"regions"`
		Notes     []string        `json:"notes"`
	}
	scaledJSON struct {
		Run         string             `json:"run"`
		Program     string             `json:"program"`
		Ranks       int                `json:"ranks"`
		PerRank     int                `json:"threads_per_rank"` // 0: ranks differ
		Threads     int                `json:"threads"`
		Runtime     int64              `json:"runtime_ns"`
		Useful      int64              `json:"useful_ns"`
		Speedup     float64            `json:"speedup"`
		Gain        float64            `json:"of_ideal"`
		Global      float64            `json:"global"`
		Computation float64            `json:"computation"`
		Factors     map[string]float64 `json:"factors,omitempty"`
		Parallel    float64            `json:"hybrid"`
		MPI         float64            `json:"mpi"`
		OpenMP      float64            `json:"openmp"`
		EMT         *float64           `json:"e_mt"` // null: not known
		NoCore      float64            `json:"no_core"`
		Crowded     bool               `json:"crowded"`
		// Ranks that the others stand for.
		Missing       int                `json:"missing_ranks,omitempty"`
		Communication *communicationJSON `json:"communication,omitempty"`
	}
	communicationJSON struct {
		With   string  `json:"pure_run"`
		Hybrid float64 `json:"hybrid_ns"`
		Pure   float64 `json:"pure_ns"`
		Most   int64   `json:"hybrid_most_ns"`
		MostP  int64   `json:"pure_most_ns"`
		EMP    float64 `json:"e_mp"`
		Gain   float64 `json:"comm_gain"`
	}
	scaledRegions struct {
		Region string     `json:"region"`
		EMT    []*float64 `json:"e_mt"` // by run; null: not executed
		Marks  []bool     `json:"estimated"`
	}
)

// WriteScalingJSON writes all of the comparison.
func WriteScalingJSON(w io.Writer, s *efficiency.Scaling, o Options) error {
	out := scalingJSON{Version: jsonVersion, Weak: s.Weak, Estimated: []string{"factors"}, Regions: []scaledRegions{}, Notes: append([]string{}, s.Troubles()...)}
	for i := range s.Runs {
		x := &s.Runs[i]
		whole := x.Whole()
		line := scaledJSON{Run: x.Label, Program: x.Program, Ranks: x.Ranks, PerRank: x.PerRank, Threads: x.All, Runtime: x.Runtime, Useful: whole.Useful(),
			Speedup: x.Speedup, Gain: x.Gain, Global: x.Global, Computation: x.Computation, Parallel: x.Parallel, MPI: x.MPI, OpenMP: x.OpenMP,
			EMT: x.EMT, NoCore: x.NoCore, Crowded: x.Crowded(), Missing: x.Missing}
		if f := x.Factors; f != nil {
			line.Factors = map[string]float64{"instructions": f.Instructions, "rest": f.Rest}
			if f.IPC != nil {
				line.Factors["ipc"] = *f.IPC
			}
			if f.Frequency != nil {
				line.Factors["frequency"] = *f.Frequency
			}
		}
		if c := x.Communication; c != nil {
			line.Communication = &communicationJSON{c.With, c.Hybrid, c.Pure, c.MostHybrid, c.MostPure, c.Efficiency(), c.Gain()}
		}
		out.Runs = append(out.Runs, line)
	}
	for _, g := range s.Regions(func(g *efficiency.Region) string { return o.Label(g.Region) }) {
		line := scaledRegions{Region: g.Label}
		for _, e := range g.EMT {
			var v *float64
			if e.Known {
				v = &e.Value
			}
			line.EMT, line.Marks = append(line.EMT, v), append(line.Marks, e.Estimated)
		}
		out.Regions = append(out.Regions, line)
	}
	return encode(w, out)
}

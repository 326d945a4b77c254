package jobs

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"

	"ompp-attach/analysis"
	"ompp-attach/job"
	"ompp-attach/job/spread"
	"ompp-attach/report"
)

func writeCSV(w io.Writer, head []string, rows func(yield func([]string))) error {
	out := csv.NewWriter(w)
	out.UseCRLF = true // RFC 4180, 2.1
	if err := out.Write(head); err != nil {
		return fmt.Errorf("write csv: %w", err)
	}
	rows(func(cells []string) { out.Write(cells) }) // Error returns its error
	out.Flush()
	return out.Error()
}

func integer(v int64) string { return strconv.FormatInt(v, 10) }

func float(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// writeRanksCSV writes one line per rank.
func writeRanksCSV(w io.Writer, j *job.Job, _ report.Options) error {
	head := []string{"rank", "host", "program", "pid", "start", "threads", "wall_ns", "parallel_ns", "user_ns", "sys_ns", "thread_ns",
		"mpi_ns", "synch_ns", "imbal_ns", "limpar_ns", "mgmt_ns", "mpi_overhead_ns", "overhead_ns"}
	for _, f := range callFigures {
		head = append(head, figureColumn(f))
	}
	head = append(head, "lost_events", "partial", "probe_ns", "adjusted", "no_core_ns", "no_core_overhead_ns", "mpi_start_end_ns")
	return writeCSV(w, head, func(yield func([]string)) {
		for i := range j.Ranks {
			r := &j.Ranks[i]
			o := &r.Overheads
			cells := []string{integer(int64(r.Rank)), r.Host, r.Program, integer(int64(r.PID)), stamp(r.Start), integer(int64(r.Threads))}
			for _, v := range []int64{r.Wall, r.Parallel, r.User, r.System, r.ThreadTime, r.MPITime,
				o.Synch, o.Imbal, o.Limpar, o.Mgmt, o.MPI, o.Sum()} {
				cells = append(cells, integer(v))
			}
			for _, f := range callFigures {
				cells = append(cells, integer(r.Calls[f]))
			}
			yield(append(cells, strconv.FormatUint(r.LostHits, 10), strconv.FormatUint(r.Partial, 10), probeCell(r), strconv.FormatBool(r.Adjusted), integer(r.NoCore), integer(o.NoCore), integer(r.StartEnd)))
		}
	})
}

// probeCell returns the time that probes took of a rank's threads; empty if it is not known.
func probeCell(r *job.Rank) string {
	if !r.CostKnown {
		return ""
	}
	return integer(r.ProbeCost)
}

// callFigures are the figures on MPI in the table of ranks.
var callFigures = []job.Figure{job.Calls, job.Sends, job.Recvs, job.Colls, job.OutMinimal, job.InMinimal,
	job.OutNaive, job.InNaive, job.FileRead, job.FileWritten, job.Sized, job.Unknown}

// figureColumn returns the title of a figure's column: its name and, for times, the unit.
func figureColumn(f job.Figure) string {
	if f.Unit() == "ns" {
		return f.String() + "_ns"
	}
	return f.String()
}

var regionHead = []string{"region", "construct", "name", "file", "begin", "end", "function", "object", "offset", "reached", "ranks"}

func regionCells(j *job.Job, i int) []string {
	g := j.Regions[i]
	l := &g.Location
	return []string{integer(int64(i + 1)), g.Construct.String(), g.Name, l.File, integer(int64(l.Begin)), integer(int64(l.End)), l.Function,
		l.Object, strconv.FormatUint(l.Offset, 10), integer(int64(g.Reached)), integer(int64(len(j.Ranks)))}
}

// writeRegionsCSV writes one line per region and figure, and one per region and counter. It leaves
// out figures that are 0 on all ranks, except execT.
func writeRegionsCSV(w io.Writer, j *job.Job, _ report.Options) error {
	head := append(append([]string{}, regionHead...), "figure", "unit", "sum", "min", "min_rank", "mean", "max", "max_rank", "stddev")
	return writeCSV(w, head, func(yield func([]string)) {
		for i, g := range j.Regions {
			line := func(figure, unit string, s spread.Stats) {
				yield(append(regionCells(j, i), figure, unit, s.Sum.String(), integer(s.Min), integer(int64(s.MinRank)),
					float(s.Mean), integer(s.Max), integer(int64(s.MaxRank)), float(s.StdDev)))
			}
			for f := range job.NumFigures {
				if s := g.Stats(f); f == job.ExecT || s.Min != 0 || s.Max != 0 {
					line(f.String(), f.Unit(), s)
				}
			}
			for _, c := range g.Counters() {
				line(c.Name, "counter", c.Stats)
			}
		}
	})
}

// writeCallsCSV writes one line per MPI call site.
func writeCallsCSV(w io.Writer, j *job.Job, o report.Options) error {
	head := append(append([]string{}, regionHead...), "calls", "time_ns", "time_min_ns", "time_min_rank", "time_max_ns", "time_max_rank",
		"accounting", "out_bytes", "in_bytes", "call_min_bytes", "call_mean_bytes", "call_max_bytes", "start_end")
	out, in, both := job.Volumes(o.Volumes)
	return writeCSV(w, head, func(yield func([]string)) {
		for _, i := range callSites(j) {
			g := j.Regions[i]
			t, c, n, b := g.Stats(job.ExecT), g.Stats(job.Calls), g.Stats(job.Sized), g.Stats(both)
			sent, received := g.Stats(out), g.Stats(in)
			least, most, _ := g.CallBytes(o.Volumes)
			yield(append(regionCells(j, i), c.Sum.String(), t.Sum.String(), integer(t.Min), integer(int64(t.MinRank)),
				integer(t.Max), integer(int64(t.MaxRank)), o.Volumes.String(), sent.Sum.String(), received.Sum.String(),
				strconv.FormatUint(least, 10), float(ratio(b.Total(), n.Total())), strconv.FormatUint(most, 10),
				strconv.FormatBool(analysis.StartsEnds(&g.Region))))
		}
	})
}

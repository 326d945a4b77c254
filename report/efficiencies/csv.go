package efficiencies

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"

	"ompp-attach/efficiency"
)

func writeCSV(w io.Writer, head []string, rows func(yield func(...string))) error {
	out := csv.NewWriter(w)
	out.UseCRLF = true // RFC 4180, 2.1
	if err := out.Write(head); err != nil {
		return fmt.Errorf("write csv: %w", err)
	}
	rows(func(cells ...string) { out.Write(cells) }) // Error tells
	out.Flush()
	return out.Error()
}

func integer(v int64) string { return strconv.FormatInt(v, 10) }

func float(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// WriteTimesCSV writes one line for the whole run, for each rank and for each parallel region. A
// line has the time of the threads, e_mt, and the parts of the time.
func WriteTimesCSV(w io.Writer, r *efficiency.Run, o Options) error {
	head := []string{"of", "number", "place", "threads", "wall_ns", "thread_ns", "e_mt", "estimated"}
	for part := range efficiency.NumParts {
		head = append(head, part.Key()+"_ns")
	}
	return writeCSV(w, head, func(yield func(...string)) {
		line := func(of, number, place string, threads int, wall int64, p *efficiency.Parts) {
			cells := []string{of, number, place, strconv.Itoa(threads), integer(wall), integer(p.Sum()), float(p.Efficiency()), estimates(r)}
			for _, ns := range p {
				cells = append(cells, integer(ns))
			}
			yield(cells...)
		}
		whole := r.Whole()
		line("run", "", r.Program, r.Threads(), r.Runtime, &whole)
		for i := range r.Processes {
			p := &r.Processes[i]
			line("rank", strconv.Itoa(p.Rank), p.Host, p.Threads, p.Wall, &p.Parts)
		}
		for i := range r.Regions {
			if g := &r.Regions[i]; g.Construct.IsParallel() && g.Team.Sum() > 0 {
				line("region", strconv.Itoa(g.Number), o.Label(g.Region), g.Threads, g.Wall, &g.Team)
			}
		}
	})
}

// WriteMetricsCSV writes one line per metric of POP and TALP.
func WriteMetricsCSV(w io.Writer, r *efficiency.Run, _ Options) error {
	marked := ""
	if r.Estimated() {
		marked = estimates(r)
	}
	return writeCSV(w, []string{"model", "metric", "depth", "value", "region", "estimated"}, func(yield func(...string)) {
		tree := func(model string, m efficiency.Metric) {
			m.Walk(func(m *efficiency.Metric, depth int) {
				number := ""
				if m.Region > 0 {
					number = strconv.Itoa(m.Region)
				}
				yield(model, m.Key, strconv.Itoa(depth), float(m.Value), number, marked)
			})
		}
		tree("pop_multiplicative", r.Multiplicative())
		tree("pop_additive", r.Additive())
		m := talpRegion(r.TALP())
		for _, x := range []struct {
			key   string
			value float64
		}{
			{"parallelEfficiency", m.Parallel}, {"mpiParallelEfficiency", m.MPIParallel}, {"mpiCommunicationEfficiency", m.MPICommunication},
			{"mpiLoadBalance", m.MPIBalance}, {"mpiLoadBalanceIn", m.MPIBalanceIn}, {"mpiLoadBalanceOut", m.MPIBalanceOut},
			{"ompParallelEfficiency", m.OMPParallel}, {"ompLoadBalance", m.OMPBalance}, {"ompSchedulingEfficiency", m.OMPScheduling},
			{"ompSerializationEfficiency", m.OMPSerialization},
		} {
			yield("talp", x.key, "", float(x.value), "", marked)
		}
	})
}

package report

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	pprof "github.com/google/pprof/profile"

	"ompp-attach/analysis"
	"ompp-attach/event"
	"ompp-attach/mpi"
	"ompp-attach/profile"
	"ompp-attach/report/limits"
	"ompp-attach/report/stacks"
	"ompp-attach/report/words"
)

// WritePprof writes a gzipped pprof profile. The path of regions is the call stack, with the
// program as its root.
//
// There is one sample for each node and thread, with the labels thread, construct and process. The
// label extrapolated marks samples with figures that are partly extrapolated. The label at_least
// marks samples of nodes that were executed more often than was observed. The time of a sample is
// exclusive: Exec.T without the time of regions that the thread entered from there (Child), and
// never below 0. For each initial thread, the program itself has a sample with the time outside of
// all regions. So
//
//   - the flat time of a region is the exclusive value of the callgraph, summed over
//     threads and paths;
//   - the cumulated time of a region is ompP's inclusive execT, summed over threads,
//     plus the time of the workers of teams that were started inside, who spend their
//     own time while the thread that started them spends its own;
//   - the total is the duration times the number of initial threads, plus the execT of
//     the workers.
//
// Executions are execC. Then come the overhead classes of package analysis, each at the node where
// the time was spent. mpi_time is the class MPI, within parallel regions and outside. The bytes are
// those that the same calls received and sent. A type for each counter comes last, with exclusive
// values.
func WritePprof(w io.Writer, p *profile.Profile, o Options) error {
	return buildPprof(o.view(p), o).Write(w)
}

func buildPprof(p *profile.Profile, o Options) *pprof.Profile {
	types, uses := stacks.SampleTypes, usesMPI(p)
	switch m := totalMPI(p); {
	case uses && m.Unknown > 0 && m.In == m.Out && m.In == [mpi.NumAccountings]uint64{}:
		// No volume is known, and zeros would be wrong.
		types = slices.Concat(stacks.SampleTypes, stacks.MPISampleTypes[:1])
	case uses:
		types = slices.Concat(stacks.SampleTypes, stacks.MPISampleTypes)
	}
	noCore := showsNoCore(p, o.Rules)
	if noCore {
		types = slices.Concat(types, stacks.NoCoreSampleTypes)
	}
	counters := countedOf(p)
	types = slices.Concat(types, counterTypes(p, counters))
	b := &pprofBuilder{p: p, counters: counters, options: o, mpi: uses, noCore: noCore, out: &pprof.Profile{
		SampleType:        types,
		DefaultSampleType: "time",
		DurationNanos:     p.Meta.Duration,
		PeriodType:        &pprof.ValueType{Type: "time", Unit: "nanoseconds"},
		Period:            1, // of a measurement without sampling
		Comments:          pprofComments(p, o.Raw),
	}}
	if !p.Meta.Start.IsZero() && p.Meta.Start.After(time.Unix(0, 0)) {
		b.out.TimeNanos = p.Meta.Start.UnixNano()
	}
	mapping := &pprof.Mapping{ID: 1, File: p.Meta.Path,
		HasFunctions: true, HasFilenames: true, HasLineNumbers: true}
	for i := range p.Objects {
		if o := &p.Objects[i]; o.Path == p.Meta.Path {
			mapping.BuildID = o.BuildID
		}
	}
	b.out.Mapping = []*pprof.Mapping{mapping}
	b.frames = stacks.New(b.out, mapping)
	b.program = b.frames.Program(words.Program(p), p.Meta.Path)
	for i := range p.Regions {
		b.frames.AddRegion(&p.Regions[i])
	}
	b.samples()
	return b.out
}

type pprofBuilder struct {
	p       *profile.Profile
	options Options
	mpi     bool
	noCore  bool
	// counters are the indices in Meta.Counters of the counters with sample types, which come last.
	counters []int
	out      *pprof.Profile
	frames   *stacks.Frames
	program  *pprof.Location

	estimate *profile.Estimate // of the next sample
}

func (b *pprofBuilder) samples() {
	for _, s := range analysis.SerialTimes(b.p) {
		b.sample([]*pprof.Location{b.program}, "", profile.Thread{Root: s.Root}, []int64{s.Time})
	}
	for i := range b.p.Nodes {
		n := &b.p.Nodes[i]
		construct := event.NoConstruct // the program, whose calls may be shown as its own
		var stack []*pprof.Location    // leaf first, as pprof has it
		for at := i; at > 0; at = b.p.Nodes[at].Parent {
			stack = append(stack, b.frames.Regions[b.p.Nodes[at].Region])
		}
		stack = append(stack, b.program)
		label := ""
		if i > 0 {
			construct = b.p.Regions[n.Region].Construct
			label = construct.String()
		}
		classes := b.options.Rules.Classify(b.p, i)
		for j := range n.Stats {
			s, c := &n.Stats[j], classes[j]
			calls := analysis.OwnCalls(construct, s)
			values := []int64{
				max(0, s.Exec.T-s.Child), int64(s.Exec.C), c.Synch, c.Imbal, c.Limpar, c.Mgmt,
				c.MPI, int64(calls.In[b.options.Volumes]), int64(calls.Out[b.options.Volumes])}
			if b.noCore {
				values = append(values[:len(b.out.SampleType)-len(b.counters)-1], c.NoCore)
			}
			values = append(values[:len(b.out.SampleType)-len(b.counters)], b.counts(s)...)
			b.estimate = s.Estimate
			b.sample(stack, label, b.p.Threads[s.Thread], values)
		}
	}
}

// sample adds a sample, unless all of its values are 0. Values that are not given are 0.
func (b *pprofBuilder) sample(stack []*pprof.Location, construct string, t profile.Thread, given []int64) {
	values := make([]int64, len(b.out.SampleType))
	copy(values, given)
	empty := true
	for _, v := range values {
		empty = empty && v == 0
	}
	if empty {
		return
	}
	labels := b.labels(t)
	if construct != "" {
		labels["construct"] = []string{construct}
	}
	switch e := b.estimate; {
	case e == nil:
	case e.AtLeast:
		labels["at_least"] = []string{"observed only"}
	case isEstimated(e):
		labels["extrapolated"] = []string{"in part"}
	}
	b.out.Sample = append(b.out.Sample, &pprof.Sample{Location: stack, Value: values, Label: labels})
}

// labels are the labels of a sample for its thread and process.
func (b *pprofBuilder) labels(t profile.Thread) map[string][]string {
	labels := map[string][]string{
		"thread":  {words.Thread(t)},
		"process": {strconv.Itoa(b.p.Meta.PID)},
	}
	if b.mpi {
		labels["host"] = []string{words.Clean(b.p.Meta.Host)}
		if job := b.p.Meta.MPI; job != nil && job.Rank >= 0 {
			labels["rank"] = []string{strconv.Itoa(job.Rank)}
		}
	}
	return labels
}

// pprofComments are sentences for the top of each table of pprof: the tool, the machine, and what
// is missing. Details of single regions are left to the text report.
func pprofComments(p *profile.Profile, raw bool) []string {
	m := &p.Meta
	out := []string{
		fmt.Sprintf("ompp-attach %s, kernel %s %s", orUnknown(m.Tool), orUnknown(m.Kernel), m.Arch),
		fmt.Sprintf("probe hits %d, lost events %d, partial region instances %d", m.Hits, m.LostHits, m.Partial),
		"probe cost " + limits.CostText(p, words.ClockOf(p)), "times " + limits.TimesText(p, raw),
	}
	if much := limits.MuchProbed(p, 4); much != "" {
		out = append(out, much)
	}
	if h := analysis.HiddenByProbes(p); h != nil {
		out = append(out, "The program's own times "+h.Says())
	}
	for _, r := range m.Runtimes {
		out = append(out, fmt.Sprintf("runtime %s %s (%s)", r.Name, orUnknown(r.Version), r.Path))
	}
	for _, part := range [][]string{lossNotes(p), extrapolatedComments(p), limits.UnseenNotes(p), missingNotes(p), warningNotes(p)} {
		out = append(out, part...)
	}
	if m.HasTasks {
		out = append(out, "The program may use tasks, which are not measured.")
	}
	out = append(out, counterNotes(p)...)
	if note := unknownVolumes(p); note != "" {
		out = append(out, note)
	}
	return out
}

package report

import (
	"fmt"
	"io"
	"iter"
	"strconv"
	"time"

	pprof "github.com/google/pprof/profile"

	"ompp-attach/analysis"
	"ompp-attach/profile"
	"ompp-attach/report/stacks"
	"ompp-attach/report/words"
)

// WriteSamples writes the sampled call stacks as a gzipped pprof profile. A stack has the user's
// functions, and before the code that a region ran the region itself, named as in the exact profile
// (WritePprof). The labels are thread, process and phase; in an MPI job also rank and host; and
// mode for samples in the kernel.
func WriteSamples(w io.Writer, p *profile.Profile, o Options) error {
	return buildSamples(o.view(p), o.Raw).Write(w)
}

func buildSamples(p *profile.Profile, raw bool) *pprof.Profile {
	m := p.Meta.Sampling
	if m == nil {
		m = &profile.Sampling{}
	}
	unit := pprof.ValueType{Type: m.Event, Unit: "count"}
	if m.Unit == "ns" {
		unit = pprof.ValueType{Type: "time", Unit: "nanoseconds"}
	}
	b := &pprofBuilder{p: p, mpi: usesMPI(p), out: &pprof.Profile{
		SampleType:        []*pprof.ValueType{{Type: "samples", Unit: "count"}, &unit},
		DefaultSampleType: unit.Type,
		DurationNanos:     p.Meta.Duration,
		PeriodType:        &unit,
		Period:            samplePeriod(p),
		Comments:          append(pprofComments(p, raw), samplingText(p)),
	}}
	if !p.Meta.Start.IsZero() && p.Meta.Start.After(time.Unix(0, 0)) {
		b.out.TimeNanos = p.Meta.Start.UnixNano()
	}
	code := newCode(p, b.out)
	frames := stacks.New(b.out, code.mapping(regionsFile))
	for i := range p.Regions {
		frames.AddRegion(&p.Regions[i])
	}
	ways := analysis.Stacks(p)
	for _, way := range ways {
		for steps := range instructions(p, way) {
			if steps[0].Region < 0 {
				code.meet(steps)
			}
		}
	}
	for i, way := range ways {
		s := &p.Samples[i]
		var stack []*pprof.Location // leaf first
		for steps := range instructions(p, way) {
			if r := steps[0].Region; r >= 0 {
				stack = append(stack, frames.Regions[r])
			} else {
				stack = append(stack, code.location(steps))
			}
		}
		labels := b.labels(profile.Thread{})
		delete(labels, "thread")
		if s.Thread >= 0 {
			labels = b.labels(p.Threads[s.Thread])
		}
		if s.Phase != "" {
			labels["phase"] = []string{s.Phase}
		}
		if s.Kernel {
			labels["mode"] = []string{"kernel"}
		}
		b.out.Sample = append(b.out.Sample, &pprof.Sample{Location: stack, Value: []int64{int64(s.Count), int64(s.Weight)}, Label: labels})
	}
	return b.out.Compact()
}

// instructions yields the steps of a call path, the innermost first: regions one by one, and frames
// together with those that they were inlined into, which come first.
func instructions(p *profile.Profile, way []analysis.Step) iter.Seq[[]analysis.Step] {
	return func(yield func([]analysis.Step) bool) {
		for end := len(way); end > 0; {
			from := end - 1
			for way[from].Region < 0 && p.Frames[way[from].Frame].Inlined && from > 0 && way[from-1].Region < 0 {
				from--
			}
			if !yield(way[from:end]) {
				return
			}
			end = from
		}
	}
}

// samplePeriod is how much of the event a sample stands for on average, in the event's unit.
func samplePeriod(p *profile.Profile) int64 {
	if m := p.Meta.Sampling; m != nil && m.Period != 0 {
		return int64(m.Period)
	}
	var count, weight uint64
	for i := range p.Samples {
		count += p.Samples[i].Count
		weight += p.Samples[i].Weight
	}
	return int64(weight / max(count, 1))
}

// manyCut: if at least one stack in so many was cut off, the report says why.
const manyCut = 50

// samplingText says how samples were taken, and what is missing.
func samplingText(p *profile.Profile) string {
	m := p.Meta.Sampling
	if m == nil {
		return "not sampled"
	}
	how := strconv.FormatUint(m.Frequency, 10) + " times per second of each processor"
	if m.Period != 0 {
		how = "once per " + strconv.FormatUint(m.Period, 10)
		if m.Unit != "" {
			how += " " + m.Unit
		}
	}
	var cut uint64
	for i := range p.Samples {
		if p.Samples[i].Cut {
			cut += p.Samples[i].Count
		}
	}
	text := fmt.Sprintf("%d samples by %s, %s; lost %d, throttled %s", m.Taken, m.Event, how, m.Lost, words.Plural(int(m.Throttled), "time"))
	if cut > 0 {
		text += fmt.Sprintf("; of %d the call stack could not be followed to its end", cut)
		if cut*manyCut > m.Taken {
			text += " (stacks are copied up to 32 KiB, and code without unwind information is followed by frame pointers only)"
		}
	}
	return words.Clean(text)
}

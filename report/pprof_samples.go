package report

import (
	"fmt"
	"io"
	"path"
	"strconv"
	"time"

	"github.com/google/pprof/profile"

	"ompp-attach/analysis"
	"ompp-attach/attribution"
)

// WriteSamples writes the sampled call stacks as a gzipped pprof profile: the
// user's functions, and before the code that a region ran, the region, named as
// in the exact profile (WritePprof). Labels are thread, process, phase and, in
// an MPI job, rank and host, and mode for what was in the kernel.
func WriteSamples(w io.Writer, p *attribution.Profile, o Options) error {
	return buildSamples(o.view(p), o.Raw).Write(w)
}

func buildSamples(p *attribution.Profile, raw bool) *profile.Profile {
	m := p.Meta.Sampling
	if m == nil {
		m = &attribution.Sampling{}
	}
	unit := profile.ValueType{Type: m.Event, Unit: "count"}
	if m.Unit == "ns" {
		unit = profile.ValueType{Type: "time", Unit: "nanoseconds"}
	}
	b := &pprofBuilder{p: p, mpi: usesMPI(p), out: &profile.Profile{
		SampleType:        []*profile.ValueType{{Type: "samples", Unit: "count"}, &unit},
		DefaultSampleType: unit.Type,
		DurationNanos:     p.Meta.Duration,
		PeriodType:        &unit,
		Period:            samplePeriod(p),
		Comments:          append(pprofComments(p, raw), samplingText(p)),
	}}
	if !p.Meta.Start.IsZero() && p.Meta.Start.After(time.Unix(0, 0)) {
		b.out.TimeNanos = p.Meta.Start.UnixNano()
	}
	b.mapping = &profile.Mapping{ID: 1, File: p.Meta.Path,
		HasFunctions: true, HasFilenames: true, HasLineNumbers: true, HasInlineFrames: true}
	b.out.Mapping = []*profile.Mapping{b.mapping}
	for i := range p.Regions {
		b.regions = append(b.regions, b.regionLocation(i, &p.Regions[i]))
	}
	frames := b.frames()
	for i, way := range analysis.Stacks(p) {
		s := &p.Samples[i]
		var stack []*profile.Location // leaf first
		for j := len(way) - 1; j >= 0; j-- {
			if r := way[j].Region; r >= 0 {
				stack = append(stack, b.regions[r])
			} else {
				stack = append(stack, frames[way[j].Frame])
			}
		}
		labels := b.labels(attribution.Thread{})
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
		b.out.Sample = append(b.out.Sample, &profile.Sample{Location: stack, Value: []int64{int64(s.Count), int64(s.Weight)}, Label: labels})
	}
	return b.out.Compact()
}

// frames makes locations of the sampled frames. Functions of one name in one
// file are one.
func (b *pprofBuilder) frames() (out []*profile.Location) {
	type id struct{ name, file string }
	known := map[id]*profile.Function{}
	for i := range b.p.Frames {
		f := &b.p.Frames[i]
		k := id{clean(frameFunction(f)), f.File}
		fn := known[k]
		if fn == nil {
			fn = &profile.Function{ID: uint64(len(b.out.Function) + 1), Name: k.name, SystemName: k.name, Filename: f.File}
			known[k] = fn
			b.out.Function = append(b.out.Function, fn)
		}
		l := &profile.Location{ID: uint64(len(b.out.Location) + 1), Mapping: b.mapping, Line: []profile.Line{{Function: fn, Line: int64(f.Line)}}}
		b.out.Location = append(b.out.Location, l)
		out = append(out, l)
	}
	return out
}

// frameFunction names a frame: without symbols, its library.
func frameFunction(f *attribution.Frame) string {
	switch {
	case f.Function != "":
		return f.Function
	case f.Object != "":
		return "[" + path.Base(f.Object) + "]"
	}
	return "[unknown]"
}

// samplePeriod is how much of the event a sample stands for, on average.
func samplePeriod(p *attribution.Profile) int64 {
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

// manyCut: from one stack in so many on, why some end early is told.
const manyCut = 50

// samplingText says how was sampled, and what is missing.
func samplingText(p *attribution.Profile) string {
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
	text := fmt.Sprintf("%d samples by %s, %s; lost %d, throttled %s", m.Taken, m.Event, how, m.Lost, plural(int(m.Throttled), "time"))
	if cut > 0 {
		text += fmt.Sprintf("; of %d the call stack could not be followed to its end", cut)
		if cut*manyCut > m.Taken {
			text += " (stacks are copied up to 32 KiB, and code without unwind information is followed by frame pointers only)"
		}
	}
	return clean(text)
}

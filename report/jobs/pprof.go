package jobs

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	pprof "github.com/google/pprof/profile"

	"ompp-attach/job"
	"ompp-attach/report"
	"ompp-attach/report/stacks"
	"ompp-attach/report/words"
)

// WritePprof writes one gzipped pprof profile over all ranks. Stacks and values are those of
// WritePprof, summed over a rank's threads. The labels are rank and host. If there are too many
// samples, they are summed by host; if these are still too many, over the whole job. A comment in
// the profile says so.
func WritePprof(w io.Writer, j *job.Job, o report.Options) error {
	if j.Paths == nil {
		return errors.New("write pprof: the job was read without its paths")
	}
	if err := buildPprof(j, o).Write(w); err != nil {
		return fmt.Errorf("write pprof: %w", err)
	}
	return nil
}

func buildPprof(j *job.Job, o report.Options) *pprof.Profile {
	wall := j.RankStats(func(r *job.Rank) int64 { return r.Wall })
	first := slices.MinFunc(j.Ranks, func(a, b job.Rank) int { return a.Start.Compare(b.Start) })
	types, noCore := slices.Concat(stacks.SampleTypes, stacks.MPISampleTypes), lacksCores(j)
	if noCore {
		types = slices.Concat(types, stacks.NoCoreSampleTypes)
	}
	p := &pprof.Profile{
		SampleType:        types,
		DefaultSampleType: "time",
		DurationNanos:     wall.Max,
		PeriodType:        &pprof.ValueType{Type: "time", Unit: "nanoseconds"},
		Period:            1, // measured, not sampled
		Comments:          comments(j),
	}
	if first.Start.After(time.Unix(0, 0)) {
		p.TimeNanos = first.Start.UnixNano()
	}
	program := values(j, func(r *job.Rank) string { return r.Program })
	mapping := &pprof.Mapping{ID: 1, File: program, HasFunctions: true, HasFilenames: true, HasLineNumbers: true}
	p.Mapping = []*pprof.Mapping{mapping}
	frames := stacks.New(p, mapping)
	root := frames.Program(words.Clean(program), "")
	for _, g := range j.Regions {
		frames.AddRegion(&g.Region)
	}
	paths := make([][]*pprof.Location, len(j.Paths.Nodes)) // leaf first
	for i, n := range j.Paths.Nodes {
		if i == 0 {
			paths[i] = []*pprof.Location{root}
			continue
		}
		paths[i] = append([]*pprof.Location{frames.Regions[n.Region]}, paths[n.Parent]...)
	}
	for i := range j.Paths.Samples {
		s := &j.Paths.Samples[i]
		v := &s.Values
		by := int(o.Volumes)
		labels := map[string][]string{}
		if s.Host != "" {
			labels["host"] = []string{s.Host}
		}
		if s.Rank >= 0 {
			labels["rank"] = []string{strconv.Itoa(s.Rank)} // a numeric label cannot be 0
		}
		values := []int64{v[job.SelfT], v[job.SelfC], v[job.SelfSynch], v[job.SelfImbal],
			v[job.SelfLimpar], v[job.SelfMgmt], v[job.SelfMPI], v[job.SelfIn+by], v[job.SelfOut+by]}
		if noCore {
			values = append(values, v[job.SelfNoCore])
		}
		p.Sample = append(p.Sample, &pprof.Sample{Location: paths[s.Node], Value: values, Label: labels})
	}
	return p
}

func comments(j *job.Job) []string {
	out := []string{fmt.Sprintf("ompp-attach: %s of an MPI job, values summed over each rank's threads", words.Plural(len(j.Ranks), "rank"))}
	switch j.Paths.Level {
	case job.ByHost:
		out = append(out, "Ranks of one host are added up: there were too many samples.")
	case job.Whole:
		out = append(out, "All ranks are added up: there were too many samples.")
	}
	return append(out, j.Troubles()...)
}

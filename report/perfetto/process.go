package perfetto

import (
	"cmp"
	"fmt"
	"slices"

	"ompp-attach/event"
	"ompp-attach/profile"
	"ompp-attach/report/words"
	"ompp-attach/timeline"
)

// process is a process of the trace.
type process struct {
	*trace
	file    *timeline.File
	number  uint64 // among the trace's processes, from 1
	pid     uint64
	track   uint64
	labels  []label // of the dictionary's regions
	working *working
	rates   *rates // nil: no counters were recorded
}

// label is how a region is shown.
type label struct{ name, category string }

// process writes the spans of a process.
func (t *trace) process(f *timeline.File) error {
	t.processes++
	p := &process{trace: t, file: f, number: t.processes, pid: unique(t.pids, uint64(f.PID)), track: t.uuid()}
	d := f.Dictionary
	for i := range d.Regions {
		p.labels = append(p.labels, labelOf(&d.Regions[i]))
	}
	var m message
	m.number(processPID, p.pid)
	m.text(processName, processLabel(f))
	t.packets.track(p.track, 0, "", trackProcess, m)
	p.gaps()
	p.working = newWorking(f.First(), f.Last())
	p.rates = newRates(f, p.working)
	for _, tid := range f.TIDs() {
		if err := p.thread(tid); err != nil {
			return err
		}
	}
	if f.Dictionary.Kept == nil { // otherwise most of the time nothing is known
		p.counter(p.working)
		p.counters(p.rates)
	}
	return nil
}

// labelOf names a region: its construct and place, or an MPI call's operation and place.
func labelOf(r *profile.Region) label {
	switch r.Construct {
	case event.MPI:
		return label{words.Clean(r.Name) + " " + words.Location(&r.Location), "MPI"}
	case event.UserRegion:
		return label{words.Region(r), "user region"}
	}
	return label{r.Construct.String() + " " + words.Region(r), "OpenMP"}
}

// processLabel names a process: rank, program, machine.
func processLabel(f *timeline.File) string {
	m := &f.Dictionary.Meta
	name := words.Clean(m.Program)
	if name == "" {
		name = "process"
	}
	if m.MPI != nil && m.MPI.Rank >= 0 {
		name = fmt.Sprintf("rank %d %s", m.MPI.Rank, name)
	}
	if m.Host != "" {
		name += " on " + words.Clean(m.Host)
	}
	if k := f.Dictionary.Kept; k != nil {
		name += fmt.Sprintf(" (the longest executions of each region, %d at most)", k.Longest)
	}
	if f.Torn {
		name += " (its timeline was cut off)"
	}
	return name
}

// gaps writes the stretches of time in which spans are missing. Those that overlap have tracks of
// their own.
func (p *process) gaps() {
	gaps := slices.Clone(p.file.Gaps)
	slices.SortStableFunc(gaps, func(a, b timeline.Gap) int { return cmp.Compare(a.From, b.From) })
	var tracks []free
	for i := range gaps {
		g := &gaps[i]
		n := slices.IndexFunc(tracks, func(f free) bool { return f.from <= g.From })
		if n < 0 {
			n = len(tracks)
			tracks = append(tracks, free{track: p.gapTrack()})
		}
		tracks[n].from = max(g.From, g.To)
		p.gap(g, tracks[n].track)
	}
}

// free is a track of gaps, and the moment from which no gap is on it.
type free struct{ track, from uint64 }

func (p *process) gapTrack() uint64 {
	track := p.uuid()
	p.packets.track(track, p.track, "not recorded", 0, nil)
	return track
}

func (p *process) gap(g *timeline.Gap, track uint64) {
	at := p.file.Dictionary.Monotonic
	e := slice{moment{track: track, name: g.Why.Sentence(), category: "not recorded"}}
	if g.Spans > 0 {
		e.arguments = []argument{{name: "executions", n: int64(g.Spans)}}
	}
	if what := p.file.Dictionary.Missing(g); what != "" {
		e.arguments = append(e.arguments, argument{name: "constructs", text: words.Clean(what)})
	}
	p.begin(&e, at(g.From))
	p.end(track, at(max(g.From, g.To)))
}

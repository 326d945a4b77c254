package firefox

import (
	"fmt"

	"ompp-attach/report/words"
	"ompp-attach/timeline"
)

// thread is a thread whose markers are being written.
type thread struct {
	*writer
	file    *timeline.File
	tid     uint32
	seat    int // of its first span; -1: none
	markers int
	strings map[string]int
	list    []string // strings, by their numbers
}

// begin begins a thread.
func (x *writer) begin(f *timeline.File, tid uint32) *thread {
	if x.threads++; x.threads > 1 {
		x.text(",")
	}
	x.text(`{"markers":{"schema":{"name":0,"startTime":1,"endTime":2,"phase":3,"category":4,"data":5},"data":[`)
	return &thread{writer: x, file: f, tid: tid, seat: -1, strings: map[string]int{}}
}

// span writes an execution.
func (t *thread) span(s *timeline.Span, r *shown) {
	if t.markers == 0 {
		t.seat = int(s.Thread)
	}
	name := r.name
	p := payload{Type: nested}
	if s.Lock != 0 {
		p.Type = overlap
	}
	ms := func(part int) float64 { return float64(s.Parts[part].T) / 1e6 }
	switch s.Kind {
	case timeline.Created:
		name = "creates " + name
	case timeline.Fold:
		p.Type, p.N, p.Sum = overlap, s.Exec.C, float64(s.Exec.T)/1e6
		name += " (sum of executions)"
	case timeline.Call:
		p.Out, p.In = s.Call.Out, s.Call.In
	default:
		p.Enter, p.Body, p.Barrier, p.Exit = ms(timeline.Enter), ms(timeline.Body), ms(timeline.Barrier), ms(timeline.Exit)
		if p.Enter == 0 && p.Barrier == 0 && p.Exit == 0 {
			p.Body = 0 // it is all there is
		}
	}
	switch {
	case s.Flags&timeline.Unseen != 0:
		p.Note = "its end was not seen"
	case s.Flags&timeline.Open != 0:
		p.Note = "it was under way when measurement ended"
	case s.Flags&timeline.Approximate != 0:
		p.Note = "its times are approximate"
	case s.Counts != nil && s.Counts.Partial:
		p.Note = "its counters are known for a part only"
	}
	p.counts = t.counts(s)
	at := t.file.Dictionary.Monotonic
	t.marker(name, at(s.From), at(s.To), r.category, &p)
}

// The phases of markers.
const (
	instant  = 0
	interval = 1
)

// marker writes a marker from one time to another (CLOCK_MONOTONIC, ns).
func (t *thread) marker(name string, from, to uint64, category int, p *payload) {
	if t.markers++; t.markers > 1 {
		t.text(",")
	}
	n, ok := t.strings[name]
	if !ok {
		n = len(t.list)
		t.strings[name] = n
		t.list = append(t.list, name)
	}
	t.text(fmt.Sprintf("[%d,", n))
	t.time(from)
	if to > from {
		t.text(",")
		t.time(to)
		t.text(fmt.Sprintf(",%d,%d,", interval, category))
	} else {
		t.text(fmt.Sprintf(",null,%d,%d,", instant, category))
	}
	t.payload(p)
	t.text("]")
}

// end writes the parts of the thread's JSON that follow the markers.
func (t *thread) end(name string) {
	t.text(`]},"samples":{"schema":{"stack":0,"time":1,"eventDelay":2},"data":[]},"frameTable":{"schema":{"location":0,"relevantForJS":1,` +
		`"innerWindowID":2,"implementation":3,"line":4,"column":5,"category":6,"subcategory":7},"data":[]},"stackTable":{"schema":{"prefix":0,"frame":1},"data":[]}`)
	if t.list == nil {
		t.list = []string{}
	}
	t.object(`,"stringTable":`, t.list)
	t.object(`,"name":`, name)
	t.object(`,"processName":`, processName(t.file))
	t.text(fmt.Sprintf(`,"processType":"default","registerTime":0,"unregisterTime":null,"pid":%d,"tid":%d}`, t.pids, t.tid))
}

// processName names a process: rank, program, number, machine, and whether the end of its timeline
// is missing.
func processName(f *timeline.File) string {
	m := &f.Dictionary.Meta
	name := fmt.Sprintf("%s (process %d)", words.Clean(m.Program), f.PID)
	if r := f.Rank(); r >= 0 {
		name = fmt.Sprintf("rank %d %s", r, name)
	}
	if m.Host != "" {
		name += " on " + words.Clean(m.Host)
	}
	if f.Torn {
		name += " (its timeline was cut off)"
	}
	return name
}

package firefox

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"

	"ompp-attach/event"
	"ompp-attach/profile"
	"ompp-attach/report/words"
	"ompp-attach/timeline"
)

// Suffix ends the name of a file in this format.
const Suffix = ".firefox.json"

// The version of the format. Later readers convert files of older versions.
const version = 31

// Categories of markers: the index in the list that the file has.
const (
	other = iota
	openMP
	calls
	user
	missing
)

type category struct {
	Name          string   `json:"name"`
	Color         string   `json:"color"`
	Subcategories []string `json:"subcategories"`
}

var categories = []category{
	{"Other", "grey", []string{"Other"}},
	{"OpenMP", "blue", []string{"Other"}},
	{"MPI", "orange", []string{"Other"}},
	{"User region", "green", []string{"Other"}},
	{"Not recorded", "grey", []string{"Other"}},
}

// field is a figure that the viewer shows of a marker.
type field struct {
	Key    string `json:"key"`
	Label  string `json:"label"`
	Format string `json:"format"`
}

// schema says how markers of a type are shown.
type schema struct {
	Name    string   `json:"name"`
	Tooltip string   `json:"tooltipLabel"`
	Table   string   `json:"tableLabel"`
	Chart   string   `json:"chartLabel"`
	Display []string `json:"display"`
	Fields  []field  `json:"data"`
	Nested  bool     `json:"isStackBased,omitempty"`
}

// The types of markers. Executions that hold locks may overlap; others nest.
const (
	nested  = "Region"
	overlap = "LockRegion"
)

func schemas(counters []string) (all []schema) {
	fields := []field{{"n", "Executions", "integer"}, {"sum", "Time together", "duration"}, {"enter", "Enter", "duration"},
		{"body", "Body", "duration"}, {"barrier", "Implicit barrier", "duration"}, {"exit", "Exit", "duration"},
		{"out", "Sent", "bytes"}, {"in", "Received", "bytes"}, {"note", "Note", "string"}}
	for i, name := range counters {
		fields = append(fields, field{counterKey(i), name, "integer"})
	}
	for _, name := range []string{nested, overlap} {
		all = append(all, schema{name, "{marker.name}", "{marker.name}", "{marker.name}", []string{"marker-chart", "marker-table"}, fields, name == nested})
	}
	return all
}

// payload is what a marker tells beside its name and times. Times are in ms.
type payload struct {
	Type    string   `json:"type"`
	N       uint64   `json:"n,omitempty"`
	Sum     float64  `json:"sum,omitempty"`
	Enter   float64  `json:"enter,omitempty"`
	Body    float64  `json:"body,omitempty"`
	Barrier float64  `json:"barrier,omitempty"`
	Exit    float64  `json:"exit,omitempty"`
	Out     uint64   `json:"out,omitempty"`
	In      uint64   `json:"in,omitempty"`
	Note    string   `json:"note,omitempty"`
	counts  []string // further members, as JSON
}

// Write writes the timelines of one or more processes of a machine into one profile. Times count
// from the first execution. A gap stands for damaged spans, and damaged is called for it.
// Other errors are those of w, and of timelines that cannot be read.
func Write(w io.Writer, of []*timeline.File, damaged func(*timeline.File, *timeline.DamageError)) error {
	x := &writer{Writer: bufio.NewWriterSize(w, 1<<20), damaged: damaged, from: 1<<64 - 1}
	to := uint64(0)
	for _, f := range of {
		x.addCounters(f)
		if len(f.TIDs()) > 0 {
			x.from = min(x.from, f.Dictionary.Monotonic(f.First()))
			to = max(to, f.Dictionary.Monotonic(f.Last()))
		}
	}
	m := &of[0].Dictionary.Meta
	x.object("{\"meta\":", map[string]any{"version": version, "startTime": float64(m.Start.UnixMicro()) / 1000, "shutdownTime": nil,
		"profilingStartTime": 0, "profilingEndTime": float64(to-min(to, x.from)) / 1e6,
		"interval": 1, "stackwalk": 0, "debug": 0, "gcpoison": 0, "asyncstack": 0, "processType": 0, "product": words.Clean(m.Program),
		"categories": categories, "markerSchema": schemas(x.counters)})
	x.text(`,"libs":[],"pages":[],"pausedRanges":[],"processes":[],"threads":[`)
	for _, f := range of {
		if err := x.process(f); err != nil {
			return err
		}
	}
	x.text("]}\n")
	if x.err == nil {
		x.err = x.Flush()
	}
	if x.err != nil {
		return fmt.Errorf("write the profile: %w", x.err)
	}
	return nil
}

// writer writes a profile.
type writer struct {
	*bufio.Writer
	err      error
	damaged  func(*timeline.File, *timeline.DamageError)
	from     uint64   // CLOCK_MONOTONIC, ns
	counters []string // of all processes, in the order in which markers have them
	threads  int      // so far
	pids     int      // processes so far
	number   []byte   // scratch
}

func (x *writer) text(s string) {
	if x.err == nil {
		_, x.err = x.WriteString(s)
	}
}

// object writes a text, and a value as JSON.
func (x *writer) object(before string, v any) {
	x.text(before)
	b, err := json.Marshal(v)
	if x.err == nil {
		x.err = err
	}
	x.text(string(b))
}

// time writes a time, in ms with six digits.
func (x *writer) time(ns uint64) {
	ns -= min(ns, x.from)
	x.number = strconv.AppendUint(x.number[:0], ns/1e6, 10)
	x.number = append(x.number, '.')
	digits := strconv.AppendUint(nil, 1e6+ns%1e6, 10)
	x.number = append(x.number, digits[1:]...)
	x.text(string(x.number))
}

// process writes the threads of a process.
func (x *writer) process(f *timeline.File) error {
	x.pids++
	d := f.Dictionary
	regions := make([]shown, len(d.Regions))
	for i := range d.Regions {
		regions[i] = shownAs(&d.Regions[i])
	}
	var lost []timeline.Gap
	for _, tid := range f.TIDs() {
		t := x.begin(f, tid)
		for s, err := range f.Thread(tid) {
			var damage *timeline.DamageError
			if errors.As(err, &damage) {
				lost = append(lost, damage.Gap)
				x.damaged(f, damage)
				continue
			}
			if err != nil {
				return fmt.Errorf("read the timeline of thread %d: %w", tid, err)
			}
			t.span(s, &regions[d.Nodes[s.Node].Region])
			if x.err != nil {
				return fmt.Errorf("write the profile: %w", x.err)
			}
		}
		name := fmt.Sprintf("thread %d", tid)
		if t.seat >= 0 && t.seat < len(d.Threads) {
			name = "OpenMP thread " + words.Thread(d.Threads[t.seat])
		}
		t.end(name)
	}
	if gaps := append(lost, f.Gaps...); len(gaps) > 0 {
		t := x.begin(f, 0)
		for _, g := range gaps {
			p := payload{Type: overlap, N: g.Spans, Note: words.Clean(d.Missing(&g))}
			t.marker(g.Why.Sentence(), d.Monotonic(g.From), d.Monotonic(max(g.From, g.To)), missing, &p)
		}
		t.end("not recorded")
	}
	return nil
}

// shown is how a region is shown.
type shown struct {
	name     string
	category int
}

func shownAs(r *profile.Region) shown {
	switch r.Construct {
	case event.MPI:
		return shown{words.Clean(r.Name) + " " + words.Location(&r.Location), calls}
	case event.UserRegion:
		return shown{words.Region(r), user}
	}
	return shown{r.Construct.String() + " " + words.Region(r), openMP}
}

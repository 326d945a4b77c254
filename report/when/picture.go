package when

import (
	"fmt"

	"ompp-attach/analysis"
	"ompp-attach/event"
	"ompp-attach/profile"
	"ompp-attach/report/words"
	"ompp-attach/timeline"
	"ompp-attach/timeline/flows"
)

// Limits of a picture.
const (
	mostBoxes    = 40_000
	mostRows     = 256
	mostMessages = 5_000
	mostGaps     = 1_000
	numBins      = 512
)

// Picture is what the page draws. Times are ns since its begin.
type Picture struct {
	Length int64 `json:"length_ns"`
	// Shortest is the time (ns) below which executions are drawn together; 0: each is drawn.
	Shortest int64    `json:"shortest_ns"`
	Names    []Name   `json:"names"`
	Rows     []Thread `json:"rows"`
	// LeftOut is how many threads there are beyond Rows.
	LeftOut int `json:"left_out,omitempty"`
	// Bins is the number of bins of a level, and Levels the time of each level.
	Bins     int       `json:"bins"`
	Levels   []Level   `json:"levels"`
	Messages []Message `json:"messages,omitempty"`
	// Unshown is how many messages there are beyond Messages.
	Unshown int   `json:"unshown,omitempty"`
	Gaps    []Gap `json:"gaps,omitempty"`
	// Notes say in sentences what is not shown, and why.
	Notes []string `json:"notes,omitempty"`
}

// Name is what a box shows.
type Name struct {
	Text  string `json:"text"`
	Class string `json:"class"` // of page.Parts, whose colour it has
}

// Thread is a thread of the operating system.
type Thread struct {
	Label      string `json:"label"`
	Executions uint64 `json:"executions"`
	Depth      int    `json:"depth"` // levels of boxes
	// Boxes are sextuples, one after the other: depth; begin (ns), counted from the begin of the
	// box before; length (ns); index; number of executions; sum of their times (ns). The index is
	// that in Names of the name that took most.
	Boxes []int64 `json:"boxes"`
}

// Level is a library, MPI or OpenMP, with the time in which threads were innermost in it.
type Level struct {
	Name string  `json:"name"`
	Time int64   `json:"ns"`   // of all threads
	Bins []int64 `json:"bins"` // the same, by time (ns)
}

// Message leads from one row to another.
type Message struct {
	From     int   `json:"from"` // index in Rows
	To       int   `json:"to"`
	Sent     int64 `json:"sent"`
	Received int64 `json:"received"`
}

// Gap is a stretch of time in which executions are missing.
type Gap struct {
	Process string `json:"process"`
	From    int64  `json:"from"`
	To      int64  `json:"to"`
	Why     string `json:"why"`
	Spans   uint64 `json:"executions"` // how many; 0: not known
}

// Of makes the picture of the timelines of one machine's processes. It reads all spans twice. The
// errors are those of reading. Damaged parts of a file are left out, and noted.
func Of(files []*timeline.File) (*Picture, error) {
	m := &maker{Picture: &Picture{Bins: numBins, Names: []Name{}, Rows: []Thread{}, Levels: []Level{}}, names: map[Name]int{}, levels: map[string]int{}}
	m.begin(files)
	found, err := flows.Find(files)
	if err != nil {
		return nil, err
	}
	for i, f := range files {
		if f.Dictionary.Meta.ClockName() != files[0].Dictionary.Meta.ClockName() {
			m.Notes = append(m.Notes, title(f)+" was measured on another machine: it is left out, because the machines' clocks differ.")
			continue
		}
		if err := m.process(f, i, found); err != nil {
			return nil, err
		}
	}
	m.finish()
	m.pair(found)
	return m.Picture, nil
}

// maker makes a picture.
type maker struct {
	*Picture
	from   uint64 // CLOCK_MONOTONIC, ns
	names  map[Name]int
	levels map[string]int // index in Levels
	rows   []*thread
	boxes  int // in all rows
	ends   map[uint64]*Message
}

// begin finds the time that the picture shows.
func (m *maker) begin(files []*timeline.File) {
	m.from = 1<<64 - 1
	to := uint64(0)
	for _, f := range files {
		if len(f.TIDs()) > 0 && f.Dictionary.Meta.ClockName() == files[0].Dictionary.Meta.ClockName() {
			m.from, to = min(m.from, f.Dictionary.Monotonic(f.First())), max(to, f.Dictionary.Monotonic(f.Last()))
		}
	}
	if to > m.from {
		m.Length = int64(to - m.from)
	}
}

func (m *maker) name(text, class string) int {
	n := Name{text, class}
	i, ok := m.names[n]
	if !ok {
		i = len(m.Names)
		m.names[n] = i
		m.Names = append(m.Names, n)
	}
	return i
}

func (m *maker) level(name string) int {
	i, ok := m.levels[name]
	if !ok {
		i = len(m.Levels)
		m.levels[name] = i
		m.Levels = append(m.Levels, Level{Name: name, Bins: make([]int64, numBins)})
	}
	return i
}

// spend adds a time in which a level was the innermost one of a thread.
func (m *maker) spend(level int, from, to int64) {
	l := &m.Levels[level]
	l.Time += max(0, to-from)
	for from < to {
		bin := min(numBins-1, int(float64(from)/float64(m.Length)*numBins))
		end := min(to, int64(float64(bin+1)/numBins*float64(m.Length)))
		if bin == numBins-1 || end <= from {
			end = to
		}
		l.Bins[bin] += end - from
		from = end
	}
}

// count notes that boxes were added. When there are too many, shorter ones are drawn together.
func (m *maker) count(added int) {
	const least = 1000 // ns
	for m.boxes += added; m.boxes > 2*mostBoxes; {
		m.coarsen(max(least, 2*m.Shortest))
	}
}

func (m *maker) coarsen(limit int64) {
	m.Shortest, m.boxes = limit, 0
	for _, r := range m.rows {
		for i := range r.layers {
			m.boxes += r.layers[i].coarsen(limit)
		}
	}
}

// finish writes the boxes of all rows.
func (m *maker) finish() {
	for m.boxes > mostBoxes {
		m.coarsen(max(1000, 2*m.Shortest))
	}
	for _, r := range m.rows {
		m.Rows = append(m.Rows, r.finish())
	}
}

// describe returns the name, colour and level of a region.
func (m *maker) describe(r *profile.Region) (name, level int) {
	switch form := r.Construct.Form(); {
	case r.Construct == event.MPI:
		return m.name(words.Clean(r.Name)+" "+words.Location(&r.Location), "mpi"), m.level(analysis.LevelMPI)
	case r.Construct == event.UserRegion:
		return m.name(words.Region(r), "work"), m.level(words.Clean(analysis.LevelOf(r)))
	default:
		class := "work"
		switch form.Overhead {
		case event.WholeSynch, event.WaitSynch, event.TasksSynch:
			class = "synch"
		case event.CreationMgmt, event.TransferMgmt:
			class = "mgmt"
		}
		return m.name(r.Construct.String()+" "+words.Region(r), class), m.level(analysis.LevelOpenMP)
	}
}

// title names a process.
func title(f *timeline.File) string {
	if r := f.Rank(); r >= 0 {
		return fmt.Sprintf("rank %d", r)
	}
	return fmt.Sprintf("process %d", f.PID)
}

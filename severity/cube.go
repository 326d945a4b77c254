package severity

import (
	"cmp"
	"fmt"
	"slices"

	"ompp-attach/analysis"
	"ompp-attach/profile"
)

// Process is a process of the run. On the axis of threads, it stands above its threads.
type Process struct {
	Rank    int // in MPI_COMM_WORLD; -1: of no job
	Host    string
	PID     int
	Program string
	Wall    int64 // ns
	Crew    analysis.Crew
}

// Thread is a row of the per-thread tables of a process.
type Thread struct {
	Process int // index in Cube.Processes; -1: the row stands for all processes (see Level)
	profile.Thread
}

// Level says whether a row of Cube.Threads is a thread, a process or the whole run.
type Level int

// The levels.
const (
	ByThread  Level = iota
	ByProcess       // of all threads of a process: there were too many values
	Whole           // of all processes
)

// Path is a call path of regions: one or several nodes of profiles.
type Path struct {
	Parent int // index in Cube.Paths; -1: the program
	Region int // index in Cube.Regions; -1: the program
}

// Mark says how exact a value is.
type Mark uint8

// The marks; several can hold.
const (
	Estimated Mark = 1 << iota // it holds extrapolated figures
	Derived                    // a rule has shared out a part of it
	// Of a wait, more than a tenth was taken out, because the waiting thread had no core. The trees
	// about its causes have the whole wait.
	Shortened
)

// Value is the severity of a property at a call path for a thread. It is exclusive.
type Value struct {
	Property, Path, Thread int // indices in Cube
	V                      int64
	Mark                   Mark
}

// Cube holds the severities of a run.
type Cube struct {
	Program    string
	Properties []Property // a parent precedes its children
	Regions    []profile.Region
	Paths      []Path // Paths[0] is the program; a parent precedes its children
	Processes  []Process
	Threads    []Thread
	Values     []Value // that are not 0, by property, path and thread
	// ThreadTime is the time of all threads, to which shares refer, ns. The property Time exceeds
	// it where nested teams have more threads than there are rows.
	ThreadTime int64
	// Adjusted: the time that probes took has been taken out of all times.
	Adjusted bool
	Level    Level
	// Notes are sentences for the reader on what the values lack.
	Notes []string
	// Blames say for which ranks others waited in MPI calls.
	Blames []Blame
	// Nodes says how the clocks of several nodes were compared; nil: all waits are of one node.
	Nodes *Nodes
	// JobPath is the critical path over the ranks of a job; nil: not known.
	JobPath *JobPath
	// Hidden says why nothing can be told of the times; nil: they can be told.
	Hidden *analysis.Hidden
	// Silent: nothing was seen of any process.
	Silent bool
	// Doubts are the findings that analysis.Findings leaves out.
	Doubts []Doubt
	// Crowds are the machines on which the run itself has more threads than processors.
	Crowds []analysis.Crowd
	// Uneven are the waits at barriers and at the ends of regions by their reason
	// (analysis.WhyUneven), by region, of all processes.
	Uneven map[int]analysis.UnevenWaits
	// Ends are the times that the ends of teams took by their reason (analysis.WhyEnds), by region,
	// of all processes.
	Ends map[int]analysis.UnevenWaits

	byID map[string]int
}

// CannotTell says why nothing can be told of the times, as the rest of a sentence; empty: they can
// be told.
func (c *Cube) CannotTell() string {
	_, rest := analysis.Untold(c.Hidden, c.Silent)
	return rest
}

// Untold says in a word why the time of a property cannot be told; empty: it can. Probes do not
// change the time without a core.
func (c *Cube) Untold(property int) string {
	if p := &c.Properties[property]; p.Unit != Seconds || p.ID == NoCore {
		return ""
	}
	word, _ := analysis.Untold(c.Hidden, c.Silent)
	return word
}

// WhyUntold is CannotTell as a whole sentence; empty: times can be told.
func (c *Cube) WhyUntold() string {
	if why := c.CannotTell(); why != "" {
		return "What costs time " + why
	}
	return ""
}

// Doubt says that a property of a region may not be the program's own.
type Doubt struct {
	Property string // ompP's name
	Region   int
	Why      Reason
}

// Reason is the reason of a doubt.
type Reason uint8

// The reasons.
const (
	ByProbes Reason = iota + 1 // probes may have made the finding
	ByTasks                    // tasks that were not observed may have made the finding
)

// DoubtOf returns the reason to doubt a finding; 0: there is none.
func (c *Cube) DoubtOf(f *Finding) Reason {
	name, region := c.Properties[f.Property].OmpP, c.Paths[f.Path].Region
	// ompP has one property for the start and the end of a team.
	if id := c.Properties[f.Property].ID; id == TeamStart || id == TeamEnd {
		name = analysis.InsufficientWorkInParallelLoop
	}
	for _, d := range c.Doubts {
		if d.Property == name && d.Region == region {
			return d.Why
		}
	}
	return 0
}

// DoubtText says why a finding may not be the program's own; empty: there is no doubt.
func (c *Cube) DoubtText(f *Finding) string {
	switch c.DoubtOf(f) {
	case ByProbes:
		return "Probes took more than a tenth of the time around: they may have made this."
	case ByTasks:
		return "Tasks were not observed all of the time: this may be tasks that threads executed."
	}
	return ""
}

// Property returns the index of the property with an ID; -1: there is none.
func (c *Cube) Property(id string) int {
	if i, ok := c.byID[id]; ok {
		return i
	}
	return -1
}

// Above returns the index of the more general property; -1: the property is a root.
func (c *Cube) Above(property int) int {
	if up := c.Properties[property].Parent; up != "" {
		return c.Property(up)
	}
	return -1
}

// Below reports whether a property is another one, or is below it in the tree.
func (c *Cube) Below(property, other int) bool {
	for ; property >= 0; property = c.Above(property) {
		if property == other {
			return true
		}
	}
	return false
}

// Of returns the values of a property without those below it.
func (c *Cube) Of(property int) []Value {
	at := func(p int) int {
		i, _ := slices.BinarySearchFunc(c.Values, p, func(v Value, p int) int { return cmp.Compare(v.Property, p) })
		return i
	}
	return c.Values[at(property):at(property+1)]
}

// Total returns the value of a property over all paths and threads, with the properties below it.
func (c *Cube) Total(id string) (sum int64) {
	of := c.Property(id)
	for p := range c.Properties {
		if of >= 0 && c.Below(p, of) {
			for _, v := range c.Of(p) {
				sum += v.V
			}
		}
	}
	return sum
}

// Inclusive returns the values of a property with those below it, by path and thread.
func (c *Cube) Inclusive(property int) []Value {
	sum := map[[2]int]Value{}
	for p := range c.Properties {
		if !c.Below(p, property) {
			continue
		}
		for _, v := range c.Of(p) {
			at := [2]int{v.Path, v.Thread}
			s := sum[at]
			sum[at] = Value{property, v.Path, v.Thread, s.V + v.V, s.Mark | v.Mark}
		}
	}
	out := make([]Value, 0, len(sum))
	for _, v := range sum {
		out = append(out, v)
	}
	slices.SortFunc(out, byPlace)
	return out
}

func byPlace(a, b Value) int {
	return cmp.Or(cmp.Compare(a.Property, b.Property), cmp.Compare(a.Path, b.Path), cmp.Compare(a.Thread, b.Thread))
}

// key is a place in the cube.
type key struct{ property, path, thread int }

// builder collects values.
type builder struct {
	Cube
	values map[key]Value
}

func newBuilder(properties []Property) *builder {
	b := &builder{values: map[key]Value{}}
	b.byID, b.Uneven, b.Ends = map[string]int{}, map[int]analysis.UnevenWaits{}, map[int]analysis.UnevenWaits{}
	for _, p := range properties {
		b.define(p)
	}
	return b
}

// define adds a property, unless it is there.
func (b *builder) define(p Property) int {
	if i, ok := b.byID[p.ID]; ok {
		return i
	}
	if _, ok := b.byID[p.Parent]; !ok && p.Parent != "" {
		panic(fmt.Sprintf("property %s precedes its parent %s", p.ID, p.Parent))
	}
	b.byID[p.ID] = len(b.Properties)
	b.Properties = append(b.Properties, p)
	return len(b.Properties) - 1
}

func (b *builder) doubt(property string, region int, why Reason) {
	d := Doubt{property, region, why}
	if !slices.Contains(b.Doubts, d) {
		b.Doubts = append(b.Doubts, d)
	}
}

func (b *builder) add(property string, path, thread int, v int64, mark Mark) {
	i, ok := b.byID[property]
	if !ok {
		panic("no such property: " + property)
	}
	b.put(i, path, thread, v, mark)
}

func (b *builder) put(property, path, thread int, v int64, mark Mark) {
	if v == 0 {
		return
	}
	at := key{property, path, thread}
	old := b.values[at]
	b.values[at] = Value{property, path, thread, old.V + v, old.Mark | mark}
}

// mark adds a mark to a value, if there is one.
func (b *builder) mark(property string, path, thread int, mark Mark) {
	at := key{b.byID[property], path, thread}
	if v, ok := b.values[at]; ok {
		v.Mark |= mark
		b.values[at] = v
	}
}

// finish sorts the values.
func (b *builder) finish() *Cube {
	b.Values = make([]Value, 0, len(b.values))
	for _, v := range b.values {
		if v.V != 0 {
			b.Values = append(b.Values, v)
		}
	}
	slices.SortFunc(b.Values, byPlace)
	var crews []analysis.Crew
	for i := range b.Processes {
		crews = append(crews, b.Processes[i].Crew)
	}
	b.Crowds = analysis.Crowds(crews)
	c := b.Cube
	return &c
}

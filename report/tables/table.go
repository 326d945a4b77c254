// Package tables shows a process's time by region, construct, call path, thread or property, worst
// first. The formats are text that fits a terminal, CSV, and JSON. All tables are of one kind:
// columns with a type, and rows of values. The figures come from package analysis.
package tables

import (
	"cmp"
	"slices"

	"ompp-attach/analysis"
	"ompp-attach/event"
	"ompp-attach/profile"
)

// Options are choices of the reader, and the texts that other reports use too.
type Options struct {
	Rules analysis.Rules
	All   bool // text shows also rows of less than a thousandth of the time
	Rows  int  // the largest number of rows in text; 0: no limit
	// Hidden says why nothing can be told of the times; nil: they can be told.
	Hidden *analysis.Hidden

	Seconds   func(ns int64) string                         // a time, in seconds
	Region    func(*profile.Region) string                  // the place of a region
	Construct func(event.Construct) string                  // the short name
	Thread    func(profile.Thread) string                   // the number
	Clean     func(string) string                           // makes a name harmless
	Mark      func(text string, e *profile.Estimate) string // marks an estimate with ~ or +
	MarkOwn   func(text string, e *profile.Estimate) string // the same, of an exclusive figure
}

// kind is the type of a column's values.
type kind uint8

const (
	text  kind = iota // string
	count             // uint64
	ns                // int64
	share             // float64, 0 to 1
	each              // float64, ns; text shows microseconds
)

// column describes a column.
type column struct {
	title string // in text; empty: the column is not there
	name  string // in CSV and JSON; empty: the column is not there
	kind  kind
	own   bool // the figure is exclusive
	// always: the column is in text even if all of its values are 0.
	always bool
}

// row is a line of a table.
type row struct {
	time     int64 // orders the rows, ns
	values   []any // by column; nil: there is no such figure
	estimate *profile.Estimate
}

// table is a table that can be written in each format.
type table struct {
	by      string
	intro   string // sentences above the text
	whole   int64  // the time that shares refer to: that of all threads, ns
	columns []column
	rows    []row
	// untold says in a word why nothing can be told of the times, and why in a sentence; empty:
	// they can be told.
	untold, why string
}

// sorted orders the rows, the longest time first.
func (t *table) sorted() *table {
	slices.SortStableFunc(t.rows, func(a, b row) int { return cmp.Compare(b.time, a.time) })
	return t
}

// By is a way to add up a process's time.
type By struct {
	Name  string // as --by takes it
	table func(*view) *table
}

// Ways lists the ways, in the order of the help.
var Ways = []By{
	{"region", byRegion},
	{"construct", byConstruct},
	{"path", byPath},
	{"thread", byThread},
	{"property", byProperty},
}

// Named returns the way with a name. ok is false if there is none.
func Named(name string) (w By, ok bool) {
	at := slices.IndexFunc(Ways, func(w By) bool { return w.Name == name })
	if at < 0 {
		return w, false
	}
	return Ways[at], true
}

// Names returns the names of all ways.
func Names() (names []string) {
	for _, w := range Ways {
		names = append(names, w.Name)
	}
	return names
}

// view holds the figures that tables are made from.
type view struct {
	p *profile.Profile
	*Options
	classes [][]analysis.Classes // by node and position in its Stats
	idle    [][]analysis.IdleThread
	serial  []int64 // by thread: an initial thread's time outside of all regions, ns
	outside int64   // the sum of serial, also if the profile has no threads
	whole   int64
	single  bool // rows are of single threads, where there is a choice
}

func newView(p *profile.Profile, o *Options) *view {
	v := &view{p: p, Options: o, idle: analysis.IdleThreads(p), whole: analysis.ThreadTime(p)}
	serial := map[int]int64{}
	for _, s := range analysis.SerialTimes(p) {
		serial[s.Root] = s.Time
		v.outside += s.Time
	}
	for _, t := range p.Threads {
		own := int64(0)
		if t.Num == 0 {
			own = serial[t.Root]
		}
		v.serial = append(v.serial, own)
	}
	for i := range p.Nodes {
		v.classes = append(v.classes, o.Rules.Classify(p, i))
	}
	return v
}

func (v *view) share(t int64) float64 { return analysis.Ratio(t, v.whole) }

// figures are what is added up for a row.
type figures struct {
	own, all int64 // exclusive and inclusive time, ns
	count    uint64
	classes  analysis.Classes
	estimate *profile.Estimate
}

// add adds the own figures of the j-th thread of a node.
func (f *figures) add(v *view, node, j int) {
	s := &v.p.Nodes[node].Stats[j]
	f.own += s.Exec.T - s.Child
	f.count += s.Exec.C
	f.classes.Add(v.classes[node][j])
	f.estimate = f.estimate.Plus(s.Estimate)
}

// merge adds other figures.
func (f *figures) merge(g *figures) {
	f.own += g.own
	f.all += g.all
	f.count += g.count
	f.classes.Add(g.classes)
	f.estimate = f.estimate.Plus(g.estimate)
}

// idleTime returns the time of workers that were in no region, in ns.
func (v *view) idleTime() (sum int64) {
	for _, threads := range v.idle {
		for _, t := range threads {
			sum += t.Time
		}
	}
	return sum
}

// classColumns are the columns of the overhead classes, in all formats but text.
var classColumns = []column{
	{name: "synch_ns", kind: ns}, {name: "imbal_ns", kind: ns}, {name: "limpar_ns", kind: ns}, {name: "mgmt_ns", kind: ns},
	{name: "mpi_ns", kind: ns}, {name: "no_core_ns", kind: ns},
}

func classValues(c analysis.Classes) []any {
	return []any{c.Synch, c.Imbal, c.Limpar, c.Mgmt, c.MPI, c.NoCore}
}

// placeColumns are the columns on a region's place, in all formats but text.
var placeColumns = []column{
	{name: "region", kind: count}, {name: "construct"}, {name: "name"}, {name: "file"}, {name: "begin_line", kind: count},
	{name: "end_line", kind: count}, {name: "function"},
}

// placeValues returns the values of placeColumns; region is -1 for rows that are no region, which
// bear a name.
func (v *view) placeValues(region int, name string) []any {
	if region < 0 {
		return []any{nil, nil, name, nil, nil, nil, nil}
	}
	r := &v.p.Regions[region]
	l := &r.Location
	values := []any{uint64(region + 1), r.Construct.String(), v.Clean(r.Name), v.Clean(l.File), nil, nil, v.Clean(l.Function)}
	if l.Begin > 0 {
		values[4] = uint64(l.Begin)
	}
	if l.End > 0 {
		values[5] = uint64(l.End)
	}
	return values
}

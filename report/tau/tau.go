// Package tau writes the severities of a run as profiles of TAU. ParaProf, pprof of TAU,
// PerfExplorer and Hatchet read them. Thread T of rank N has a text file profile.N.C.T in the
// format of TAU 2 (context C is always 0). With performance counters there is a directory
// MULTI__NAME for each metric.
package tau

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"math"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"ompp-attach/event"
	"ompp-attach/report/words"
	"ompp-attach/severity"
)

// File is a file of a profile. Its name may begin with a directory's.
type File struct {
	Name  string
	Write func(io.Writer) error
}

// Files returns the files of a run's profile.
func Files(c *severity.Cube) (files []File) {
	r := newRun(c)
	for _, m := range r.metrics {
		for thread := range c.Threads {
			name := r.name(thread)
			if len(r.metrics) > 1 {
				name = "MULTI__" + m.name + "/" + name
			}
			files = append(files, File{name, func(w io.Writer) error { return r.write(w, &m, thread) }})
		}
	}
	return files
}

// metric is what a profile counts: time in microseconds, or a counter.
type metric struct {
	name  string
	scale float64
	own   map[place]int64
}

type place struct{ path, thread int }

type run struct {
	*severity.Cube
	metrics []metric
	visits  map[place]int64
	kids    [][]int // of each path
	order   []int   // paths, depth first
	names   []string
	number  []int // of threads in their process
}

// root is the name of the program, as TAU calls it.
const root = ".TAU application"

func newRun(c *severity.Cube) *run {
	r := &run{Cube: c, visits: map[place]int64{}, kids: make([][]int, len(c.Paths)), names: make([]string, len(c.Paths)), number: make([]int, len(c.Threads))}
	for i, p := range c.Paths {
		if r.names[i] = root; i > 0 {
			r.kids[p.Parent] = append(r.kids[p.Parent], i)
			r.names[i] = r.function(p.Region)
		}
	}
	for stack := []int{0}; len(stack) > 0; {
		i := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		r.order = append(r.order, i)
		for _, k := range slices.Backward(r.kids[i]) {
			stack = append(stack, k)
		}
	}
	next := map[int]int{}
	for i, t := range c.Threads {
		r.number[i] = next[t.Process]
		next[t.Process]++
	}
	for _, v := range c.Of(c.Property(severity.Visits)) {
		r.visits[place{v.Path, v.Thread}] = v.V
	}
	r.metrics = append(r.metrics, metric{"TIME", 1e-3, r.times()})
	for i := range c.Properties {
		name, ok := strings.CutPrefix(c.Properties[i].ID, severity.CounterPrefix)
		if !ok {
			continue
		}
		own := map[place]int64{}
		for _, v := range c.Of(i) {
			own[place{v.Path, v.Thread}] = v.V
		}
		r.metrics = append(r.metrics, metric{unsafe.ReplaceAllString(name, "_"), 1, own})
	}
	return r
}

// unsafe matches what a name of a directory had better not have.
var unsafe = regexp.MustCompile(`[^A-Za-z0-9_.-]`)

// times returns the time of each thread at each path, ns. TAU's threads are in no function while
// they are idle: that time is the application's own.
func (r *run) times() map[place]int64 {
	out, whole, execution := map[place]int64{}, r.Property(severity.Time), r.Property(severity.Execution)
	for _, v := range r.Values {
		switch {
		case r.Below(v.Property, execution):
			out[place{v.Path, v.Thread}] += v.V
		case r.Below(v.Property, whole):
			out[place{0, v.Thread}] += v.V
		}
	}
	return out
}

// name is the name of a thread's file: profile.RANK.0.THREAD.
func (r *run) name(thread int) string {
	node := 0
	if p := r.Threads[thread].Process; p >= 0 {
		if node = r.Processes[p].Rank; node < 0 {
			node = p
		}
	}
	return fmt.Sprintf("profile.%d.0.%d", node, r.number[thread])
}

// function names a region as TAU names functions: `CRITICAL queue [{main.c} {33,0}-{36,0}]`.
func (r *run) function(region int) string {
	x := &r.Regions[region]
	l := &x.Location
	name := x.Construct.String()
	switch {
	case x.Construct == event.MPI:
		name = plain(x.Name) + "()"
	case x.Name != "" && x.Name != l.Function:
		name += " " + plain(x.Name)
	}
	if l.File != "" && l.Begin > 0 {
		return fmt.Sprintf("%s [{%s} {%d,0}-{%d,0}]", name, plain(path.Base(l.File)), l.Begin, max(l.Begin, l.End))
	}
	return name + " " + plain(words.Location(l))
}

// plain makes a name harmless to a line of a profile: quotes end it there, and => divides call
// paths.
func plain(s string) string {
	return strings.NewReplacer(`"`, "'", "=>", "->").Replace(words.Clean(s))
}

// group is TAU's word for a kind of functions.
func group(c event.Construct) string {
	switch c {
	case event.MPI:
		return "MPI"
	case event.UserRegion, event.NoConstruct:
		return "TAU_USER"
	}
	return "OpenMP"
}

// line is a function, or a function on a call path.
type line struct {
	name, group string
	calls, subs int64
	own, all    float64
}

// lines returns the lines of a thread: the program, functions, then functions on call paths. All
// files have the same ones, because readers compare files line by line.
func (r *run) lines(m *metric, thread int) []line {
	paths := make([]line, len(r.Paths))
	for _, i := range slices.Backward(r.order) {
		l := &paths[i]
		at := place{i, thread}
		l.own = float64(m.own[at]) * m.scale
		l.all += l.own
		l.calls, l.name = r.visits[at], r.names[i]
		if i == 0 {
			l.calls, l.group = 1, "TAU_USER"
			break
		}
		up := r.Paths[i].Parent
		l.group = group(r.Regions[r.Paths[i].Region].Construct)
		paths[up].all += l.all
		paths[up].subs += l.calls
	}
	out := []line{paths[0]}
	flat := map[int]*line{} // by region
	for _, i := range r.order[1:] {
		l, region := paths[i], r.Paths[i].Region
		f := flat[region]
		if f == nil {
			f = &line{name: l.name, group: l.group}
			flat[region] = f
		}
		f.calls += l.calls
		f.subs += l.subs
		f.own += l.own
		if !r.within(i) { // a function that calls itself is inclusive once
			f.all += l.all
		}
	}
	regions := make([]int, 0, len(flat))
	for region := range flat {
		regions = append(regions, region)
	}
	slices.SortFunc(regions, cmp.Compare[int])
	for _, region := range regions {
		out = append(out, *flat[region])
	}
	for _, i := range r.order[1:] {
		l := paths[i]
		for up := r.Paths[i].Parent; up >= 0; up = r.Paths[up].Parent {
			l.name = r.names[up] + " => " + l.name
		}
		l.group += "|TAU_CALLPATH"
		out = append(out, l)
	}
	return out
}

// within tells whether a path lies within one of the same region.
func (r *run) within(path int) bool {
	region := r.Paths[path].Region
	for up := r.Paths[path].Parent; up > 0; up = r.Paths[up].Parent {
		if r.Paths[up].Region == region {
			return true
		}
	}
	return false
}

func (r *run) write(w io.Writer, m *metric, thread int) error {
	out := bufio.NewWriter(w)
	lines := r.lines(m, thread)
	fmt.Fprintf(out, "%d templated_functions_MULTI_%s\n", len(lines), m.name)
	fmt.Fprintf(out, "# Name Calls Subrs Excl Incl ProfileCalls # <metadata>%s%s%s</metadata>\n",
		attribute("Metric Name", m.name), attribute("Creator", "ompp-attach"), r.note())
	for i := range lines {
		l := &lines[i]
		if i == 0 { // Hatchet reads whole numbers here
			l.own, l.all = math.Round(l.own), math.Round(l.all)
		}
		fmt.Fprintf(out, "\"%s\" %d %d %s %s 0 GROUP=\"%s\"\n", l.name, l.calls, l.subs, number(l.own), number(l.all), l.group)
	}
	fmt.Fprint(out, "0 aggregates\n0 userevents\n")
	if err := out.Flush(); err != nil {
		return fmt.Errorf("write tau: %w", err)
	}
	return nil
}

// note is an attribute that says why nothing can be told of the times; empty: they can be told.
func (r *run) note() string {
	if why := r.WhyUntold(); why != "" {
		return attribute("Times", why)
	}
	return ""
}

// attribute writes an attribute of a file's metadata, which must be a single line.
func attribute(name, value string) string {
	return "<attribute><name>" + name + "</name><value>" + value + "</value></attribute>"
}

// number prints whole numbers without a point, others to a nanosecond.
func number(v float64) string {
	return strings.TrimSuffix(strings.TrimRight(strconv.FormatFloat(v, 'f', 3, 64), "0"), ".")
}

package tables

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"ompp-attach/analysis"
	"ompp-attach/event"
)

const (
	serialName = "outside of all regions"
	idleName   = "idle workers"
)

// timeColumns are the first columns of tables of regions, constructs and paths.
var timeColumns = []column{
	{title: "Exclusive", name: "exclusive_ns", kind: ns, own: true, always: true},
	{title: "(%)", name: "share", kind: share, always: true},
	{title: "Inclusive", name: "inclusive_ns", kind: ns, always: true},
	{title: "Overhead", name: "overhead_ns", kind: ns, always: true},
	{title: "execC", name: "executions", kind: count, always: true},
}

func (v *view) timeValues(f *figures) []any {
	return []any{f.own, v.share(f.own), f.all, f.classes.Sum(), f.count}
}

// outsideRows returns the rows of the time in no region, so that the rows of a table add up to all
// threads' time.
func (v *view) outsideRows(after func(name string) []any) (rows []row) {
	for _, x := range []struct {
		name string
		time int64
	}{{serialName, v.outside}, {idleName, v.idleTime()}} {
		if x.time > 0 {
			rows = append(rows, row{x.time, append([]any{x.time, v.share(x.time), nil, nil, nil}, after(x.name)...), nil})
		}
	}
	return rows
}

// byRegion adds up the time of all regions. A region that lies within itself counts its inclusive
// time once (see analysis.Flat).
func byRegion(v *view) *table {
	t := &table{whole: v.whole, intro: timesIntro,
		columns: slices.Concat(timeColumns, []column{{title: "Type"}, {title: "Region"}}, placeColumns, classColumns)}
	all := make([]figures, len(v.p.Regions))
	for i := 1; i < len(v.p.Nodes); i++ {
		for j := range v.p.Nodes[i].Stats {
			all[v.p.Nodes[i].Region].add(v, i, j)
		}
	}
	for r, b := range analysis.Flat(v.p) {
		f := &all[r]
		f.all = b.Sum.Exec.T
		t.rows = append(t.rows, row{f.own, slices.Concat(v.timeValues(f),
			[]any{v.Construct(v.p.Regions[r].Construct), v.regionText(r)}, v.placeValues(r, ""), classValues(f.classes)), f.estimate})
	}
	t.rows = append(t.rows, v.outsideRows(func(name string) []any {
		return slices.Concat([]any{"", name}, v.placeValues(-1, name), make([]any, len(classColumns)))
	})...)
	return t.sorted()
}

const timesIntro = "Times of all threads together, in seconds. Shares are of all threads' time. Outside of regions are\n" +
	"initial threads; workers are idle while their initial thread is there, or in a smaller team."

func (v *view) regionText(r int) string {
	return fmt.Sprintf("R%05d %s", r+1, v.Region(&v.p.Regions[r]))
}

// byPath adds up the time of each call path of regions.
func byPath(v *view) *table {
	t := &table{whole: v.whole, intro: timesIntro, columns: slices.Concat(timeColumns, []column{{title: "Type"}, {title: "Call path"}, {name: "path"}},
		placeColumns, classColumns)}
	all := map[string]*figures{}
	var first []int // node of each path: ranks have nodes of their own
	for i := 1; i < len(v.p.Nodes); i++ {
		path := v.path(i)
		f := all[path]
		if f == nil {
			f = &figures{}
			all[path], first = f, append(first, i)
		}
		for j := range v.p.Nodes[i].Stats {
			f.add(v, i, j)
			f.all += v.p.Nodes[i].Stats[j].Exec.T
		}
	}
	for _, i := range first {
		n, f := &v.p.Nodes[i], all[v.path(i)]
		t.rows = append(t.rows, row{f.own, slices.Concat(v.timeValues(f),
			[]any{v.Construct(v.p.Regions[n.Region].Construct), v.pathText(i), v.path(i)}, v.placeValues(n.Region, ""), classValues(f.classes)), f.estimate})
	}
	t.rows = append(t.rows, v.outsideRows(func(name string) []any {
		return slices.Concat([]any{"", name, nil}, v.placeValues(-1, name), make([]any, len(classColumns)))
	})...)
	return t.sorted()
}

// path spells a call path by the regions' numbers, outermost first.
func (v *view) path(node int) string {
	var up []string
	for ; node > 0; node = v.p.Nodes[node].Parent {
		up = append(up, fmt.Sprintf("R%05d", v.p.Nodes[node].Region+1))
	}
	slices.Reverse(up)
	return strings.Join(up, "/")
}

// pathText is path for text, with the place of the innermost region. Of long paths it has the ends.
func (v *view) pathText(node int) string {
	if node == 0 {
		return serialName
	}
	path := strings.Split(v.path(node), "/")
	const most = 4
	if len(path) > most {
		path = append([]string{path[0], "..."}, path[len(path)-most+2:]...)
	}
	return strings.Join(path, "/") + " " + v.Region(&v.p.Regions[v.p.Nodes[node].Region])
}

// byConstruct adds up all regions of a construct. Time within the same construct further up counts
// once in the inclusive time. Formats for programs have a row for each thread.
func byConstruct(v *view) *table {
	t := &table{whole: v.whole, intro: "Times of all regions of a construct together, in seconds; shares are of all threads' time.\n" +
		"Least and most are the exclusive times of single threads."}
	t.columns = slices.Concat(timeColumns, []column{{title: "us each", name: "inclusive_per_execution_ns", kind: each},
		{title: "least", kind: ns, own: true, always: true}, {title: "most", kind: ns, own: true, always: true},
		{title: "TID", name: "thread"}, {title: "Construct", name: "construct"}}, classColumns)
	within := analysis.WithinConstruct(v.p)
	all := map[event.Construct][]figures{} // by thread
	for i := 1; i < len(v.p.Nodes); i++ {
		c := v.p.Regions[v.p.Nodes[i].Region].Construct
		if all[c] == nil {
			all[c] = make([]figures, len(v.p.Threads))
		}
		for j := range v.p.Nodes[i].Stats {
			s := &v.p.Nodes[i].Stats[j]
			f := &all[c][s.Thread]
			f.add(v, i, j)
			if !within(i, s.Thread) {
				f.all += s.Exec.T
			}
		}
	}
	line := func(c event.Construct, f *figures, thread int, least, most any) {
		mean := any(nil)
		if f.count > 0 {
			mean = float64(f.all) / float64(f.count)
		}
		t.rows = append(t.rows, row{f.own, slices.Concat(v.timeValues(f), []any{mean, least, most, v.Thread(v.p.Threads[thread]), c.String()},
			classValues(f.classes)), f.estimate})
	}
	for _, c := range event.AllConstructs() {
		var sum figures
		least, most := 0, 0
		for thread := range all[c] {
			f := &all[c][thread]
			if v.single && f.count > 0 {
				line(c, f, thread, nil, nil)
			}
			sum.merge(f)
			if f.own < all[c][least].own {
				least = thread
			}
			if f.own > all[c][most].own {
				most = thread
			}
		}
		if len(all[c]) > 0 && !v.single {
			line(c, &sum, most, all[c][least].own, all[c][most].own)
		}
	}
	t.rows = append(t.rows, v.outsideRows(func(name string) []any {
		return slices.Concat([]any{nil, nil, nil, nil, name}, make([]any, len(classColumns)))
	})...)
	return t.sorted()
}

// byThread divides the time of each thread: its own work in regions, each class of overhead, and
// the time outside of regions.
func byThread(v *view) *table {
	t := &table{whole: v.whole, intro: "The time of each thread, in seconds: working in regions, overheads by class, outside of regions,\n" +
		"idle while the initial thread was outside of regions or in a smaller team.",
		columns: []column{{title: "TID", name: "thread"}, {title: "Time", name: "time_ns", kind: ns, always: true}, {title: "Work", name: "work_ns", kind: ns, always: true, own: true},
			{title: "Synch", name: "synch_ns", kind: ns}, {title: "Imbal", name: "imbal_ns", kind: ns}, {title: "Limpar", name: "limpar_ns", kind: ns},
			{title: "Mgmt", name: "mgmt_ns", kind: ns}, {title: "MPI", name: "mpi_ns", kind: ns}, {title: "NoCore", name: "no_core_ns", kind: ns},
			{title: "Outside", name: "outside_ns", kind: ns}, {title: "Idle", name: "idle_ns", kind: ns}}}
	all, idle := make([]figures, len(v.p.Threads)), make([]int64, len(v.p.Threads))
	for i := 1; i < len(v.p.Nodes); i++ {
		for j := range v.p.Nodes[i].Stats {
			all[v.p.Nodes[i].Stats[j].Thread].add(v, i, j)
		}
	}
	for _, threads := range v.idle {
		for _, w := range threads {
			idle[w.Thread] += w.Time
		}
	}
	outside := make([]analysis.Classes, len(v.p.Threads))
	for j := range v.p.Nodes[0].Stats { // calls whose regions have been taken out
		outside[v.p.Nodes[0].Stats[j].Thread] = v.classes[0][j]
	}
	for i := range all {
		f := &all[i]
		whole, work := f.own+v.serial[i]+idle[i], f.own-f.classes.Sum()
		f.classes.Add(outside[i])
		fromSerial := min(v.serial[i], outside[i].Sum())
		t.rows = append(t.rows, row{whole, slices.Concat([]any{v.Thread(v.p.Threads[i]), whole, work}, classValues(f.classes),
			[]any{v.serial[i] - fromSerial, max(0, idle[i]-outside[i].Sum()+fromSerial)}), f.estimate})
	}
	return t // in the order of the threads, as everywhere
}

// severities returns the severity of each property at each call path. Nodes of one path, which
// ranks have, count together.
func (v *view) severities() (out []analysis.Severity) {
	at := map[[2]string]int{}
	for _, s := range v.Rules.Severities(v.p) {
		k := [2]string{s.Name, v.path(s.Node)}
		if i, ok := at[k]; ok {
			out[i].Time += s.Time
			out[i].Threads = append(out[i].Threads, s.Threads...)
			continue
		}
		at[k] = len(out)
		out = append(out, s)
	}
	return out
}

// byProperty shows how severe each property is, by call path. Formats for programs have a row for
// each thread.
func byProperty(v *view) *table {
	t := &table{whole: v.whole, intro: "Severity is the share of all threads' time that a property costs at a call path. Most is the\n" +
		"longest time of a thread. IdleThreads are workers in no region, at the path of their initial thread.",
		columns: slices.Concat([]column{{title: "Severity (%)", name: "severity", kind: share, always: true}, {title: "Time", name: "time_ns", kind: ns, always: true},
			{title: "threads", kind: count}, {title: "most", kind: ns, always: true}, {title: "TID", name: "thread"},
			{title: "Property", name: "property"}, {title: "Call path"}, {name: "path"}}, placeColumns)}
	for _, s := range v.severities() {
		region, name := v.p.Nodes[s.Node].Region, ""
		if region < 0 {
			name = serialName
		}
		line := func(time int64, of analysis.ThreadCost) {
			t.rows = append(t.rows, row{time, slices.Concat([]any{v.share(time), time, uint64(len(s.Threads)), of.Time,
				v.Thread(v.p.Threads[of.Thread]), s.Name, v.pathText(s.Node), v.path(s.Node)}, v.placeValues(region, name)), nil})
		}
		if !v.single {
			line(s.Time, slices.MaxFunc(s.Threads, func(a, b analysis.ThreadCost) int { return cmp.Compare(a.Time, b.Time) }))
			continue
		}
		for _, of := range s.Threads {
			line(of.Time, of)
		}
	}
	return t.sorted()
}

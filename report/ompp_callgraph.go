package report

import (
	"cmp"
	"slices"

	"ompp-attach/analysis"
	"ompp-attach/event"
	"ompp-attach/report/words"
)

// shortName is ompP's short name of a construct, of eight characters.
func shortName(c event.Construct) string { return cmp.Or(c.Traits().Short, c.String()) }

// callgraph writes the tree of call paths. Its values are the sums of thread time divided by the
// number of threads. The root's value is the duration.
func (o *ompp) callgraph() {
	o.banner("Callgraph")
	o.printf("\n")
	rec, kids := &o.fold.rec, o.fold.kids
	wall := float64(o.p.Meta.Duration)
	rows := float64(analysis.Threads(o.p))
	if wall > 0 { // the number of threads, of which those that lived shortly count in part
		rows = max(1, float64(analysis.ThreadTime(o.p))/wall)
	}
	gap := o.wider(o.p.Meta.Duration)
	value := func(ns float64) {
		share := 0.0
		if wall > 0 {
			share = ns / wall
		}
		o.printf("%s (%s%%)", words.Decimal(ns/1e9, 7+len(gap), int(o.clock)), callgraphPercent(share))
	}

	outside := wall
	// The top has no rows that recursion joins.
	for _, k := range slices.Concat(kids[0], o.fold.folded[0]) {
		outside -= float64(analysis.Sum(&o.p.Nodes[k]).Exec.T) / rows
	}
	o.printf("%s  Inclusive  (%%)   %sExclusive  (%%)\n", gap, gap)
	o.printf("%s (100.0%%) ", words.Decimal(wall/1e9, 7+len(gap), int(o.clock)))
	value(outside)
	o.printf("%11s[%s: %s]\n", "", words.Program(o.p), words.Plural(analysis.Threads(o.p), "thread"))

	// Depth first with a stack of our own, since recursive programs have deep paths.
	type entry struct {
		node   int    // if folded, the row stands for this node's children that are left out
		lines  string // the lines that the ancestors draw before the row
		last   bool
		folded bool
	}
	var stack []entry
	push := func(node int, lines string) {
		rest := len(o.fold.folded[node]) > 0
		if rest {
			stack = append(stack, entry{node, lines, true, true})
		}
		for i := len(kids[node]) - 1; i >= 0; i-- {
			stack = append(stack, entry{kids[node][i], lines, i == len(kids[node])-1 && !rest, false})
		}
	}
	push(0, "")
	for len(stack) > 0 {
		e := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if e.folded {
			var sum float64
			for _, k := range o.fold.folded[e.node] {
				sum += float64(analysis.Sum(&o.p.Nodes[k]).Exec.T) / rows
			}
			value(sum)
			o.printf(" ")
			value(sum)
			o.printf(" %8s %s +-%s each\n", "", e.lines, joined(o.fold.below(e.node), "region"))
			continue
		}
		n := &o.p.Nodes[e.node]
		r := &o.p.Regions[n.Region]
		s := analysis.Sum(n)
		value(float64(s.Exec.T) / rows)
		o.printf(" ")
		value(float64(s.Exec.T-s.Child) / rows)
		branch, below := " |-", " | "
		if e.last {
			branch, below = " +-", "   "
		}
		o.printf(" %8s %s%sR%05d %s\n", shortName(r.Construct), e.lines, branch, n.Region+1, words.Region(r))
		if deeper := rec.below[e.node]; deeper > 0 {
			o.printf("%*s%s%s +-... recursion: %s below, %d executions\n", 42+2*len(gap), "", e.lines, below, words.Plural(deeper, "node"), rec.count[e.node])
		}
		push(e.node, e.lines+below)
	}
	o.printf("\n")
}

// callgraphPercent is percent with a third decimal for small shares, as ompP prints them in the
// callgraph.
func callgraphPercent(share float64) string {
	if share > 0 && share < 0.001 {
		return words.Decimal(100*share, 5, 3)
	}
	return percent(share)
}

// pathOf returns the nodes from the root's child down to node.
func (o *ompp) pathOf(node int) []int {
	var up []int
	for ; node > 0; node = o.p.Nodes[node].Parent {
		up = append(up, node)
	}
	slices.Reverse(up)
	return up
}

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
	t := &callTree{ompp: o, wall: float64(o.p.Meta.Duration), rows: float64(analysis.Threads(o.p)), gap: o.Wider(o.p.Meta.Duration)}
	if t.wall > 0 { // the number of threads, of which those that lived shortly count in part
		t.rows = max(1, float64(analysis.ThreadTime(o.p))/t.wall)
	}
	t.root()
	t.push(0, "")
	for len(t.stack) > 0 {
		e := t.stack[len(t.stack)-1]
		t.stack = t.stack[:len(t.stack)-1]
		if e.unshown {
			t.unshownRow(&e)
		} else {
			t.row(&e)
		}
	}
	o.printf("\n")
}

// callTree writes the rows of the tree depth first, with a stack of its own: recursive programs
// have deep paths.
type callTree struct {
	*ompp
	wall  float64 // the program's duration, ns
	rows  float64 // number of threads
	gap   string  // by which wide numbers widen the columns
	stack []callRow
}

// callRow is a row that is still to be written.
type callRow struct {
	node    int    // if unshown, the row stands for this node's children that are left out
	lines   string // the lines that the ancestors draw before the row
	last    bool
	unshown bool
}

// value writes a time (ns) and its share of the duration.
func (t *callTree) value(ns float64) {
	share := 0.0
	if t.wall > 0 {
		share = ns / t.wall
	}
	t.printf("%s (%s%%)", words.Decimal(ns/1e9, 7+len(t.gap), int(t.Clock)), callgraphPercent(share))
}

// root writes the titles and the program's row.
func (t *callTree) root() {
	outside := t.wall
	// The top has no rows that recursion joins.
	for _, k := range slices.Concat(t.outline.kids[0], t.outline.unshown[0]) {
		outside -= float64(analysis.Sum(&t.p.Nodes[k]).Exec.T) / t.rows
	}
	t.printf("%s  Inclusive  (%%)   %sExclusive  (%%)\n", t.gap, t.gap)
	t.printf("%s (100.0%%) ", words.Decimal(t.wall/1e9, 7+len(t.gap), int(t.Clock)))
	t.value(outside)
	t.printf("%11s[%s: %s]\n", "", words.Program(t.p), words.Plural(analysis.Threads(t.p), "thread"))
}

// push puts a node's children on the stack, the first one on top.
func (t *callTree) push(node int, lines string) {
	kids := t.outline.kids[node]
	rest := len(t.outline.unshown[node]) > 0
	if rest {
		t.stack = append(t.stack, callRow{node, lines, true, true})
	}
	for i := len(kids) - 1; i >= 0; i-- {
		t.stack = append(t.stack, callRow{kids[i], lines, i == len(kids)-1 && !rest, false})
	}
}

// unshownRow writes a row for the children of a node that are left out.
func (t *callTree) unshownRow(e *callRow) {
	var sum float64
	for _, k := range t.outline.unshown[e.node] {
		sum += float64(analysis.Sum(&t.p.Nodes[k]).Exec.T) / t.rows
	}
	t.value(sum)
	t.printf(" ")
	t.value(sum)
	t.printf(" %8s %s +-%s each\n", "", e.lines, joined(t.outline.below(e.node), "region"))
}

// row writes a node's row, and puts the node's children on the stack.
func (t *callTree) row(e *callRow) {
	n := &t.p.Nodes[e.node]
	r := &t.p.Regions[n.Region]
	s := analysis.Sum(n)
	t.value(float64(s.Exec.T) / t.rows)
	t.printf(" ")
	t.value(float64(s.Exec.T-s.Child) / t.rows)
	branch, below := " |-", " | "
	if e.last {
		branch, below = " +-", "   "
	}
	t.printf(" %8s %s%sR%05d %s\n", shortName(r.Construct), e.lines, branch, n.Region+1, words.Region(r))
	rec := &t.outline.rec
	if deeper := rec.below[e.node]; deeper > 0 {
		t.printf("%*s%s%s +-... recursion: %s below, %d executions\n", 42+2*len(t.gap), "", e.lines, below, words.Plural(deeper, "node"), rec.count[e.node])
	}
	t.push(e.node, e.lines+below)
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

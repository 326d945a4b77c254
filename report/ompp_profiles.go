package report

import (
	"fmt"
	"slices"
	"unicode/utf8"

	"ompp-attach/analysis"
	"ompp-attach/event"
	"ompp-attach/profile"
	"ompp-attach/report/words"
)

// column describes one column of the per-thread tables.
type column struct {
	title string
	time  func(*analysis.ThreadFigures) int64   // ns; nil: no time
	count func(*analysis.ThreadFigures) uint64  // nil: no count
	bytes func(*ompp, *profile.MPIStats) uint64 // of a volume; then time and count are nil
	each  bool                                  // the volume is that of a single call
	// nested says that the time may hold regions inside. The callgraph profiles split such a time
	// into inclusive (/I) and exclusive (/E).
	nested bool
	// body says that the time is that of the construct without its barrier.
	body bool
	// task says that the column is only for profiles with tasks.
	task bool
	// text is for a counter, which is split as nested says, or for an evaluator; then time, count
	// and bytes are nil.
	text  func(r *analysis.ThreadFigures, exclusive bool) string
	width int
}

// inside is the part of a column's time that regions inside took. Tasks that were executed in a
// construct's barrier are no part of its body.
func (c *column) inside(r *analysis.ThreadFigures) int64 {
	if c.body {
		return r.Child - r.Task
	}
	return r.Child
}

// ownColumns are the columns of ompP by title. ompP gives a figure a title for each construct.
var ownColumns = map[string]column{
	"execT": timeOf(profile.Exec), "execC": {count: func(r *analysis.ThreadFigures) uint64 { return r.Exec.C }},
	"enterT": timeOf(profile.Enter), "startupT": timeOf(profile.Enter), "queueT": timeOf(profile.Enter),
	"bodyT": timeOf(profile.Body), "sectT": timeOf(profile.Body), "singleT": timeOf(profile.Body),
	"sectC": {count: bodies}, "singleC": {count: bodies}, "teamC": {count: bodies},
	"partC":    {count: bodies}, // parts of a task's execution
	"cancelC":  {count: bodies}, // executions that cancelled, or were cancelled
	"exitBarT": {time: func(r *analysis.ThreadFigures) int64 { return r.Barrier.T - r.Task }},
	"waitT":    timeOf(profile.Barrier), // at the end of a taskgroup with nothing to execute
	"exitT":    timeOf(profile.Exit), "shutdwnT": timeOf(profile.Exit),
	"mgmtT": {time: func(r *analysis.ThreadFigures) int64 { return r.Mgmt }},
	"taskT": {time: func(r *analysis.ThreadFigures) int64 { return r.Task }, task: true},
}

func bodies(r *analysis.ThreadFigures) uint64 { return r.Body.C }

func timeOf(p profile.Part) column {
	return column{time: func(r *analysis.ThreadFigures) int64 { return r.Parts()[p].T }, body: p == profile.Body}
}

// columnsOf returns the columns of a construct's table. The time that may hold regions inside is
// that of the body, or the whole time of a construct without phases.
func columnsOf(c event.Construct) []column {
	form := c.Form()
	var out []column
	holds := 0
	for i, title := range append([]string{"execT", "execC"}, form.Columns...) {
		col := ownColumns[title]
		col.title = title
		if col.body {
			holds = i
		}
		out = append(out, col)
	}
	out[holds].nested = !form.Leaf
	return out
}

// flatProfiles writes the profiles by region.
func (o *ompp) flatProfiles() {
	o.banner("Flat Region Profile (inclusive data)")
	others := 0
	for _, b := range analysis.Flat(o.p) {
		if !o.outline.regions[b.Region] {
			others++
			continue
		}
		o.printf("%s\n", words.Label(o.p, b.Region))
		o.table(&b, false)
		o.printf("\n")
	}
	o.rest(others, "region")
}

// rest says how many blocks of a section are left out, if any.
func (o *ompp) rest(n int, noun string) {
	if n > 0 {
		o.printf("... %s of the time (--all shows them).\n\n", joined(n, noun))
	}
}

// callgraphProfiles writes the profiles by call path: one block per node, headed by its path.
func (o *ompp) callgraphProfiles() {
	o.banner("Callgraph Region Profiles (incl./excl. data)")
	o.printf("\n")
	rec, kids := &o.outline.rec, o.outline.kids
	blocks := analysis.NodeBlocks(o.p)
	for _, node := range depthFirst(kids) {
		if node == 0 {
			continue
		}
		o.printf("[*00] %s\n", words.Program(o.p))
		for level, i := range o.pathOf(node) {
			sign := "+"
			if len(kids[i])+len(o.outline.unshown[i]) == 0 {
				sign = "="
			}
			o.printf("[%s%02d] %s\n", sign, level+1, words.Label(o.p, o.p.Nodes[i].Region))
		}
		o.table(&blocks[node], true)
		o.printf("\n")
	}
	o.rest(o.outline.hidden, "node")
	if n := rec.total(); n > 0 {
		o.printf("%s of recursive regions deeper than %d levels: see the recorded profile.\n\n", words.Plural(n, "node"), shownDepth)
	}
	o.printf("\n")
}

// table writes the rows of a block and their sum. If split is set, times that may hold regions
// inside appear inclusive and exclusive.
func (o *ompp) table(b *analysis.Block, split bool) {
	construct := o.p.Regions[b.Region].Construct
	columns := columnsOf(construct)
	if !o.All && !o.tasks {
		columns = slices.DeleteFunc(columns, func(c column) bool { return c.task })
	}
	columns = slices.Concat(columns, o.counterColumns(split))
	if m := b.Sum.MPI; m != nil {
		columns = slices.Concat(columns, mpiColumns(construct, m))
	}
	head, widths := []string{"TID"}, []int{o.tid}
	for _, c := range columns {
		width := max(10, c.width)
		if split && c.nested {
			head, widths = append(head, c.title+"/I", c.title+"/E"), append(widths, width, width)
		} else {
			head, widths = append(head, c.title), append(widths, width)
		}
	}
	rows := [][]string{head}
	for i := range b.Rows {
		rows = append(rows, o.row(words.Thread(o.p.Threads[b.Rows[i].Thread]), columns, &b.Rows[i], split))
	}
	rows = append(rows, o.row("SUM", columns, &b.Sum, split))
	most := mostWidth
	if o.All {
		most = 0
	}
	o.aligned(rows, widths, most)
}

// mostWidth is the number of characters that a line of a region's table has at most, so that it
// fits a terminal.
const mostWidth = 100

// aligned writes lines of cells, each right-aligned in its column, which has at least the given
// width. A table that is wider than most characters goes on below, with its first column again; 0:
// no table does, as in ompP's reports.
func (o *ompp) aligned(rows [][]string, widths []int, most int) {
	for _, r := range rows {
		for i, cell := range r {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for begin := 1; begin < len(widths); {
		end, width := begin, widths[0]
		for end < len(widths) && (end == begin || most == 0 || width+1+widths[end] <= most) {
			width += 1 + widths[end]
			end++
		}
		for _, r := range rows {
			o.printf("%*s", widths[0], r[0])
			for i := begin; i < end; i++ {
				o.printf(" %*s", widths[i], r[i])
			}
			o.printf("\n")
		}
		begin = end
	}
}

// showsTasks tells whether threads executed tasks while waiting, or may have done so unseen.
func showsTasks(p *profile.Profile) bool {
	return p.Meta.HasTasks || slices.ContainsFunc(p.Nodes, func(n profile.Node) bool {
		return slices.ContainsFunc(n.Stats, func(s profile.ThreadStats) bool { return s.Task != 0 || s.Tasks != 0 })
	})
}

func (o *ompp) row(tid string, columns []column, r *analysis.ThreadFigures, split bool) []string {
	cells := []string{tid}
	for _, c := range columns {
		switch {
		case c.text != nil:
			cells = append(cells, c.text(r, false))
			if split && c.nested {
				cells = append(cells, c.text(r, true))
			}
		case c.bytes != nil:
			cells = append(cells, volumeText(o, &c, r.MPI))
		case c.count != nil:
			cells = append(cells, marked(fmt.Sprint(c.count(r)), r.Estimate))
		case c.task && o.p.Meta.HasTasks:
			cells = append(cells, "-") // the program has tasks, unmeasured: no zero
		default:
			cells = append(cells, marked(o.Seconds(c.time(r), 0), r.Estimate))
			if split && c.nested {
				cells = append(cells, markedExclusive(o.Seconds(c.time(r)-c.inside(r), 0), r.Estimate))
			}
		}
	}
	return cells
}

// depthFirst returns the nodes in the order of the callgraph.
func depthFirst(kids [][]int) []int {
	order := make([]int, 0, len(kids))
	stack := []int{0}
	for len(stack) > 0 {
		n := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		order = append(order, n)
		for i := len(kids[n]) - 1; i >= 0; i-- {
			stack = append(stack, kids[n][i])
		}
	}
	return order
}

package report

import (
	"cmp"
	"fmt"
	"slices"

	"ompp-attach/analysis"
	"ompp-attach/profile"
	"ompp-attach/report/words"
)

// little is the share of all threads' time below which the text report leaves rows out and counts
// them in one line.
const little = 0.001

// Order is how the callgraph is sorted.
type Order string

// The orders of the callgraph.
const (
	ByTime   Order = "time"
	BySource Order = "source"
)

// Orders lists the orders, the default first.
var Orders = []Order{ByTime, BySource}

// outline says which rows a text report shows one by one, and in which order.
type outline struct {
	kids    [][]int // shown children of each node
	unshown [][]int // children that are not shown, without those that recursion joins
	regions []bool  // by region: shown in the tables of regions
	hidden  int     // number of nodes that are not shown
	rec     recursion
}

// findOutline finds the rows to leave out: those that take little time and hold nothing that takes
// more. A row is shown nevertheless if it lost events, or was not observed all of the time. It is
// also shown if it would be the only one left out.
func findOutline(p *profile.Profile, o Options) *outline {
	f := &outline{rec: findRecursion(p), regions: make([]bool, len(p.Regions)), unshown: make([][]int, len(p.Nodes))}
	f.kids = f.rec.shown(analysis.Children(p))
	lossy := map[int]bool{}
	for _, l := range p.Lost {
		lossy[l.Region] = true
	}
	time, all := make([]int64, len(p.Nodes)), analysis.ThreadTime(p)
	shown := make([]bool, len(p.Nodes))
	var most int64
	for i := 1; i < len(p.Nodes); i++ {
		time[i] = analysis.Sum(&p.Nodes[i]).Exec.T
		most = max(most, time[i])
	}
	// The program does nearly nothing, so everything is of interest.
	if float64(most) < little*float64(all) {
		o.All = true
	}
	for i := len(p.Nodes) - 1; i > 0; i-- {
		n := &p.Nodes[i]
		sum := analysis.Sum(n)
		if o.All || sum.Estimate != nil || lossy[n.Region] || p.Regions[n.Region].Lossy > 0 || float64(time[i]) >= little*float64(all) {
			shown[i] = true
		}
		if shown[i] {
			shown[n.Parent] = true
		}
	}
	for i, kids := range f.kids {
		if o.Sort != BySource {
			slices.SortStableFunc(kids, func(a, b int) int { return cmp.Compare(time[b], time[a]) })
		}
		var show, rest []int
		for _, k := range kids {
			if shown[k] {
				show = append(show, k)
			} else {
				rest = append(rest, k)
			}
		}
		if len(rest) == 1 && len(f.kids[rest[0]]) == 0 && (i == 0 || shown[i]) {
			shown[rest[0]] = true
			show, rest = kids, nil
		}
		f.kids[i], f.unshown[i] = show, rest
	}
	f.markRegions(p, shown)
	return f
}

// markRegions notes which regions have a row that is shown, and counts the other rows.
func (f *outline) markRegions(p *profile.Profile, shown []bool) {
	count := 0
	for i := 1; i < len(p.Nodes); i++ {
		switch {
		case shown[i]:
			f.regions[p.Nodes[i].Region] = true
		case !f.rec.hidden[i]:
			f.hidden++
		}
	}
	for _, s := range f.regions {
		if !s {
			count++
		}
	}
	if count == 1 {
		f.regions[slices.Index(f.regions, false)] = true
	}
}

// joined is the text for n rows that are not shown one by one.
func joined(n int, noun string) string { return "and " + belowLittle(n, noun) }

func belowLittle(n int, noun string) string {
	return fmt.Sprintf("%s below %s %%", words.Plural(n, noun), words.Decimal(100*little, 0, 1))
}

// below counts a node's children that are left out, with all nodes below them.
func (f *outline) below(node int) (n int) {
	stack := slices.Clone(f.unshown[node])
	for len(stack) > 0 {
		at := stack[len(stack)-1]
		stack = append(stack[:len(stack)-1], f.kids[at]...)
		stack = append(stack, f.unshown[at]...)
		n++
	}
	return n
}

// shownOf returns the regions that are shown, and the number of the others.
func (f *outline) shownOf(regions []int) (shown []int, others int) {
	for _, r := range regions {
		if f.regions[r] {
			shown = append(shown, r)
		}
	}
	return shown, len(regions) - len(shown)
}

package page

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"ompp-attach/report"
	"ompp-attach/severity"
)

// TestTrees: the page holds all severities, each at its place in three trees.
func TestTrees(t *testing.T) {
	p := report.Options{}.View(solver())
	c := severity.Of(p, severity.Options{})
	x := treesOf(c)
	if len(x.Values) != 4*len(c.Values) || x.Coarse != "" {
		t.Fatalf("%d of %d values", len(x.Values)/4, len(c.Values))
	}
	for i, v := range c.Values {
		q := x.Values[4*i : 4*i+4]
		if x.Properties[q[0]].Name != c.Properties[v.Property].Name || int(q[1]) != v.Path || q[3] != v.V ||
			x.Locations[q[2]].Name != fmt.Sprintf("thread %d", c.Threads[v.Thread].Num) {
			t.Errorf("value %d is %v, want %v", i, q, v)
		}
	}
	for i, l := range x.Locations {
		if l.Parent >= i {
			t.Errorf("location %d precedes its parent", i)
		}
	}
	f := c.Findings()[0]
	if x.Worst == nil || x.Properties[x.Worst[0]].Name != c.Properties[f.Property].Name || x.Worst[1] != f.Path {
		t.Errorf("the worst is %v, want %v", x.Worst, f)
	}
	if treesOf(nil) != nil {
		t.Error("a job that was read without severities has trees")
	}
	j := ofSeverities(t)
	// Four hosts, six ranks, and two threads in each.
	if len(j.Locations) != 1+4+6+6*2 || j.Locations[6] != (TreeLocation{1, "rank 1"}) || j.Locations[22] != (TreeLocation{10, "thread 1"}) {
		t.Errorf("locations of a job: %v", j.Locations)
	}
}

func ofSeverities(t *testing.T) *Trees {
	t.Helper()
	j, err := ofJob(figure9Job(t), report.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return j.Trees
}

// TestManySeverities: the page of a large job has the values of processes, not of threads.
func TestManySeverities(t *testing.T) {
	one := severity.Of(report.Options{}.View(solver()), severity.Options{})
	s := severity.NewSum(severity.MostValues)
	number := make([]int, len(one.Regions))
	for i := range number {
		number[i] = i
	}
	for r := range 600 {
		c := *one
		c.Processes = []severity.Process{{Rank: r, Host: "n"}}
		s.Add(&c, number)
	}
	c := s.Finish(one.Regions, number)
	if len(c.Values) <= mostSeverities {
		t.Fatalf("only %d values", len(c.Values))
	}
	x := treesOf(c)
	var sum, want int64
	for i := 0; i < len(x.Values); i += 4 {
		if x.Properties[x.Values[i]].Unit == "sec" {
			sum += x.Values[i+3]
		}
	}
	for _, v := range c.Values {
		if c.Properties[v.Property].Unit == severity.Seconds {
			want += v.V
		}
	}
	if x.Coarse == "" || len(x.Values)/4 > mostSeverities || sum != want {
		t.Errorf("%q: %d values of %d ns, want %d ns", x.Coarse, len(x.Values)/4, sum, want)
	}
}

// TestTreesInBrowser: the trees right of a selection show how the selection is distributed. An
// expanded row shows the rest that the rows below it do not have.
func TestTreesInBrowser(t *testing.T) {
	b := openBrowser(t)
	p := solver()
	file := save(t, "profile.html", func(w io.Writer) error { return WriteProcess(w, p, report.Options{}) })
	c := severity.Of(report.Options{}.View(p), severity.Options{})
	b.show(t, file, 1400, "light")
	// row returns the value that a tree shows for a name.
	row := func(tree int, name string) string {
		return ask[string](t, b, fmt.Sprintf(`[...document.querySelectorAll("#trees .column")[%d].querySelectorAll("[role=treeitem]")]
			.find((e) => e.querySelector(".tname").textContent === %q)?.querySelector(".tval").textContent ?? "none"`, tree, name))
	}
	click := func(tree int, name, part string) {
		t.Helper()
		if !ask[bool](t, b, fmt.Sprintf(`(() => { const e = [...document.querySelectorAll("#trees .column")[%d].querySelectorAll("[role=treeitem]")]
			.find((e) => e.querySelector(".tname").textContent === %q)?.querySelector(%q); e?.click(); return !!e; })()`, tree, name, part)) {
			t.Fatalf("tree %d has no %s", tree, name)
		}
	}
	if got := row(0, "Time"); got != seconds(0) { // expanded: the properties below have all of it
		t.Errorf("Time is %s", got)
	}
	// A collapsed row is inclusive.
	click(0, "Time", ".twist")
	click(0, "Time", ".tname")
	if got, want := row(0, "Time"), seconds(c.Total(severity.Time)); got != want {
		t.Errorf("Time is %s, want %s", got, want)
	}
	// With the whole program selected, all the time is distributed over threads.
	path := ask[string](t, b, `document.querySelectorAll("#trees .column")[1].querySelector(".tname").textContent`)
	click(1, path, ".twist")
	click(1, path, ".tname")
	var first int64
	for i := range c.Properties {
		if !c.Below(i, c.Property(severity.Time)) {
			continue
		}
		for _, v := range c.Of(i) {
			if v.Thread == 0 {
				first += v.V
			}
		}
	}
	if got := row(2, "thread 0"); got != seconds(first) {
		t.Errorf("thread 0 has %s, want %s", got, seconds(first))
	}
	// Keys: right expands, down selects the row below.
	b.run(t, "keys", chromedp.Focus(`#trees .column .rows`), chromedp.KeyEvent(kb.ArrowRight), chromedp.KeyEvent(kb.ArrowDown))
	if got := ask[string](t, b, `document.querySelector("#trees .column [aria-selected=true] .tname").textContent`); got != "Execution" {
		t.Errorf("the keys selected %q", got)
	}
	if text := ask[string](t, b, `document.querySelector("#trees figure > p").textContent`); !strings.Contains(text, seconds(c.Total(severity.Execution))) {
		t.Errorf("the text below says %q", text)
	}
}

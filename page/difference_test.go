package page

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"ompp-attach/compare"
	"ompp-attach/compare/comparetest"
	"ompp-attach/event"
	"ompp-attach/report/difference"
)

// heat is a program with loops in a parallel region, serial code, and a counter.
func heat() comparetest.Program {
	p := comparetest.Heat()
	p.Counter = true
	const ms = 1e6
	p.Loops = append(p.Loops, comparetest.Loop{Function: "relax", Begin: 120, End: 190, Work: 20 * ms, Construct: event.Parallel})
	outer := len(p.Loops)
	p.Loops = append(p.Loops, comparetest.Loop{Function: "relax", Begin: 130, End: 140, Work: 220 * ms, Construct: event.Loop, In: outer},
		comparetest.Loop{Function: "relax", Begin: 150, End: 160, Work: 110 * ms, Construct: event.Loop, In: outer})
	return p
}

// changedHeat is heat after a change: two loops are slower, one is faster, one is gone, one is new.
func changedHeat() comparetest.Program {
	p := heat().Shift(50, 4).Slow(2, 1.12).Slow(8, 1.3).Slow(3, 0.8)
	p.Loops[5].Function, p.Loops[5].Construct, p.Loops[5].Begin, p.Loops[5].End = "check", event.Single, 210, 214
	return p
}

// compared compares so many runs of heat before and after the change.
func compared(t testing.TB, n int) *compare.Comparison {
	random := rand.New(rand.NewPCG(15, 9))
	return compare.Compare(heat().Runs(t, random, n), changedHeat().Runs(t, random, n), compare.Options{})
}

func saveDifference(t *testing.T, c *compare.Comparison, violations ...compare.Violation) string {
	return save(t, "diff.html", func(w io.Writer) error { return WriteDifference(w, c, violations) })
}

// TestDifferenceSelfContained: the page holds the JSON of diff, and loads nothing.
func TestDifferenceSelfContained(t *testing.T) {
	c := compared(t, 8)
	var page, own bytes.Buffer
	if err := WriteDifference(&page, c, nil); err != nil {
		t.Fatal(err)
	}
	if err := difference.WriteJSON(&own, c, nil); err != nil {
		t.Fatal(err)
	}
	var x Difference
	if err := json.Unmarshal(figuresIn(t, page.String()), &x); err != nil {
		t.Fatal(err)
	}
	if compact(t, x.Figures) != compact(t, own.Bytes()) {
		t.Error("the page's figures are not those of the format json")
	}
	if page.Len() > 1<<20 {
		t.Errorf("the page has %d bytes", page.Len())
	}
}

// TestDifferencePhotographs opens the page with repeats and without, wide and narrow, light and
// dark.
func TestDifferencePhotographs(t *testing.T) {
	b := openBrowser(t)
	repeated := compared(t, 12)
	condition, err := compare.ParseCondition("R:solve own > 5%", nil)
	if err != nil {
		t.Fatal(err)
	}
	violations, err := repeated.Check(condition)
	if err != nil || len(violations) == 0 {
		t.Fatal(violations, err)
	}
	for name, file := range map[string]string{"diff": saveDifference(t, repeated, violations...), "diff-single": saveDifference(t, compared(t, 1))} {
		looks(func(width int64, scheme string) { b.look(t, name, file, width, scheme) })
		b.run(t, "print", emulation.SetEmulatedMedia().WithMedia("print"))
		b.photograph(t, name+"-print")
		b.run(t, "screen", emulation.SetEmulatedMedia().WithMedia(""))
		if missing := ask[[]string](t, b, `[...document.querySelectorAll("nav.top a")].map((a) => a.hash).filter((h) => !document.querySelector(h))`); len(missing) > 0 {
			t.Errorf("%s: no sections %q", name, missing)
		}
	}
}

// bounds returns the least and the greatest difference that the intervals of both medians allow.
func bounds(x compare.Change) (least, most float64) {
	before, after := x.Sides[compare.Before], x.Sides[compare.After]
	return after.Lo - before.Hi, after.Hi - before.Lo
}

// TestDifferenceNumbers: bars, boxes and texts of the page show the numbers of the comparison.
func TestDifferenceNumbers(t *testing.T) {
	b := openBrowser(t)
	c := compared(t, 12)
	b.show(t, saveDifference(t, c), 1400, "light")
	if got := ask[string](t, b, `document.querySelector("h1").textContent`); got != difference.Headline(c) {
		t.Errorf("headline %q, want %q", got, difference.Headline(c))
	}
	for _, side := range []int{compare.Before, compare.After} {
		drawn := ask[map[string]float64](t, b, fmt.Sprintf(`Object.fromEntries([...document.querySelectorAll("#overview .twobars .bar")[%d].querySelectorAll("rect[data-ns]")].map((r) => [r.getAttribute("class").match(/c-(\w+)/)[1], +r.dataset.ns]))`, side))
		for _, class := range classes {
			if want := c.Quantity(class.key).Change.Sides[side].Median; drawn[class.key] != want {
				t.Errorf("side %d, %s: %v drawn, want %v", side, class.key, drawn[class.key], want)
			}
		}
	}
	type bar struct {
		Name            string
		Delta, X, Width float64
		Slower, Sure    bool
		Swing           []float64
	}
	bars := ask[[]bar](t, b, `[...document.querySelectorAll("#regions tbody > tr")].map((tr) => { const r = tr.querySelector(".delta rect"); return {
		Name: tr.cells[0].textContent, Delta: +tr.querySelector(".delta").dataset.delta, X: +r?.getAttribute("x"), Width: +r?.getAttribute("width"),
		Slower: r?.classList.contains("slower") ?? false, Sure: !r?.classList.contains("unsure"), Swing: ["x1", "x2"].map((x) => +tr.querySelector(".whisker")?.getAttribute(x))}; })`)
	if len(bars) != len(c.Regions) {
		t.Fatalf("%d bars for %d regions", len(bars), len(c.Regions))
	}
	reach := 0.0
	for _, r := range c.Regions {
		least, most := bounds(r.Change(compare.OwnT))
		reach = max(reach, math.Abs(least), math.Abs(most))
	}
	if greatest := math.Abs(c.Regions[0].Change(compare.OwnT).Delta()); reach <= greatest {
		t.Errorf("no whisker reaches farther than the greatest bar, %v", greatest)
	}
	sure := 0
	for i, r := range c.Regions {
		x, name := r.Change(compare.OwnT), compare.Title(r.Any())
		if r.New() {
			name += " new"
		} else if r.Gone() {
			name += " gone"
		}
		if r.Changed() {
			sure++
		}
		g := bars[i]
		if strings.Join(strings.Fields(g.Name), " ") != strings.Join(strings.Fields("▸ "+name), " ") && strings.TrimSpace(g.Name) != name {
			t.Errorf("row %d is %q, want %q", i, g.Name, name)
		}
		if g.Delta != x.Delta() || x.Delta() != 0 && (g.Slower != (x.Delta() > 0) || g.Sure != r.Changed() ||
			math.Abs(g.Width-max(1, 490*math.Abs(x.Delta())/reach)) > 1e-6 || (x.Delta() > 0 && g.X != 500)) {
			t.Errorf("%s: drawn %+v, the change is %v", name, g, x.Delta())
		}
		least, most := bounds(x)
		if math.Abs(g.Swing[0]-(500+490*least/reach)) > 1e-6 || math.Abs(g.Swing[1]-(500+490*most/reach)) > 1e-6 {
			t.Errorf("%s: a whisker of %v, the difference is between %v and %v", name, g.Swing, least, most)
		}
	}
	if sure < 4 {
		t.Errorf("only %d regions changed by more than noise", sure)
	}
	boxes := ask[map[string]float64](t, b, `Object.fromEntries([...document.querySelectorAll(".icicle .node")].map((g) => [g.dataset.id, +g.dataset.delta]))`)
	nested := 0
	for id, p := range c.Paths {
		if got, drawn := boxes[fmt.Sprint(id)]; drawn && got != p.Inclusive().Delta() {
			t.Errorf("path %d: %v drawn, want %v", id, got, p.Inclusive().Delta())
		}
		if p.Parent > 0 {
			nested++
		}
	}
	if len(boxes) < 9 || nested != 2 {
		t.Errorf("%d boxes, %d nested paths", len(boxes), nested)
	}
	// With the keyboard: into the first path, and back.
	b.run(t, "keys", chromedp.Focus(".icicle .node", chromedp.ByQuery), chromedp.KeyEvent(kb.ArrowDown), chromedp.KeyEvent(kb.Enter))
	if zoomed := ask[int](t, b, `document.querySelectorAll(".icicle .node").length`); zoomed >= len(boxes) {
		t.Errorf("%d boxes after zooming into a path, %d before", zoomed, len(boxes))
	}
}

// TestDifferenceHostile: names of the measured program run nothing.
func TestDifferenceHostile(t *testing.T) {
	b := openBrowser(t)
	p := heat()
	p.Name = "he</script><script>alert(1)</script>at\xff"
	p.Loops[0].Function = `<img src=x onerror=alert(1)>"'`
	p.Loops[0].Work *= 2
	b.show(t, saveDifference(t, compare.Compare(heat().Runs(t, nil, 1), p.Runs(t, nil, 1), compare.Options{})), 1400, "light")
	ask[any](t, b, openAll)
	if n := ask[int](t, b, `document.querySelectorAll("img, script").length`); n != 2 {
		t.Errorf("%d scripts and images, want the page's two", n)
	}
	if text := ask[string](t, b, "document.body.innerText"); !strings.Contains(text, "<img src=x onerror=alert(1)>") {
		t.Error("the name is not shown")
	}
}

// TestDifferenceWithoutScripts: without scripts the page has tables.
func TestDifferenceWithoutScripts(t *testing.T) {
	b := openBrowser(t)
	file := saveDifference(t, compared(t, 12))
	b.run(t, "open", emulation.SetScriptExecutionDisabled(true), chromedp.EmulateViewport(1400, 900), chromedp.Navigate("file://"+file), chromedp.WaitVisible("#static", chromedp.ByQuery))
	b.photograph(t, "diff-without-scripts")
	var tables []string
	b.run(t, "text", chromedp.Evaluate(`[...document.querySelectorAll("#static table")].map((e) => e.checkVisibility() ? e.innerText : "")`, &tables))
	if len(tables) != 2 || !strings.Contains(tables[0], "wall") || !strings.Contains(tables[1], "LOOP heat.c (134-144) in relax") || !strings.Contains(tables[1], "new") {
		t.Errorf("tables %q", tables)
	}
}

// TestDifferenceTitles: the title says the result, with repeats and without.
func TestDifferenceTitles(t *testing.T) {
	oftener := heat()
	oftener.Loops[2].Count = 7
	for _, tt := range []struct {
		c    *compare.Comparison
		want string
	}{
		{compared(t, 12), "B takes"},
		{compared(t, 1), "1 run of each side cannot tell that from noise."},
		{compare.Compare(heat().Runs(t, nil, 1), heat().Runs(t, nil, 1), compare.Options{}), "B took as long as A"},
		{compare.Compare(heat().Runs(t, nil, 12), oftener.Runs(t, nil, 12), compare.Options{}), "B executes 1 region more or less often than A."},
		{compare.Compare(heat().Runs(t, nil, 12), heat().Runs(t, nil, 12), compare.Options{}), "No difference of time between A and B is more than the spread of the repeats.<"},
	} {
		var page bytes.Buffer
		if err := WriteDifference(&page, tt.c, nil); err != nil {
			t.Fatal(err)
		}
		if got := difference.Headline(tt.c); !strings.Contains(got+"<", tt.want) || !strings.Contains(page.String(), "<title>"+got) {
			t.Errorf("%q, want %q", got, tt.want)
		}
	}
}

package page

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"ompp-attach/job"
	"ompp-attach/profile"
	"ompp-attach/report"
)

func save(t *testing.T, name string, write func(io.Writer) error) string {
	t.Helper()
	var b bytes.Buffer
	if err := write(&b); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

func saveJob(t *testing.T, j *job.Job) string {
	return save(t, "job.html", func(w io.Writer) error { return WriteJob(w, j, report.Options{}) })
}

// TestPhotographs opens every view of a process and of jobs, wide and narrow, light and dark.
func TestPhotographs(t *testing.T) {
	if testing.Short() {
		t.Skip("opens every view")
	}
	b := openBrowser(t)
	p := withSource(t, solver())
	pages := map[string]string{
		"process": save(t, "profile.html", func(w io.Writer) error { return WriteProcess(w, p, report.Options{}) }),
		"job":     saveJob(t, figure9Job(t)),
		"smg":     saveJob(t, smgJob(t)),
		"traffic": saveJob(t, exchangeJob(t, 16)),
		"rank":    save(t, "profile.html", func(w io.Writer) error { return WriteProcess(w, exchanging(0, 16), report.Options{}) }),
	}
	for name, file := range pages {
		looks(func(width int64, scheme string) { b.look(t, name, file, width, scheme) })
		if lines := ask[string](t, b, `document.querySelector(".source")?.innerText ?? ""`); name == "process" && !strings.Contains(lines, "for (int i = 0; i < 27; i++)") {
			t.Errorf("the source text is %q", lines)
		}
		b.run(t, "print", emulation.SetEmulatedMedia().WithMedia("print"))
		b.photograph(t, name+"-print")
		b.run(t, "screen", emulation.SetEmulatedMedia().WithMedia(""))
		missing := ask[[]string](t, b, `[...document.querySelectorAll("nav.top a")].map((a) => a.hash).filter((h) => !document.querySelector(h))`)
		if len(missing) > 0 {
			t.Errorf("%s: no sections %q", name, missing)
		}
	}
}

// TestNumbersInPage: the page shows the numbers of the figures.
func TestNumbersInPage(t *testing.T) {
	b := openBrowser(t)
	p := solver()
	file := save(t, "profile.html", func(w io.Writer) error { return WriteProcess(w, p, report.Options{}) })
	x := process(p, report.Options{})
	b.show(t, file, 1400, "light")
	drawn := ask[map[string]int64](t, b, `Object.fromEntries([...document.querySelectorAll("#overview [data-class]")].map((e) => [e.dataset.class, Number(e.dataset.ns)]))`)
	for _, c := range classes {
		if got, want := drawn[c.key], c.of(&x.Whole); got != want {
			t.Errorf("%s of the whole: %d in the page, %d in the figures", c.key, got, want)
		}
	}
	type shownRow struct {
		Cells []string
		Parts []int64
	}
	rows := ask[[]shownRow](t, b, `[...document.querySelectorAll("#regions tbody > tr:not(.panel)")].map((tr) => ({
		Cells: [...tr.cells].map((c) => c.textContent.trim()), Parts: [...tr.querySelectorAll("rect[data-ns]")].map((r) => Number(r.dataset.ns))}))`)
	if len(rows) != len(x.Regions) {
		t.Fatalf("%d rows for %d regions", len(rows), len(x.Regions))
	}
	for k, r := range x.ByTime() {
		got := rows[k]
		var sum int64
		for _, part := range got.Parts {
			sum += part
		}
		want := []string{fmt.Sprintf("R%05d", r.Number), r.Construct.String(), r.Place, "", seconds(r.Exclusive)}
		for i, text := range want {
			if got.Cells[i] != text {
				t.Errorf("row %d: %q, want %q", k, got.Cells[i], text)
			}
		}
		if sum != r.Own.Sum() || got.Cells[7] != seconds(r.Inclusive) {
			t.Errorf("row %d: parts %d of %d, inclusive %s of %s", k, sum, r.Own.Sum(), got.Cells[7], seconds(r.Inclusive))
		}
	}
	findings := ask[[]string](t, b, `[...document.querySelectorAll(".finding h3")].map((e) => e.textContent)`)
	for i, text := range findings {
		if text != x.Findings[i].Says+"." {
			t.Errorf("finding %d: %q, want %q", i, text, x.Findings[i].Says)
		}
	}
}

// TestFigure8: two regions over eight ranks. The largest radius is 1, and the legend tells the
// maxima.
func TestFigure8(t *testing.T) {
	b := openBrowser(t)
	b.show(t, saveJob(t, smgJob(t)), 1400, "light")
	legend := ask[[]string](t, b, `[...document.querySelectorAll(".radarkey")].map((e) => e.textContent)`)
	if len(legend) != 2 || !strings.Contains(legend[0], "max 18.11 s") || !strings.Contains(legend[1], "max 6.16 s") {
		t.Errorf("legend %q", legend)
	}
	type point struct{ Cx, Cy, Radius float64 }
	points := ask[[]point](t, b, `[...document.querySelectorAll(".radar .point")].map((e) => ({Cx: +e.getAttribute("cx"), Cy: +e.getAttribute("cy"), Radius: +e.dataset.radius}))`)
	if len(points) != 16 {
		t.Fatalf("%d points", len(points))
	}
	for shape := range 2 {
		most := 0.0
		for rank, p := range points[8*shape : 8*shape+8] {
			most = max(most, p.Radius)
			if r := math.Hypot(p.Cx, p.Cy) / 200; math.Abs(r-p.Radius) > 1e-9 {
				t.Errorf("rank %d: drawn at %v, radius %v", rank, r, p.Radius)
			}
			if low := shape == 1 && (rank == 3 || rank == 5); low != (p.Radius < 0.7) {
				t.Errorf("region %d, rank %d: radius %v", shape, rank, p.Radius)
			}
		}
		if most != 1 {
			t.Errorf("region %d: largest radius %v", shape, most)
		}
	}
}

// TestFigure9: the pies of the paper's toy job. Slices sum to the whole, and hold the known times.
func TestFigure9(t *testing.T) {
	b := openBrowser(t)
	b.show(t, saveJob(t, figure9Job(t)), 1400, "light")
	type slice struct {
		Class string
		Time  int64
		Angle float64
	}
	pies := ask[[][]slice](t, b, `[...document.querySelectorAll(".pies > div")].map((d) => [...d.querySelectorAll(".slice")].map((e) => ({
		Class: e.getAttribute("class").match(/c-(\w+)/)[1], Time: +e.dataset.ns, Angle: +e.dataset.angle})))`)
	if len(pies) != 6 {
		t.Fatalf("%d pies", len(pies))
	}
	for i, imbal := range []int64{0, 200, 0, 100, 150, 50} {
		var angle float64
		var whole int64
		of := map[string]int64{}
		for _, s := range pies[i] {
			angle, whole = angle+s.Angle, whole+s.Time
			of[s.Class] = s.Time
		}
		if math.Abs(angle-2*math.Pi) > 1e-9 || whole != 824*ms {
			t.Errorf("pie %d: %v radians, %d ns", i, angle, whole)
		}
		if of["imbal"] != imbal*ms || of["mpi"] != (310-imbal)*ms || of["mgmt"] != 2*ms {
			t.Errorf("pie %d: %v", i, of)
		}
	}
	if title := ask[string](t, b, `document.querySelector("#ranks .pies").closest("figure").querySelector("h3").textContent`); !strings.Contains(title, "Imbalance on the one, MPI on the other") && !strings.Contains(title, "MPI on the one, Imbalance on the other") {
		t.Errorf("title %q", title)
	}
}

// TestJobAsInText: a job's page says what the text report says. The time in MPI includes the time
// in which threads had no core there. A cost that the processor time bounds has the mark of
// estimates. In the charts, names of MPI calls begin with the operation.
func TestJobAsInText(t *testing.T) {
	b := openBrowser(t)
	ranks := []*profile.Profile{figure9(0, 2, 0), figure9(1, 2, 0)} // 310 of 824 ms in MPI
	for _, p := range ranks {
		p.Meta.Overhead.Probes, p.Meta.Overhead.AtMost = []profile.ProbeHits{{Probe: "jump", Hits: 4000, Before: 500, After: 500}}, 0.5
		for i := range p.Nodes {
			s := &p.Nodes[i].Stats[0]
			if s.MPI == nil {
				continue
			}
			s.MPI.NoCore = 155 * ms
			if s.NoCore = (&profile.Cost{Exec: 155 * ms, Body: 155 * ms}); i != len(p.Nodes)-1 {
				s.NoCore.Child = 155 * ms
			}
		}
	}
	j := jobOf(t, ranks)
	b.show(t, saveJob(t, j), 1400, "light")
	for tile, want := range map[string]string{"In MPI": "37.6 %", "Probes took": "~4 ms"} {
		tile := fmt.Sprintf(`[...document.querySelectorAll(".tile")].find((e) => e.textContent.startsWith(%q)).querySelector("b").textContent`, tile)
		if got := ask[string](t, b, tile); got != want {
			t.Errorf("%s: %s, want %s; rank 0: %+v", tile, got, want, j.Ranks[0])
		}
	}
	names := ask[[]string](t, b, `[...document.querySelectorAll("#ranks text[data-tip]")].map((e) => e.textContent)`)
	if !slices.ContainsFunc(names, func(name string) bool { return strings.HasPrefix(name, "MPI_Alltoall ") }) {
		t.Errorf("names of regions: %q", names)
	}
}

// TestHostileNamesInBrowser: names of programs, files and regions run nothing and load nothing.
func TestHostileNamesInBrowser(t *testing.T) {
	b := openBrowser(t)
	b.show(t, save(t, "profile.html", func(w io.Writer) error { return WriteProcess(w, hostileProfile(), report.Options{}) }), 1400, "light")
	ask[any](t, b, openAll)
	if n := ask[int](t, b, `document.querySelectorAll("img, script").length`); n != 2 {
		t.Errorf("%d scripts and images, want the page's two", n)
	}
	if text := ask[string](t, b, "document.body.innerText"); !strings.Contains(text, "<img src=x onerror=alert(1)>") {
		t.Error("the name is not shown")
	}
}

// TestWithoutScripts: tables and a picture remain.
func TestWithoutScripts(t *testing.T) {
	b := openBrowser(t)
	file := save(t, "profile.html", func(w io.Writer) error { return WriteProcess(w, solver(), report.Options{}) })
	b.run(t, "open", emulation.SetScriptExecutionDisabled(true), chromedp.EmulateViewport(1400, 900), chromedp.Navigate("file://"+file), chromedp.WaitVisible("#static", chromedp.ByQuery))
	b.photograph(t, "process-without-scripts")
	var rows []string
	b.run(t, "text", chromedp.Evaluate(`[...document.querySelectorAll("#static table")].map((e) => e.checkVisibility() ? e.innerText : "")`, &rows))
	if len(rows) != 2 || !strings.Contains(rows[0], "Imbalance") || !strings.Contains(rows[1], "main.c (24-30)") {
		t.Errorf("tables %q", rows)
	}
}

// TestKeyboard: a row opens by keyboard, and arrows move through call paths.
func TestKeyboard(t *testing.T) {
	b := openBrowser(t)
	b.show(t, save(t, "profile.html", func(w io.Writer) error { return WriteProcess(w, solver(), report.Options{}) }), 1400, "light")
	b.run(t, "keys", chromedp.Focus("#regions .rowbutton", chromedp.ByQuery), chromedp.KeyEvent("\r"), chromedp.WaitReady("#regions tr.panel", chromedp.ByQuery),
		chromedp.Focus(".icicle .node", chromedp.ByQuery), chromedp.KeyEvent(kb.ArrowDown))
	if at := ask[string](t, b, `document.activeElement.getAttribute("aria-label")`); !strings.HasPrefix(at, "PARALLEL main.c (20-60)") {
		t.Errorf("focus at %q", at)
	}
	b.run(t, "zoom", chromedp.KeyEvent("\r"), chromedp.WaitReady(`//button[.="Whole program"]`, chromedp.BySearch))
}

// TestManyRanks: the page of a job of 10,000 ranks opens quickly and stays quick.
func TestManyRanks(t *testing.T) {
	if testing.Short() {
		t.Skip("makes 10,000 profiles")
	}
	const size = 10_000
	j := manyRanks(t, size)
	var page bytes.Buffer
	began := time.Now()
	if err := WriteJob(&page, j, report.Options{}); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d ranks: %d bytes, written in %s", size, page.Len(), time.Since(began))
	if page.Len() > 3<<20 {
		t.Errorf("the page has %d bytes", page.Len())
	}
	b := openBrowser(t)
	b.show(t, save(t, "job.html", func(w io.Writer) error { _, err := w.Write(page.Bytes()); return err }), 1400, "light")
	drawn := ask[float64](t, b, `performance.getEntriesByName("drawn")[0].startTime`)
	nodes := ask[int](t, b, `document.querySelectorAll("*").length`)
	t.Logf("drawn %.0f ms after the page was opened, %d elements", drawn, nodes)
	if nodes > 20_000 { // many elements make pages slow on any machine
		t.Errorf("the page has %d elements", nodes)
	}
	b.photograph(t, "job-10000-ranks")
	if n := ask[int](t, b, `document.querySelectorAll("#ranks table tbody tr").length`); n == 0 || n > 1000 {
		t.Errorf("%d rows", n)
	}
	var x Job
	if err := json.Unmarshal(figuresIn(t, page.String()), &x); err != nil || x.Head.Ranks != size {
		t.Errorf("%d ranks: %v", x.Head.Ranks, err)
	}
}

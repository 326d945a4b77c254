package page

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"ompp-attach/report"
	"ompp-attach/report/when"
)

// drawnPicture is a picture of some ranks with two threads. They pass through steps of a parallel
// region with a loop and its barrier. Then each sends a message to the next rank.
func drawnPicture(ranks int) *when.Picture {
	p := &when.Picture{Length: 1000 * ms, Shortest: 12_000, Bins: 512, Notes: []string{"No flows show messages of rank 2: it cancels operations."},
		Gaps: []when.Gap{{Process: "rank 1", From: 0, To: 40 * ms, Why: "older than what was to be kept", Spans: 812}}}
	for _, n := range [][2]string{{"PARALLEL main.c (20-60)", "work"}, {"LOOP main.c (24-30)", "work"}, {"implicit barrier", "imbal"},
		{"MPI_Recv main.c (62)", "mpi"}, {"MPI_Send main.c (64)", "mpi"}, {"CRITICAL main.c (40)", "work"}, {"waits to enter", "synch"}} {
		p.Names = append(p.Names, when.Name{Text: n[0], Class: n[1]})
	}
	for r := range ranks {
		for thread := range 2 {
			row := when.Thread{Label: fmt.Sprintf("rank %d, thread %d", r, thread), Executions: 80, Depth: 3}
			var lanes [3][]int64
			var last [3]int64
			put := func(depth int, from, long, name, n, sum int64) {
				lanes[depth] = append(lanes[depth], int64(depth), from-last[depth], long, name, n, sum)
				last[depth] = from
			}
			for step := range int64(10) {
				at := step*100*ms + int64(r)*2*ms
				put(0, at, 70*ms, 0, 1, 70*ms)
				works := (40 + step + int64(20*thread)) * ms
				put(1, at+ms, works, 1, 1, works)
				put(2, at+5*ms, 20*ms, 5, 1200, 6*ms)
				put(1, at+ms+works, 69*ms-works, 2, 1, 69*ms-works)
				if thread == 0 {
					put(0, at+71*ms, 20*ms, 3, 1, 20*ms)
					put(0, at+92*ms, 3*ms, 4, 1, 3*ms)
					if r+1 < ranks {
						p.Messages = append(p.Messages, when.Message{From: 2 * r, To: 2*r + 2, Sent: at + 92*ms, Received: at + 93*ms})
					}
				}
			}
			for _, l := range lanes {
				row.Boxes = append(row.Boxes, l...)
			}
			p.Rows = append(p.Rows, row)
		}
	}
	for i, name := range []string{"OpenMP", "MPI", "blas"} {
		l := when.Level{Name: name, Bins: make([]int64, p.Bins)}
		for b := range l.Bins {
			l.Bins[b] = 1000 * ms / int64(p.Bins) * int64(len(p.Rows)) * int64((b/(7+i))%5) / int64(5+5*i)
			l.Time += l.Bins[b]
		}
		p.Levels = append(p.Levels, l)
	}
	return p
}

func whenPage(t *testing.T, ranks int) string {
	return save(t, "profile.html", func(w io.Writer) error {
		return WriteProcess(w, solver(), report.Options{When: drawnPicture(ranks)})
	})
}

// TestWhen: the picture can be explored by pointer and keyboard, and says what is not drawn.
func TestWhen(t *testing.T) {
	b := openBrowser(t)
	file := whenPage(t, 3)
	looks(func(width int64, scheme string) { b.look(t, "when", file, width, scheme) })
	b.show(t, whenPage(t, 40), 1400, "light")
	b.photograph(t, "when-many")
	deep := drawnPicture(1)
	for d := range int64(1000) { // a recursion
		deep.Rows[0].Boxes = append(deep.Rows[0].Boxes, 3+d, d*1000, 500*ms, 1, 1, 500*ms)
	}
	deep.Rows[0].Depth = 1003
	b.show(t, save(t, "profile.html", func(w io.Writer) error { return WriteProcess(w, solver(), report.Options{When: deep}) }), 1400, "light")
	b.run(t, "lanes", chromedp.Click(`//button[.="A lane per depth"]`, chromedp.BySearch))
	if high := ask[float64](t, b, `document.querySelector("canvas.when").getBoundingClientRect().height`); high > 500 || high < 380 {
		t.Errorf("a recursion makes the picture %v pixels high", high)
	}
	b.photograph(t, "when-deep")
	b.show(t, file, 1400, "light")
	words := ask[string](t, b, `document.querySelector("#when").innerText`)
	for _, want := range []string{"480 executions on 6 threads in 1.00 s", "Executions shorter than 12 us are drawn together", "it cancels operations",
		"Not recorded of rank 1, 0 s to 40 ms, 812 executions: older than", "OpenMP has"} {
		if !strings.Contains(words, want) {
			t.Errorf("the page lacks %q: %s", want, words)
		}
	}
	says := func(what string, keys ...string) {
		t.Helper()
		for _, k := range keys {
			b.run(t, "key", chromedp.KeyEvent(k))
		}
		if got := ask[string](t, b, `document.querySelector(".whentext").textContent`); !strings.HasPrefix(got, what) {
			t.Errorf("after %q the page says %q, want %q", keys, got, what)
		}
	}
	b.run(t, "focus", chromedp.Focus("canvas.when", chromedp.ByQuery))
	says("PARALLEL main.c (20-60)\nrank 0, thread 0, 0 s to 70 ms", kb.ArrowRight)
	says("MPI_Recv main.c (62)", kb.ArrowRight)
	says("PARALLEL main.c (20-60)\nrank 0, thread 1", kb.ArrowDown)
	says("LOOP main.c (24-30)", kb.Enter)
	says("implicit barrier", kb.ArrowRight)
	says("LOOP main.c (24-30)", kb.ArrowLeft)
	says("1 200 executions, 6 ms together, most of it CRITICAL", kb.Enter)
	b.run(t, "zoom", chromedp.KeyEvent("+"))
	if to := ask[float64](t, b, `Number(document.querySelector("canvas.when").dataset.to)`); to >= float64(1000*ms) {
		t.Errorf("the picture still ends at %v", to)
	}
	b.run(t, "all", chromedp.KeyEvent(kb.Escape))
	if to := ask[float64](t, b, `Number(document.querySelector("canvas.when").dataset.to)`); to != float64(1000*ms) {
		t.Errorf("the picture ends at %v", to)
	}
	// A box is where its time is, in the colour of its class.
	type pixel struct {
		Class    string
		At, Want []int
	}
	for _, p := range ask[[]pixel](t, b, `(() => {
		const c = document.querySelector("canvas.when"), r = c.getBoundingClientRect(), k = c.width / r.width, w = r.width - 150;
		const all = c.getContext("2d").getImageData(0, 0, c.width, 90).data;
		return [["work", 0.035, 0], ["mpi", 0.08, 0], ["imbal", 0.065, 1]].map(([Class, share, depth]) => {
			const ink = getComputedStyle(document.documentElement).getPropertyValue("--" + Class).trim();
			const at = 4 * (Math.round((20 + 15 * depth + 2) * k) * c.width + Math.round((150 + w * share) * k));
			return {Class, At: [...all.slice(at, at + 3)], Want: [1, 3, 5].map((i) => parseInt(ink.slice(i, i + 2), 16))};
		});
	})()`) {
		if fmt.Sprint(p.At) != fmt.Sprint(p.Want) {
			t.Errorf("%s: the colour %v, want %v", p.Class, p.At, p.Want)
		}
	}
}

// TestWhenOfJob: a job's page has the same picture, and without a timeline no page has the section.
func TestWhenOfJob(t *testing.T) {
	b := openBrowser(t)
	j := figure9Job(t)
	b.show(t, save(t, "job.html", func(w io.Writer) error { return WriteJob(w, j, report.Options{When: drawnPicture(7)}) }), 1400, "light")
	if n := ask[int](t, b, `document.querySelectorAll("#when canvas.when").length`); n != 1 {
		t.Errorf("%d pictures", n)
	}
	b.show(t, saveJob(t, j), 1400, "light")
	if n := ask[int](t, b, `document.querySelectorAll("#when").length`); n != 0 {
		t.Errorf("%d sections without a timeline", n)
	}
	text := pageOf(t, solver())
	if strings.Contains(string(figuresIn(t, text)), `"when"`) {
		t.Error("figures of what happened when, without a timeline")
	}
	var x Process
	full, err := json.Marshal(process(solver(), report.Options{When: drawnPicture(3)}))
	if err == nil {
		err = json.Unmarshal(full, &x)
	}
	if err != nil || len(x.When.Rows) != 6 {
		t.Errorf("%v", err)
	}
}

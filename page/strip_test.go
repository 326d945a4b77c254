package page

import (
	"bytes"
	"io"
	"math"
	"testing"

	"ompp-attach/job"
	"ompp-attach/profile"
	"ompp-attach/report"
)

// striped is a profile with a strip of two threads. The first one works in the first half and is in
// barriers in the second. The second one is in MPI for a quarter of each bin.
func striped() *profile.Profile {
	p := solver()
	half := bytes.Repeat([]byte{255}, 1024)
	p.Strip = &profile.Strip{Width: p.Meta.Duration / 2048, Bins: 2048, Off: bytes.Repeat([]byte{255}, 40), More: 3, Rows: []profile.StripRow{
		{TID: 100, Thread: 0, States: map[profile.State][]byte{profile.StateWork: half, profile.StateBarrier: append(make([]byte, 1024), half...)}},
		{TID: 101, Thread: -1, States: map[profile.State][]byte{profile.StateMPI: bytes.Repeat([]byte{64}, 2048)}}}}
	return p
}

func TestStripFigures(t *testing.T) {
	s := stripOf(striped())
	if s.Width != 7_812_500 || s.Measured != 4000*ms || s.Rows[0].Times[profile.StateWork] != 2000*ms || s.Bins != 512 || len(s.Off) != 10 || s.More != 3 || s.Rows[0].Label != "thread 0 (100)" || s.Rows[1].Label != "thread 101" {
		t.Fatalf("%+v", s)
	}
	mean := func(row int, state profile.State) (sum float64) {
		for _, v := range s.Rows[row].States[state] {
			sum += float64(v) / 255 / float64(s.Bins)
		}
		return sum
	}
	if work, barrier, calls := mean(0, profile.StateWork), mean(0, profile.StateBarrier), mean(1, profile.StateMPI); work != 0.5 || barrier != 0.5 || math.Abs(calls-64.0/255) > 1e-9 {
		t.Errorf("shares %v, %v, %v", work, barrier, calls)
	}
	if got := joinBins([]byte{255, 0, 100}, 2, 4); !bytes.Equal(got, []byte{128, 50}) {
		t.Errorf("joined %v", got)
	}
	if got := joinBins([]byte{255, 0, 100}, 2, 3); !bytes.Equal(got, []byte{128, 100}) {
		t.Errorf("joined %v", got)
	}
	if stripOf(solver()) != nil {
		t.Error("a strip of nothing")
	}
	wide := striped()
	for len(wide.Strip.Rows) < mostStripRows+5 {
		wide.Strip.Rows = append(wide.Strip.Rows, wide.Strip.Rows[1])
	}
	if s := stripOf(wide); len(s.Rows) != mostStripRows || s.More != 8 {
		t.Errorf("%d rows, %d more", len(s.Rows), s.More)
	}
}

// TestStrip: the strip is drawn without a timeline, with areas as large as its shares, and tells
// the time of a bin.
func TestStrip(t *testing.T) {
	b := openBrowser(t)
	file := save(t, "profile.html", func(w io.Writer) error { return WriteProcess(w, striped(), report.Options{}) })
	looks(func(width int64, scheme string) { b.look(t, "strip", file, width, scheme) })
	b.show(t, file, 1400, "light")
	type drawn struct {
		State      string
		Width, Top float64 // shares of the row's width and height
	}
	for _, d := range ask[[]drawn](t, b, `(() => {
		const row = document.querySelector("svg.strip rect").getBBox();
		return [...document.querySelectorAll("svg.strip [data-state]")].filter((e) => e.getAttribute("d")).map((e) => ({
			State: e.dataset.state, Width: e.getBBox().width / row.width, Top: e.getBBox().height / row.height}));
	})()`) {
		want := map[string]drawn{"work": {"work", 0.5, 1}, "barrier": {"barrier", 0.5, 1}, "mpi": {"mpi", 1, 64.0 / 255}}[d.State]
		if math.Abs(d.Width-want.Width) > 0.01 || math.Abs(d.Top-want.Top) > 0.01 {
			t.Errorf("drawn %+v, want %+v", d, want)
		}
	}
	words := ask[string](t, b, `document.querySelector("#when").innerText`)
	for _, want := range []string{"A bin spans 7.81 ms", "Threads are about 25.0 % of the time at work in regions", "3 more threads had no room", "switched off"} {
		if !bytes.Contains([]byte(words), []byte(want)) {
			t.Errorf("the page lacks %q: %s", want, words)
		}
	}
}

// stripedRanks returns a job of n ranks. Each rank works for longer than the one before, and waits
// in MPI until all have come. Then it is in barriers for a fifth of the time.
func stripedRanks(t *testing.T, n int) *job.Job {
	t.Helper()
	var ranks []*profile.Profile
	for r := range n {
		p := figure9(r, n, 0)
		const bins = 500
		work := 100 + r*300/n
		p.Strip = &profile.Strip{Width: p.Meta.Duration / bins, Bins: bins, Rows: []profile.StripRow{{TID: 1, States: map[profile.State][]byte{
			profile.StateWork:    bytes.Repeat([]byte{255}, work),
			profile.StateMPI:     append(make([]byte, work), bytes.Repeat([]byte{255}, 400-work)...),
			profile.StateBarrier: append(make([]byte, 400), bytes.Repeat([]byte{255}, 100)...)}}}}
		ranks = append(ranks, p)
	}
	return jobOf(t, ranks)
}

// TestJobStrip: each rank has a row with its own times. If there are many ranks, neighbours share a
// row.
func TestJobStrip(t *testing.T) {
	if testing.Short() {
		t.Skip("draws a job of many ranks")
	}
	b := openBrowser(t)
	for _, n := range []int{4, 300} {
		j := stripedRanks(t, n)
		x, err := ofJob(j, report.Options{})
		if err != nil {
			t.Fatal(err)
		}
		rows := map[int]int{4: 4, 300: 100}[n]
		if len(x.Strip.Rows) != rows || x.Strip.Bins > 256 {
			t.Fatalf("%d ranks: %d rows of %d bins", n, len(x.Strip.Rows), x.Strip.Bins)
		}
		for i, r := range x.Strip.Rows {
			// The share of work of the row's mean rank.
			want := (100 + 300*(float64(i*n/rows)+float64(n/rows-1)/2)/float64(n)) / 500
			if got := float64(r.Times[profile.StateWork]) / float64(x.Strip.Measured); math.Abs(got-want) > 0.01 {
				t.Errorf("%d ranks, %s works for %.3f of the time, want %.3f", n, r.Label, got, want)
			}
		}
		file := saveJob(t, j)
		if n == 300 {
			looks(func(width int64, scheme string) { b.look(t, "jobstrip", file, width, scheme) })
		}
		b.show(t, file, 1400, "light")
		widths := ask[[]float64](t, b, `[...document.querySelectorAll("svg.strip g")].map((g) =>
			g.querySelector("[data-state=work]").getBBox().width / g.querySelector("rect").getBBox().width)`)
		if len(widths) != rows {
			t.Errorf("%d ranks: %d rows are drawn", n, len(widths))
		}
		for i, w := range widths {
			// The share of work of the row's last rank.
			if want := (100 + 300*float64((i+1)*n/rows-1)/float64(n)) / 500; math.Abs(w-want) > 0.02 {
				t.Errorf("%d ranks, row %d: work is drawn over %.3f of the width, want %.3f", n, i, w, want)
			}
		}
		words := ask[string](t, b, `document.querySelector("#when").textContent`)
		for _, want := range []string{"Threads of all ranks are about", "placed by the nodes' clocks", map[int]string{4: "rank 3", 300: "ranks 294 to 296"}[n]} {
			if !bytes.Contains([]byte(words), []byte(want)) {
				t.Errorf("%d ranks: the page lacks %q: %s", n, want, words)
			}
		}
	}
}

package page

import (
	"bytes"
	"io"
	"math"
	"testing"

	"ompp-attach/profile"
	"ompp-attach/report"
)

// striped is a profile with a strip of two threads. The first one works in the first half and is in
// barriers in the second; the second one is in MPI for a quarter of each bin.
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

// TestStrip: the strip is drawn without a timeline, fills what its shares say, and tells a bin's time.
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

package page

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"ompp-attach/profile"
)

// TestMatrix: the cells of the partner matrix and the bars of sizes show the job's figures, and the
// titles say what stands out.
func TestMatrix(t *testing.T) {
	b := openBrowser(t)
	j := exchangeJob(t, 16)
	b.show(t, saveJob(t, j), 1400, "light")
	drawn := ask[[]string](t, b, `[...document.querySelectorAll("svg.matrix [data-cell]")].map((e) => e.dataset.cell)`)
	var want []string
	for _, c := range j.Traffic.Matrix().Cells {
		want = append(want, fmt.Sprintf("%d %d %d %d", c.From, c.To, c.Messages, c.Bytes))
	}
	if !slices.Equal(drawn, want) || len(want) != 2*16+14 {
		t.Errorf("cells %q, want %q", drawn, want)
	}
	titles := ask[[]string](t, b, `[...document.querySelectorAll("#mpi figure h3")].map((e) => e.textContent)`)
	if len(titles) != 2 || titles[0] != "100.0 % of the bytes of messages go to ranks at distances of 1, -1" ||
		titles[1] != "49.3 % of messages sent are of 2 KiB to 4 KiB" {
		t.Errorf("titles %q", titles)
	}
	caption := func() string {
		return ask[string](t, b, `document.querySelector("#mpi figure:has(svg.matrix) figcaption").textContent`)
	}
	const notRead = "Rows of ranks that were not read are empty."
	if text := caption(); strings.Contains(text, notRead) {
		t.Errorf("all ranks were read: %q", text)
	}
	sent := j.Sizes().Sent
	bars := ask[[]uint64](t, b, `[...document.querySelectorAll(".sizebar i")].map((e) => Number(e.dataset.n))`)
	first := slices.IndexFunc(sent, func(n uint64) bool { return n > 0 })
	if !slices.Equal(bars, sent[first:]) {
		t.Errorf("bars %v, want %v", bars, sent[first:])
	}
	if text := ask[string](t, b, `document.querySelector("#mpi ul").textContent`); !strings.Contains(text, "MPI_ANY_SOURCE") || !strings.Contains(text, "64 received") {
		t.Errorf("not in the matrix: %q", text)
	}
	b.show(t, saveJob(t, jobOf(t, []*profile.Profile{exchanging(0, 3), exchanging(2, 3)})), 1400, "light")
	if text := caption(); !strings.Contains(text, notRead) {
		t.Errorf("rank 1 was not read: %q", text)
	}
}

// TestMatrixOfManyRanks: neighbouring ranks share a cell, and the page stays small.
func TestMatrixOfManyRanks(t *testing.T) {
	if testing.Short() {
		t.Skip("draws the traffic of many ranks")
	}
	b := openBrowser(t)
	j := exchangeJob(t, 600)
	m := j.Traffic.Matrix()
	if m.Width != 5 || m.Bins != 120 {
		t.Fatalf("%d bins of %d ranks", m.Bins, m.Width)
	}
	var messages, bytes uint64
	for _, c := range m.Cells {
		messages += c.Messages
		bytes += c.Bytes
	}
	// Rank 0's record holds 256 partners; the others are added up.
	if messages != 600*200+3*256 || bytes != 600*(409600+300000)+3*256*64 || j.Traffic.Others.Sends != 3*(600-256) {
		t.Errorf("%d messages, %d bytes, %+v to others", messages, bytes, j.Traffic.Others)
	}
	b.show(t, saveJob(t, j), 1400, "light")
	// The first rank sends to more than the 255 others that are known. The other ranks have two
	// neighbours.
	title := ask[string](t, b, `document.querySelector("#mpi figure:has(svg.matrix) h3").textContent`)
	if want := "A rank sends to at least 2 to 255 others"; title != want || !j.Traffic.SentToUnknown() {
		t.Errorf("title %q, want %q", title, want)
	}
	if n := ask[int](t, b, `document.querySelectorAll("*").length`); n > 20_000 {
		t.Errorf("the page has %d elements", n)
	}
	b.photograph(t, "traffic-600-ranks")
}

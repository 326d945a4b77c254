package timeline

import (
	"io"
	"slices"
	"testing"
	"time"

	"ompp-attach/event"
	"ompp-attach/profile"
)

// TestUnobserved: gaps that an engine tells are kept, in bounded memory. Time that was not observed
// stays in a gap, and gaps of different kinds stay apart.
func TestUnobserved(t *testing.T) {
	var u unobserved
	kinds := []Gap{{Why: Off}, {Why: ByBudget, What: "LOCK"}, {Why: ByBudget, What: "BARRIER"}}
	missing := map[Gap]uint64{}
	at := uint64(0)
	for i := range uint64(10 * mostUnobserved) {
		kind := kinds[i%3]
		at += 1000 + i%7*300
		g := kind
		g.From, g.To = at, at+500
		missing[kind] += 500
		u.add(g)
	}
	held := map[Gap]uint64{}
	for _, g := range u.gaps {
		held[Gap{Why: g.Why, What: g.What}] += g.To - g.From
	}
	if len(u.gaps) != mostUnobserved || len(held) != 3 {
		t.Errorf("%d gaps of %d kinds", len(u.gaps), len(held))
	}
	for kind, d := range missing {
		if held[kind] < d || held[kind] > at {
			t.Errorf("%+v: %d ns are in gaps, %d were missing, of %d", kind, held[kind], d, at)
		}
	}
}

// TestGapsOfStream: a file that was cut off has the gaps that were told before, and a whole one has
// each gap once. Gaps outside of the window are none, and old ones go with what is old.
func TestGapsOfStream(t *testing.T) {
	gaps := []Gap{{From: 5, To: 7, Why: Off}, {From: 9, To: 20, Why: ByBudget, What: "LOCK"}}
	disk := &limited{left: 1 << 30}
	r := recorder(t, Options{Plan: Plan{Cap: 1 << 30, Stream: true}, Wait: true, Open: func() (io.WriteCloser, error) { return disk, nil }})
	r.Gap(gaps[0])
	r.Gap(gaps[1])
	r.End(dictionary(2))
	if f := read(t, disk.Bytes()); !f.Torn || !slices.Equal(f.Gaps, gaps) {
		t.Errorf("cut off: gaps %+v", f.Gaps)
	}
	if err := r.Finish(); err != nil {
		t.Fatal(err)
	}
	if f := read(t, disk.Bytes()); f.Torn || !slices.Equal(f.Gaps, gaps) {
		t.Errorf("whole: gaps %+v", f.Gaps)
	}
	window := recorder(t, Options{Plan: Plan{Cap: 1 << 30, From: 100, To: 200}, Began: 1000, Wait: true})
	for _, g := range []Gap{{From: 1, To: 1050, Why: Off}, {From: 1090, To: 1110, Why: Off}, {From: 1300, To: 1400, Why: Off}} {
		window.Gap(g)
	}
	window.End(dictionary(1))
	if got := read(t, save(t, window)).Gaps; !slices.Equal(got, []Gap{{From: 1100, To: 1110, Why: Off}}) {
		t.Errorf("in a window: gaps %+v", got)
	}
	ring := recorder(t, Options{Plan: Plan{Cap: 1 << 30, Last: time.Second}, Wait: true})
	const step = 10_000
	for i := range uint64(500_000) {
		if i%100_000 == 50_000 {
			ring.Gap(Gap{From: i * step, To: i*step + 5, Why: Off})
		}
		ring.Span(&Span{Node: 1, From: i * step, To: (i + 1) * step})
	}
	ring.End(dictionary(1))
	off := 0
	for _, g := range ring.Gaps() {
		if g.Why == Off {
			off++
		}
	}
	if off != 1 {
		t.Errorf("%d of 5 gaps are in the last second: %+v", off, ring.Gaps())
	}
}

// TestMissing: a gap of a level that was let go has the level's name,
// and other gaps their constructs'.
func TestMissing(t *testing.T) {
	d := &Dictionary{Meta: profile.Meta{Expense: profile.Expense{Observations: []profile.Observation{
		{Of: event.SetOf(event.Lock)}, {Name: "level blas", Of: event.LevelGroup(2).Constructs()}}}}}
	for what, want := range map[string]string{"": "", "LOCK": "LOCK", "LEVELS 1": "LEVELS 1", "LEVELS 2": "level blas"} {
		if got := d.Missing(&Gap{What: what}); got != want {
			t.Errorf("%q: %q, want %q", what, got, want)
		}
	}
}

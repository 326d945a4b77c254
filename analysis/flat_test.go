package analysis

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"ompp-attach/event"
	"ompp-attach/profile"
)

func TestFlatSumsPaths(t *testing.T) {
	p := nested(t)
	got := Flat(p)[2] // the lock, on three paths
	want := Block{Region: 2, Rows: []ThreadFigures{
		{ThreadStats: stats{Thread: 0, Exec: span(7, 2), Enter: span(5, 2), Body: span(1, 1), Exit: span(1, 1)}, Mgmt: 6},
		{ThreadStats: stats{Thread: 1, Exec: span(1, 1), Exit: span(1, 1)}, Mgmt: 1},
	}, Sum: ThreadFigures{ThreadStats: stats{Thread: -1, Exec: span(8, 3), Enter: span(5, 2), Body: span(1, 1), Exit: span(2, 2)}, Mgmt: 7}}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// A parallel region starts itself. Thread 1 of the outer team is the primary thread of the inner
// team, so the inner row 0 lies within the outer row 1. The inner worker's time is counted for
// itself.
func TestFlatOfRecursion(t *testing.T) {
	p := profileOf(t, 20, two, []event.Construct{event.Parallel}, []profile.Node{
		{Parent: 0, Region: 0, Stats: []stats{
			{Thread: 0, Exec: span(10, 1), Enter: span(1, 1), Body: span(8, 1), Exit: span(1, 1)},
			{Thread: 1, Exec: span(10, 1), Enter: span(1, 1), Body: span(7, 1), Barrier: span(1, 1), Exit: span(1, 1), Child: 4}}},
		{Parent: 1, Region: 0, Stats: []stats{
			{Thread: 0, Exec: span(4, 1), Enter: span(1, 1), Body: span(3, 1)},
			{Thread: 1, Exec: span(4, 1), Enter: span(1, 1), Body: span(2, 1), Barrier: span(1, 1)}}},
	})
	b := Flat(p)[0]
	if got, want := b.Rows[0].ThreadStats, (stats{Thread: 0, Exec: span(10, 2), Enter: span(2, 2), Body: span(8, 2), Exit: span(1, 1)}); !cmp.Equal(got, want) {
		t.Errorf("row 0: %+v, want %+v", got, want)
	}
	if got, want := b.Rows[1].ThreadStats, (stats{Thread: 1, Exec: span(14, 2), Enter: span(2, 2), Body: span(9, 2), Barrier: span(2, 2), Exit: span(1, 1)}); !cmp.Equal(got, want) {
		t.Errorf("row 1: %+v, want %+v", got, want)
	}
	o := Overheads(p)[0]
	if o.Wall != 10 || o.Total != 24 {
		t.Errorf("wall %d, total %d; want 10 and 24", o.Wall, o.Total)
	}
}

// A region that is not parallel lies within itself, without and with a team started in between.
func TestFlatOfRecursionBelowATeam(t *testing.T) {
	user := func(thread int, ns int64) stats { return stats{Thread: thread, Exec: span(ns, 1)} }
	constructs := []event.Construct{event.Parallel, event.UserRegion}
	plain := profileOf(t, 20, two, constructs, []profile.Node{
		{Parent: 0, Region: 0, Stats: []stats{user(0, 9), user(1, 9)}},
		{Parent: 1, Region: 1, Stats: []stats{user(0, 8), user(1, 7)}},
		{Parent: 2, Region: 1, Stats: []stats{user(0, 5), user(1, 4)}},
	})
	if b := Flat(plain)[1]; b.Rows[0].Exec != span(8, 2) || b.Rows[1].Exec != span(7, 2) {
		t.Errorf("same team: %+v, want the outer times 8 and 7, twice each", b.Rows)
	}
	team := profileOf(t, 20, two, constructs, []profile.Node{
		{Parent: 0, Region: 1, Stats: []stats{user(0, 9)}},
		{Parent: 1, Region: 0, Stats: []stats{user(0, 8), user(1, 8)}},
		{Parent: 2, Region: 1, Stats: []stats{user(0, 5), user(1, 4)}},
	})
	if b := Flat(team)[1]; b.Rows[0].Exec != span(9, 2) || b.Rows[1].Exec != span(4, 1) {
		t.Errorf("team between: %+v, want 9 of the initial thread and 4 of the worker", b.Rows)
	}
}

func TestRowsShowWhoTookNoPart(t *testing.T) {
	p := profileOf(t, 20, [][2]int{{0, 0}, {0, 1}, {0, 2}, {1, 0}, {1, 1}},
		[]event.Construct{event.Parallel, event.Master}, []profile.Node{
			{Parent: 0, Region: 0, Stats: []stats{{Thread: 0}, {Thread: 1}, {Thread: 2}, {Thread: 3}, {Thread: 4}}},
			{Parent: 1, Region: 1, Stats: []stats{{Thread: 0, Exec: span(5, 1)}}},
			{Parent: 0, Region: 1, Stats: []stats{{Thread: 3, Exec: span(1, 1)}}},
		})
	threads := func(b Block) (out []int) {
		for _, r := range b.Rows {
			out = append(out, r.Thread)
		}
		return out
	}
	blocks := NodeBlocks(p)
	// The team of initial thread 1 did not execute the first region. The second region is
	// outside of teams.
	if d := cmp.Diff([]int{0, 1, 2}, threads(blocks[2])); d != "" {
		t.Errorf("in a team (-want +got):\n%s", d)
	}
	if d := cmp.Diff([]int{3}, threads(blocks[3])); d != "" {
		t.Errorf("outside (-want +got):\n%s", d)
	}
}

// Threads whose number is not known have a row where they did something. The rest of a numbered
// team is shown with zeros.
func TestFlatOfThreadsWithoutNumber(t *testing.T) {
	p := profileOf(t, 20, [][2]int{{0, profile.UnknownNum}, {0, 0}, {0, 1}},
		[]event.Construct{event.Unknown, event.Critical, event.Loop}, []profile.Node{
			{Parent: 0, Region: 0, Stats: []stats{{Thread: 0, Exec: span(10, 1)}, {Thread: 1, Exec: span(10, 1)}, {Thread: 2, Exec: span(10, 1)}}},
			{Parent: 1, Region: 1, Stats: []stats{{Thread: 1, Exec: span(1, 1)}}},
			{Parent: 1, Region: 2, Stats: []stats{{Thread: 0, Exec: span(1, 1)}}},
		})
	for region, want := range map[int][]int{0: {0, 1, 2}, 1: {1, 2}, 2: {0, 1, 2}} {
		for _, b := range []Block{Flat(p)[region], NodeBlocks(p)[region+1]} {
			var got []int
			for _, r := range b.Rows {
				got = append(got, r.Thread)
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("rows of region %d (-want +got):\n%s", region, d)
			}
		}
	}
}

package analysis

import (
	"testing"

	"ompp-attach/event"
	"ompp-attach/profile"
)

// A team of one thread waits for nobody: the time of its barriers is the runtime's own.
func TestOneThreadWaitsForNobody(t *testing.T) {
	in := func(parent, region int, threads ...int) profile.Node {
		n := profile.Node{Parent: parent, Region: region}
		for _, thread := range threads {
			n.Stats = append(n.Stats, stats{Thread: thread, Exec: span(100, 1), Body: span(60, 1), Barrier: span(40, 1)})
		}
		return n
	}
	const parallel, loop, barrier, single = 0, 1, 2, 3
	constructs := []event.Construct{event.Parallel, event.Loop, event.Barrier, event.Single}
	for _, tt := range []struct {
		name    string
		threads [][2]int
		team    []int
		alone   bool
	}{
		{"one", [][2]int{{0, 0}}, []int{0}, true},
		{"two", two, []int{0, 1}, false},
		{"one each of two initial threads", [][2]int{{0, 0}, {1, 0}}, []int{0, 1}, true},
	} {
		p := profileOf(t, 1000, tt.threads, constructs, []profile.Node{in(0, parallel, tt.team...),
			in(1, loop, tt.team...), in(1, barrier, tt.team...), in(1, single, tt.team...)})
		for node, want := range map[int]Classes{1: {Imbal: 40}, 2: {Imbal: 40}, 3: {Synch: 100}, 4: {Limpar: 40}} {
			if tt.alone {
				want = Classes{Mgmt: want.Sum()}
			}
			for i, got := range Classify(p, node) {
				if got != want {
					t.Errorf("%s: node %d, row %d: %+v, want %+v", tt.name, node, i, got, want)
				}
			}
		}
		for _, prop := range Properties(p) {
			if tt.alone {
				t.Errorf("%s: %s holds", tt.name, prop.Name)
			}
		}
		if got := len(Properties(p)); !tt.alone && got != 4 {
			t.Errorf("%s: %d properties hold, want 4", tt.name, got)
		}
		if c := Classic.Classify(p, 2)[0]; c.Imbal != 40 {
			t.Errorf("%s: ompP's own rules: %+v", tt.name, c)
		}
	}
}

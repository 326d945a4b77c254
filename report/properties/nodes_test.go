package properties

import (
	"encoding/json"
	"strings"
	"testing"

	"ompp-attach/mpi/clocks"
	"ompp-attach/mpi/match"
	"ompp-attach/severity"
)

// TestNodes: JSON has how clocks of several nodes were compared; differences are those of
// CLOCK_MONOTONIC.
func TestNodes(t *testing.T) {
	c := severity.Of(barriers(2, 50), severity.Options{})
	if strings.Contains(write(t, "json", c, options(false)), `"nodes"`) {
		t.Error("one node has nodes")
	}
	c.Blames = []severity.Blame{{Path: 0, Rank: 1, Time: 500, Times: 2, Bound: 40}}
	c.Nodes = &severity.Nodes{
		Machines: []severity.Machine{{Hosts: []string{"a"}, Ranks: []int{0, 2}, Shift: 1000}, {Hosts: []string{"b", "c"}, Ranks: []int{1}, Stepped: true, Shift: 700}},
		Links: []clocks.Link{{A: 0, B: 1, Forth: 5, Back: 6, Messages: true, Offset: 10, Least: -3e-6, Most: 4e-6, Bound: 8},
			{A: 0, B: 1, Forth: 5, Conflict: 77, Least: 1, Offset: 9}},
		Across: match.Across{Waits: 3, T: 600, Bound: 50, Widest: 30, Untold: 4, NoLatecomer: 1},
	}
	var f struct {
		Late []struct {
			Bound int64 `json:"bound_ns"`
		} `json:"late_ranks"`
		Nodes json.RawMessage `json:"nodes"`
	}
	if err := json.Unmarshal([]byte(write(t, "json", c, options(false))), &f); err != nil {
		t.Fatal(err)
	}
	const want = `{"machines":[{"hosts":["a"],"ranks":[0,2]},{"hosts":["b","c"],"ranks":[1],"stepped":true}],` +
		`"clocks":[{"a":0,"b":1,"messages":true,"synchronised":false,"forth":5,"back":6,"offset_ns":-290,"least_drift_ppm":-3,"most_drift_ppm":4,"bound_ns":8},` +
		`{"a":0,"b":1,"messages":false,"synchronised":false,"forth":5,"back":0,"offset_ns":0,"least_drift_ppm":0,"most_drift_ppm":0,"bound_ns":0,"conflict_ns":77}],` +
		`"waits":3,"time_ns":600,"bound_ns":50,"widest_ns":30,"untold":4,"no_latecomer":1}`
	var got, wanted any
	if err := json.Unmarshal(f.Nodes, &got); err != nil {
		t.Fatal(err)
	}
	_ = json.Unmarshal([]byte(want), &wanted)
	a, _ := json.Marshal(got)
	b, _ := json.Marshal(wanted)
	if string(a) != string(b) {
		t.Errorf("got  %s\nwant %s", a, b)
	}
	if len(f.Late) != 1 || f.Late[0].Bound != 40 {
		t.Errorf("%+v", f.Late)
	}
}

// TestBound: times that clocks of several nodes were compared for have a bound.
func TestBound(t *testing.T) {
	for ns, want := range map[int64]string{0: "", 12: " ± 0.1 us", 12345: " ± 12.4 us", 25e6: " ± 25.0 ms", 25e6 + 1: " ± 25.1 ms", 2e9: " ± 2.0 sec"} {
		if got := bound(ns); got != want {
			t.Errorf("%d: %q, not %q", ns, got, want)
		}
	}
}

package report

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"ompp-attach/event"
	"ompp-attach/profile"
	"ompp-attach/report/words"
)

// manyRegions is a run of one second of two threads. It has three large regions, the largest one
// last, and 187 small ones. The second large region holds small loops and a large one.
func manyRegions() *profile.Profile {
	p := &profile.Profile{Meta: profile.Meta{Target: profile.Target{Program: "many"}, Life: profile.Life{Duration: int64(time.Second), Ended: "exit status 0"}},
		Threads: []profile.Thread{{Num: 0, TIDs: []int{1}}, {Num: 1, TIDs: []int{2}}},
		Nodes:   []profile.Node{{Region: -1, Parent: -1}}}
	add := func(parent int, c event.Construct, t time.Duration) int {
		at := len(p.Nodes)
		p.Regions = append(p.Regions, profile.Region{Construct: c, Location: profile.Location{File: "a.c", Begin: 10 * at, End: 10*at + 5}})
		n := profile.Node{Region: at - 1, Parent: parent}
		for th := range p.Threads {
			n.Stats = append(n.Stats, profile.ThreadStats{Thread: th, Exec: profile.Sum{T: int64(t), C: 1}, Body: profile.Sum{T: int64(t), C: 1}})
		}
		p.Nodes = append(p.Nodes, n)
		if parent > 0 {
			for th := range p.Threads {
				p.Nodes[parent].Stats[th].Child += int64(t)
			}
		}
		return at
	}
	add(0, event.Parallel, 100*time.Millisecond)
	for range 187 {
		add(0, event.Parallel, 200*time.Microsecond)
	}
	outer := add(0, event.Parallel, 200*time.Millisecond)
	add(outer, event.Loop, 300*time.Microsecond)
	add(outer, event.Loop, 1234567*time.Nanosecond)
	add(outer, event.Loop, 700*time.Microsecond)
	add(0, event.Parallel, 400*time.Millisecond)
	p.Regions[len(p.Regions)-1].Merged = "2000, 2010"
	return p
}

func callgraphOf(t *testing.T, text string) string {
	t.Helper()
	_, rest, _ := strings.Cut(text, "ompP Callgraph     ------------------------------------------\n"+strings.Repeat("-", 70)+"\n")
	graph, _, ok := strings.Cut(rest, "\n----")
	if !ok {
		t.Fatalf("no callgraph in\n%s", text)
	}
	return graph
}

// Regions that take little time share one row, and nothing is lost: the rows of exclusive time add
// up to the run. The row with most time comes first, and times have enough digits.
func TestLittleIsJoined(t *testing.T) {
	p := manyRegions()
	text := ompTextBy(t, p, Options{})
	graph := callgraphOf(t, text)
	const want = `
  Inclusive  (%)   Exclusive  (%)
  1.000 (100.0%)   0.263 (26.26%)           [many: 2 threads]
  0.400 (40.00%)   0.400 (40.00%) PARALLEL  |-R00193 a.c (1930-1935) (merged with 2000, 2010)
  0.200 (20.00%)   0.198 (19.78%) PARALLEL  |-R00189 a.c (1890-1895)
  0.001 ( 0.12%)   0.001 ( 0.12%)     LOOP  |  |-R00191 a.c (1910-1915)
  0.001 ( 0.10%)   0.001 ( 0.10%)           |  +-and 2 regions below 0.1 % each
  0.100 (10.00%)   0.100 (10.00%) PARALLEL  |-R00001 a.c (10-15)
  0.037 ( 3.74%)   0.037 ( 3.74%)           +-and 187 regions below 0.1 % each
`
	if !strings.HasSuffix(graph, want) {
		t.Errorf("the callgraph is\n%s\nwant\n%s", graph, want)
	}
	var sum float64
	for _, m := range regexp.MustCompile(`(?m)%\) +\S+ \( *(\S+)%\)`).FindAllStringSubmatch(graph, -1) {
		v, err := strconv.ParseFloat(m[1], 64)
		if err != nil {
			t.Fatal(err)
		}
		sum += v
	}
	if sum < 99.9 || sum > 100.1 {
		t.Errorf("exclusive times add up to %.2f %%", sum)
	}
	for _, w := range []string{
		"PARALLEL: 190 regions:\n * R00001 a.c (10-15)\n * R00189 a.c (1890-1895)\n * R00193 a.c (1930-1935) (merged with 2000, 2010)\n * and 187 regions below 0.1 % of the time (--all shows them)\n",
		"... and 189 regions below 0.1 % of the time (--all shows them).\n", // flat
		"... and 189 nodes below 0.1 % of the time (--all shows them).\n",   // callgraph
		// Tables of parallel regions.
		"   ... and 187 regions below 0.1 % of the time\n",
	} {
		if !strings.Contains(text, w) {
			t.Errorf("not in the report: %s", w)
		}
	}

	p.Lost = []profile.Loss{{Region: 5, Thread: -1, Events: 3}}
	p.Meta.LostHits = 3
	if graph := callgraphOf(t, ompTextBy(t, p, Options{})); !strings.Contains(graph, "R00006 ") || !strings.Contains(graph, "and 186 regions") {
		t.Errorf("a region that lost events is not shown:\n%s", graph)
	}
}

// --all shows each row, --sort source the order in which they were recorded.
func TestAllRowsInTheSourcesOrder(t *testing.T) {
	p := manyRegions()
	text := ompTextBy(t, p, Options{All: true, Sort: BySource})
	graph := callgraphOf(t, text)
	at := -1
	for i := range p.Regions {
		next := strings.Index(graph, fmt.Sprintf("R%05d ", i+1))
		if next <= at {
			t.Fatalf("R%05d is not where it was recorded:\n%s", i+1, graph)
		}
		at = next
	}
	if strings.Contains(text, "below 0.1 %") {
		t.Error("rows are left out")
	}
	if graph := callgraphOf(t, ompTextBy(t, p, Options{Sort: BySource})); strings.Index(graph, "R00001 ") > strings.Index(graph, "R00193 ") {
		t.Errorf("not in the source's order:\n%s", graph)
	}
}

// Shorter runs have more decimals, so that a thousandth of the run shows.
func TestDecimals(t *testing.T) {
	for d, want := range map[time.Duration]string{0: "0.12", 100 * time.Second: "0.12", 10 * time.Second: "0.12", 9 * time.Second: "0.123", time.Second: "0.123",
		500 * time.Millisecond: "0.1235", 99 * time.Millisecond: "0.12346", 9 * time.Millisecond: "0.123457", time.Microsecond: "0.123457"} {
		p := &profile.Profile{Meta: profile.Meta{Life: profile.Life{Duration: int64(d)}}}
		if got := words.ClockOf(p).Seconds(123456789, 0); got != want {
			t.Errorf("in a run of %s: %s, want %s", d, got, want)
		}
	}
	if got := (Options{Decimals: 2}).clock(&profile.Profile{Meta: profile.Meta{Life: profile.Life{Duration: 1}}}).Seconds(123456789, 0); got != "0.12" {
		t.Errorf("two decimals: %s", got)
	}
}

// All rows of a program that sleeps nearly all of the time are shown.
func TestIdleProgramIsShown(t *testing.T) {
	p := manyRegions()
	p.Meta.Duration *= 1000
	if text := ompTextBy(t, p, Options{}); strings.Contains(callgraphOf(t, text), "below 0.1 %") || !strings.Contains(text, "R00042 a.c (420-425) PARALLEL\n") {
		t.Errorf("rows are left out:\n%s", callgraphOf(t, text))
	}
}

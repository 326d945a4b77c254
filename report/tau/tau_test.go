package tau

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ompp-attach/event"
	"ompp-attach/profile"
	"ompp-attach/report/reporttest"
	"ompp-attach/severity"
)

var (
	head  = regexp.MustCompile(`^(\d+) templated_functions_MULTI_(\S+)$`)
	entry = regexp.MustCompile(`^"([^"]*)" (\d+) (\d+) ([\d.]+) ([\d.]+) 0 GROUP="([^"]*)"$`)
)

// read is a reader of TAU's format: exclusive and inclusive values by name.
func read(t *testing.T, text string) (metric string, own, all map[string]float64) {
	t.Helper()
	lines := strings.Split(text, "\n")
	m := head.FindStringSubmatch(lines[0])
	if m == nil || !strings.HasPrefix(lines[1], "# Name Calls Subrs Excl Incl ProfileCalls # <metadata>") {
		t.Fatalf("the head is %q", lines[:2])
	}
	n, _ := strconv.Atoi(m[1])
	if len(lines) != n+5 || lines[n+2] != "0 aggregates" {
		t.Fatalf("%d lines for %d functions", len(lines), n)
	}
	own, all = map[string]float64{}, map[string]float64{}
	for _, line := range lines[2 : n+2] {
		e := entry.FindStringSubmatch(line)
		if e == nil {
			t.Fatalf("no function: %s", line)
		}
		own[e[1]], _ = strconv.ParseFloat(e[4], 64)
		all[e[1]], _ = strconv.ParseFloat(e[5], 64)
	}
	return m[2], own, all
}

// counted has a region with a counter, in which the same region is executed again, and names that
// would break the format.
func counted() *profile.Profile {
	span := func(s int64, c uint64) profile.Sum { return profile.Sum{T: s * 1e9, C: c} }
	return &profile.Profile{Meta: profile.Meta{Target: profile.Target{Program: "p"}, Life: profile.Life{Duration: 10e9},
		Choices: profile.Choices{Counters: []profile.Counter{{Name: "cpu/event=0xc2/"}}}},
		Threads: []profile.Thread{{}, {Num: 1}},
		Regions: []profile.Region{{Construct: event.Parallel, Location: profile.Location{File: "a.c", Begin: 3, End: 9}},
			{Construct: event.Critical, Name: "q\" => \n", Location: profile.Location{File: "b.c", Begin: 4}}},
		Nodes: []profile.Node{{Parent: -1, Region: -1},
			{Parent: 0, Region: 0, Stats: []profile.ThreadStats{{Exec: span(6, 2), Body: span(6, 2), Child: 4e9, Counters: []int64{60}, ChildCounters: []int64{40}},
				{Thread: 1, Exec: span(6, 2), Body: span(5, 2), Barrier: span(1, 2), Counters: []int64{7}}}},
			{Parent: 1, Region: 1, Stats: []profile.ThreadStats{{Exec: span(4, 3), Body: span(4, 3), Child: 1e9, Counters: []int64{40}, ChildCounters: []int64{15}}}},
			{Parent: 2, Region: 1, Stats: []profile.ThreadStats{{Exec: span(1, 1), Body: span(1, 1), Counters: []int64{15}}}}}}
}

func TestFiles(t *testing.T) {
	c := severity.Of(counted(), severity.Options{})
	var got []string
	for _, f := range Files(c) {
		var out bytes.Buffer
		if err := f.Write(&out); err != nil {
			t.Fatal(err)
		}
		metric, own, all := read(t, out.String())
		if !strings.HasPrefix(f.Name, "MULTI__"+metric+"/") {
			t.Errorf("%s counts %s", f.Name, metric)
		}
		paths := own[root]
		for name, v := range own {
			if strings.Contains(name, " => ") {
				paths += v
			}
		}
		got = append(got, fmt.Sprintf("%s %g %g", f.Name, paths, all[root]))
		if f.Name == "MULTI__TIME/profile.0.0.0" {
			reporttest.Golden(t, "profile.0.0.0.golden", out.Bytes())
			// The critical that calls itself is inclusive once.
			if name := `CRITICAL q' -> $'\012' [{b.c} {4,0}-{4,0}]`; own[name] != 4e6 || all[name] != 4e6 {
				t.Errorf("the critical has %g exclusive and %g inclusive of %v", own[name], all[name], own)
			}
		}
	}
	want := []string{"MULTI__TIME/profile.0.0.0 1e+07 1e+07", "MULTI__TIME/profile.0.0.1 1e+07 1e+07",
		"MULTI__cpu_event_0xc2_/profile.0.0.0 60 60", "MULTI__cpu_event_0xc2_/profile.0.0.1 7 7"}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("sums over call paths, and inclusive values of the program (-want +got):\n%s", d)
	}
}

// TestHiddenTimes: each file says that nothing can be told of the times.
func TestHiddenTimes(t *testing.T) {
	c := severity.Of(counted(), severity.Options{})
	c.Silent = true
	for _, f := range Files(c) {
		var out bytes.Buffer
		if err := f.Write(&out); err != nil {
			t.Fatal(err)
		}
		read(t, out.String())
		_, text, _ := strings.Cut(strings.Split(out.String(), "\n")[1], "# <metadata>")
		var metadata struct {
			Attributes []struct {
				Name  string `xml:"name"`
				Value string `xml:"value"`
			} `xml:"attribute"`
		}
		if err := xml.Unmarshal([]byte("<metadata>"+text), &metadata); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		if last := metadata.Attributes[len(metadata.Attributes)-1]; last.Name != "Times" || last.Value != "What costs time "+c.CannotTell() {
			t.Errorf("%s: metadata %q", f.Name, metadata)
		}
	}
}

// TestRanks: a job's files bear the ranks' numbers, and threads are numbered in each rank.
func TestRanks(t *testing.T) {
	one := severity.Of(reporttest.PlainProfile(), severity.Options{})
	s := severity.NewSum(severity.MostValues)
	for _, rank := range []int{3, 5} {
		c := *one
		c.Processes = []severity.Process{{Rank: rank}}
		s.Add(&c, []int{0, 1})
	}
	var got []string
	for _, f := range Files(s.Finish(one.Regions, []int{0, 1})) {
		got = append(got, f.Name)
	}
	if d := cmp.Diff([]string{"profile.3.0.0", "profile.3.0.1", "profile.5.0.0", "profile.5.0.1"}, got); d != "" {
		t.Errorf("files (-want +got):\n%s", d)
	}
}

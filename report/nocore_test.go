package report

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"ompp-attach/analysis"
	"ompp-attach/event"
	"ompp-attach/profile"
	"ompp-attach/report/reporttest"
	"ompp-attach/report/words"
)

// TestNoCoreTold: one figure says how long threads lacked a core, and which part of that is an
// overhead. A worker lacked one for 1.0 of 8 thread-sec, 0.6 of these in a
// critical section and before it.
func TestNoCoreTold(t *testing.T) {
	for rest, want := range map[int64]string{
		400e6: "no core             1.000 thread-sec (12.5% of the threads' time) ready to run without a core: 7.5% in the overheads of parallel regions, 5.0% in other time; overheads may",
		0:     "no core             0.600 thread-sec (7.5% of the threads' time) ready to run without a core\n",
	} {
		p := reporttest.PlainProfile()
		p.Nodes[0].Stats = []profile.ThreadStats{{Thread: 1, NoCore: &profile.Cost{Exec: 600e6 + rest}}}
		for i := range p.Nodes[1:] {
			c := profile.Cost{Exec: 600e6, Enter: 200e6, Body: 400e6}
			if i == 0 { // the parallel region around
				c = profile.Cost{Exec: 600e6, Body: 600e6, Child: 600e6}
			}
			p.Nodes[i+1].Stats[1].NoCore = &c
		}
		text := summaryOf(t, p)
		if !strings.Contains(text, want) || !strings.Contains(text, " + no core 7.5%, in parallel regions\n") {
			t.Errorf("%d ns elsewhere:\n%s", rest, text)
		}
		if !strings.Contains(text, " no core 7.5% (R00002), ") {
			t.Errorf("the efficiency lacks the share:\n%s", text)
		}
	}
}

// The header names the process itself if it has more threads than cores.
func TestOwnCrowdTold(t *testing.T) {
	for cpus, want := range map[profile.CPUs]bool{"": false, "0,2": false, "7": true} {
		p := reporttest.PlainProfile()
		p.Meta.CPUs = cpus
		p.Nodes[0].Stats = []profile.ThreadStats{{Thread: 1, NoCore: &profile.Cost{Exec: 4e9}}}
		text := summaryOf(t, p)
		if !strings.Contains(text, "(50.0% of the threads' time) ready to run without a core, none of it in the overheads of parallel regions; overheads") {
			t.Errorf("on %s:\n%s", cpus, text)
		}
		if strings.Contains(text, ". The process itself has more threads than cores: 2 threads on 1 core\n") != want {
			t.Errorf("on %s:\n%s", cpus, text)
		}
	}
}

// The header and the time without a core name the tool's own processor time, where that is much.
func TestToolTimeTold(t *testing.T) {
	for tool, want := range map[int64]bool{0: false, 399e6: false, 400e6: true} {
		p := reporttest.PlainProfile()
		p.Nodes[0].Stats = []profile.ThreadStats{{Thread: 1, NoCore: &profile.Cost{Exec: 4e9}}}
		p.Meta.ToolTime = tool
		said := ". ompp-attach itself took 0.400 sec of processor time, for which threads may have had to wait\n"
		if text := summaryOf(t, p); strings.Contains(text, said) != want {
			t.Errorf("%d ns:\n%s", tool, text)
		}
		var b bytes.Buffer
		if err := WriteOmpp(&b, p, Options{}); err != nil {
			t.Fatal(err)
		}
		line := fmt.Sprintf("Tool Cost       : %s sec of processor time that ompp-attach itself took, on any core (the process: 30.750 sec)\n", words.ClockOf(p).Seconds(tool, 0))
		if strings.Contains(b.String(), line) != (tool > 0) {
			t.Errorf("%d ns: no line %q in\n%s", tool, line, b.String()[:3000])
		}
	}
}

// What rounds to nothing is not called none.
func TestLittleNoCoreInOverheads(t *testing.T) {
	p := reporttest.PlainProfile()
	p.Meta.Duration = 8e9
	for class, want := range map[int64]string{0: ", none of it in the overheads", 1: ", next to none of it in the overheads"} {
		p.Nodes[0].Stats = []profile.ThreadStats{{Thread: 1, NoCore: &profile.Cost{Exec: 4e9}}}
		if got := noCoreText(p, class, func(ns int64) string { return words.Percent(float64(ns) / 16e9) }); !strings.Contains(got, want) {
			t.Errorf("%d ns: %s", class, got)
		}
	}
}

// Regions without a core are one property of the text, with --all one each.
func TestCorelessJoined(t *testing.T) {
	hold := []analysis.Property{{Name: analysis.WaitForCore, Severity: .3}, {Name: analysis.WaitAtBarrier, Severity: .2},
		{Name: analysis.WaitForCore, Region: 1, Severity: .1}, {Name: analysis.WaitForCore, Region: 1, Severity: .05}}
	o := &ompp{p: &profile.Profile{Regions: []profile.Region{{Construct: event.Parallel, Name: "one"}, {Construct: event.Parallel, Name: "two"}}}}
	kept, says := o.joinCoreless(hold)
	if len(kept) != 2 || !strings.HasPrefix(says, "(and for R00002 ") || !strings.HasSuffix(says, ", with 15.000000 together)") {
		t.Errorf("%+v, %q", kept, says)
	}
	o.All = true
	if kept, says := o.joinCoreless(hold); len(kept) != 4 || says != "" {
		t.Errorf("%+v, %q", kept, says)
	}
}

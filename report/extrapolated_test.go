package report

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"ompp-attach/event"
	"ompp-attach/profile"
	"ompp-attach/report/reporttest"
)

// extrapolatedProfile is a region of 10 s. Its critical sections were not observed for 4 s.
func extrapolatedProfile() *profile.Profile {
	b := reporttest.NewBuilder("storm", 10)
	b.Team(0, 1)
	par := b.Node(0, b.Region(event.Parallel, profile.Location{File: "storm.c", Begin: 3, End: 9}), nil, reporttest.Row{Thread: 0, Body: 10, C: 1})
	b.Node(par, b.Region(event.Critical, profile.Location{File: "storm.c", Begin: 5, End: 6}), nil, reporttest.Row{Thread: 0, Body: 5, C: 5000})
	b.Node(par, b.Region(event.Lock, profile.Location{File: "storm.c", Begin: 8, End: 8}), nil, reporttest.Row{Thread: 0, Body: 1, C: 70})
	p := b.P
	p.Nodes[2].Stats[0].Estimate = &profile.Estimate{Exec: profile.Sum{T: reporttest.NS(2), C: 2000}, Body: profile.Sum{T: reporttest.NS(2), C: 2000},
		CountError: 120.5, TimeError: 0.25e9}
	p.Nodes[1].Stats[0].Estimate = &profile.Estimate{Child: reporttest.NS(2)}
	p.Meta.Budget = &profile.Budget{Share: 0.05, Horizon: 10e9, Worst: 0.0412}
	p.Meta.Observations = []profile.Observation{{Name: "critical", Of: event.SetOf(event.Critical), Unobserved: 4e9, Sampled: 1e9, Gaps: 3}}
	return p
}

// The budget of a short run was watched over less than ten seconds.
func TestBudgetOfShortRun(t *testing.T) {
	p := extrapolatedProfile()
	p.Meta.Budget.Horizon = 0.4e9
	var out bytes.Buffer
	if err := WriteOmpp(&out, p, Options{}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "used in any 0.4 sec\n") {
		t.Errorf("%.3000s", out.String())
	}
}

func TestExtrapolatedFiguresAreMarked(t *testing.T) {
	p := extrapolatedProfile()
	var out bytes.Buffer
	if err := WriteOmpp(&out, p, Options{}); err != nil {
		t.Fatal(err)
	}
	text := strings.Join(strings.Fields(out.String()), " ")
	for _, want := range []string{
		"Overhead Budget : 5.0% of a thread's time, at most 4.12% used in any 10 sec",
		"Not Observed : critical: 4.00 sec in 3 gaps; observed for 1.00 sec around them",
		"SUM ~5.00 ~5000 ~5.00 ~0.00 ~0.00",    // the critical
		"SUM 1.00 70 1.00 0.00 0.00",           // the lock is exact
		"0 10.00 1 10.00 ~4.00 0.00 0.00 0.00", // the region's exclusive time is not exact
		"5000 executions, 4759 to 5241 (3000 observed), 5.00 sec +- 0.50 (3.00 observed)",
		"there may be more places of these constructs",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in the report:\n%s", want, out.String())
		}
	}
	var summary bytes.Buffer
	if err := Summary(&summary, p, nil, Options{}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(summary.String(), "not always observed critical") {
		t.Errorf("summary:\n%s", summary.String())
	}
	pp := buildPprof(p, Options{})
	for _, s := range pp.Sample {
		construct := strings.Join(s.Label["construct"], "")
		if marked := len(s.Label["extrapolated"]) > 0; construct != "" && marked != (construct != "LOCK") {
			t.Errorf("%s: label %v", construct, s.Label)
		}
	}
	if !slices.ContainsFunc(pp.Comments, func(s string) bool { return strings.Contains(s, "critical: 4.00 sec") }) {
		t.Errorf("comments %q", pp.Comments)
	}
}

// If nothing is known of the time without observation, the figures are those of the observed time,
// and say so.
func TestLeastFiguresAreMarked(t *testing.T) {
	p := extrapolatedProfile()
	p.Nodes[2].Stats[0].Estimate = &profile.Estimate{AtLeast: true}
	p.Nodes[1].Stats[0].Estimate = &profile.Estimate{Inside: true}
	var out, summary bytes.Buffer
	if err := WriteOmpp(&out, p, Options{}); err != nil {
		t.Fatal(err)
	}
	text := strings.Join(strings.Fields(out.String()), " ")
	for _, want := range []string{
		"SUM 5.00+ 5000+ 5.00+ 0.00+ 0.00+", // the critical
		"SUM 1.00 70 1.00 0.00 0.00",        // the lock is exact
		"0 10.00 1 10.00 ~4.00 0.00 0.00 0.00",
		"at least 5000 executions, at least 5.00 sec",
		"there may be more places of these constructs",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in the report:\n%s", want, out.String())
		}
	}
	if err := Summary(&summary, p, nil, Options{}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(summary.String(), "at least            5000 executions of R00002 storm.c (5-6) (unnamed) CRITICAL; how many more is not known") {
		t.Errorf("summary:\n%s", summary.String())
	}
	for _, s := range buildPprof(p, Options{}).Sample {
		construct := strings.Join(s.Label["construct"], "")
		if least, guessed := len(s.Label["at_least"]) > 0, len(s.Label["extrapolated"]) > 0; least != (construct == "CRITICAL") || guessed != (construct == "PARALLEL") {
			t.Errorf("%s: label %v", construct, s.Label)
		}
	}
}

// In a region whose tasks were not observed all of the time, waiting is said to be in doubt. Counts
// with a mark are not said to be exact.
func TestWaitingThatMayBeTasksIsTold(t *testing.T) {
	b := reporttest.NewBuilder("storm", 10)
	b.Team(0, 1)
	b.Team(0, 2)
	par := b.Node(0, b.Region(event.Parallel, profile.Location{File: "storm.c", Begin: 3, End: 9}), nil,
		reporttest.Row{Thread: 0, Body: 10, C: 1}, reporttest.Row{Thread: 1, Body: 2, Barrier: 8, C: 1})
	b.Node(par, b.Region(event.TaskExec, profile.Location{File: "storm.c", Begin: 5, End: 6}), nil, reporttest.Row{Thread: 0, Body: 4, C: 50})
	p := b.P
	p.Nodes[2].Stats[0].Estimate = &profile.Estimate{AtLeast: true}
	p.Nodes[2].Stats[0].Cost = &profile.Cost{Exec: reporttest.NS(3), Body: reporttest.NS(3)}
	p.Meta.Overhead = &profile.Overhead{Probes: []profile.ProbeHits{{Probe: "call", Hits: 3, Before: reporttest.NS(1)}}}
	var out, summary bytes.Buffer
	if err := WriteOmpp(&out, p, Options{}); err != nil {
		t.Fatal(err)
	}
	if err := Summary(&summary, p, nil, Options{}); err != nil {
		t.Fatal(err)
	}
	const away = "Tasks were not observed all of the time: what seems to be waiting in R00001 storm.c (3-9) PARALLEL may be tasks.\n"
	for text, want := range map[string][]string{
		out.String(): {away, "counts are exact where they bear no mark, times and waits are rough",
			"Left out, since they may be tasks that were not observed: ImbalanceInParallelRegion of R00001 storm.c (3-9) PARALLEL.\n\n---"},
		summary.String(): {"rough               " + away},
	} {
		for _, w := range want {
			if !strings.Contains(text, w) {
				t.Errorf("%q is not in\n%s", w, text)
			}
		}
	}
}

// The report says which level was let go, since when, and how many of its calls were counted.
func TestReportOfALevelThatWasLetGo(t *testing.T) {
	p := extrapolatedProfile()
	x := profile.Observation{Name: "level blas", Levels: []string{"blas"}, Of: event.LevelGroup(1).Constructs(), Unobserved: 4e9, Sampled: 1e9, Gaps: 3,
		First: 15e8, Before: 1, Counted: 3000}
	executions := x
	executions.Name, executions.Levels, executions.Before = "critical", nil, 70
	p.Meta.Observations = []profile.Observation{x, executions}
	for _, lost := range []uint64{0, 3} {
		p.Meta.LostHits = lost
		all := map[uint64]string{0: "all ", 3: ""}[lost]
		var out bytes.Buffer
		if err := WriteOmpp(&out, p, Options{}); err != nil {
			t.Fatal(err)
		}
		text := strings.Join(strings.Fields(out.String()), " ")
		for _, want := range []string{
			"Not Observed : level blas: 4.00 sec in 3 gaps; observed for 1.00 sec around them; counted: " + all + "1 call of the first 1.50 sec, 3000 in all; there may have been more",
			"Not Observed : critical: 4.00 sec in 3 gaps; observed for 1.00 sec around them; counted: " + all + "70 executions of the first 1.50 sec, 3000 in all",
			"Not observed: level blas: 4.00 sec in 3 gaps",
		} {
			if !strings.Contains(text, want) {
				t.Errorf("%d hits lost: %q is not in the report:\n%s", lost, want, out.String())
			}
		}
	}
}

package report

import (
	"bytes"
	"strings"
	"testing"

	"ompp-attach/event"
	"ompp-attach/profile"
	"ompp-attach/report/reporttest"
)

// Derived ends are told with intervals: of the whole, and of each region.
func TestDerivedEndsAreTold(t *testing.T) {
	b := reporttest.NewBuilder("small", 10)
	b.Team(0, 1)
	for line := range 2 {
		b.Node(0, b.Region(event.Parallel, profile.Location{File: "small.c", Begin: 3 + 10*line, End: 9 + 10*line}), nil, reporttest.Row{Thread: 0, Body: 4, C: 2000})
	}
	p := b.P
	write := func() string {
		var out bytes.Buffer
		if err := WriteOmpp(&out, p, Options{}); err != nil {
			t.Fatal(err)
		}
		return strings.Join(strings.Fields(out.String()), " ")
	}
	if text := write(); strings.Contains(text, "derive") {
		t.Errorf("nothing was derived:\n%s", text)
	}
	p.Meta.Edges = profile.Edges{All: 4000, Derived: 3900}
	p.Nodes[1].Stats[0].Ends = &profile.Ends{Startup: profile.End{Count: 1900, Time: 1_900_000, Due: 2_000_000, Variance: 50_000 * 50_000},
		Shutdown: profile.End{Count: 1000, Time: 5_000, Due: 5_000, Variance: 10_000 * 10_000}}
	p.Nodes[2].Stats[0].Ends = &profile.Ends{Startup: profile.End{Count: 1, Time: 100_000, Due: 100_000}}
	text := write()
	for _, want := range []string{
		"Derived Times : startup of 1901 executions 2.000 ms (2.000 to 2.200), shutdown of 1000 executions 0.005 ms (0.000 to 0.025)",
		"R00001 small.c (3-9) PARALLEL: startup of 1900 executions 1.900 ms (1.900 to 2.100), shutdown of 1000 executions",
		"R00002 small.c (13-19) PARALLEL: startup of 1 execution 0.100 ms (0.100 to 0.100)",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in the report:\n%s", want, text)
		}
	}
}

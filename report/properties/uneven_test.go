package properties

import (
	"strings"
	"testing"

	"ompp-attach/event"
	"ompp-attach/severity"
)

// Where a loop leaves threads without work, it is said when no schedule helps.
func TestStarvingLoops(t *testing.T) {
	for _, few := range []bool{false, true} {
		p := barriers(2, 20)
		p.Regions[0].Construct = event.ParallelLoop
		for i := range p.Nodes[1].Stats {
			p.Nodes[1].Stats[i].Body.T = 50e9
		}
		if few {
			p.Nodes[1].Stats[1].Body.T = 1e6
		}
		text := strings.Join(strings.Fields(write(t, "text", severity.Of(p, severity.Options{}), options(false))), " ")
		if strings.Contains(text, "no schedule helps: collapse") != few || strings.Contains(text, "use schedule(dynamic)") == few || strings.Contains(text, "doubt ") {
			t.Errorf("few %t:\n%s", few, text)
		}
	}
}

// Where threads wait for threads that began late, no other schedule is advised.
func TestLateThreads(t *testing.T) {
	for _, c := range []struct {
		construct event.Construct
		late      bool
		usual     string
	}{{event.ParallelLoop, false, "use schedule(dynamic)"}, {event.ParallelLoop, true, "use schedule(dynamic)"},
		{event.Parallel, false, "Balance the region's work"}, {event.Parallel, true, "Balance the region's work"}} {
		p := barriers(2, 20)
		p.Regions[0].Construct = c.construct
		first, second := &p.Nodes[1].Stats[0], &p.Nodes[1].Stats[1]
		first.Exec.T, second.Exec.T = 40e9, 40e9
		first.Body.T, second.Body.T = 20e9, 40e9
		if c.late {
			second.Enter.T, second.Body.T = 20e9, 20e9
		}
		text := strings.Join(strings.Fields(write(t, "text", severity.Of(p, severity.Options{}), options(false))), " ")
		if strings.Contains(text, "wait least began last") != c.late || strings.Contains(text, "Dividing the work otherwise does not help") != c.late ||
			strings.Contains(text, c.usual) == c.late {
			t.Errorf("%v, late %t:\n%s", c.construct, c.late, text)
		}
	}
}

// A place where threads begin late has its own advice, also below another place of the property.
func TestLateBelowUneven(t *testing.T) {
	p := barriers(2, 25, 20)
	p.Nodes[1].Stats[0].Body.T = 1e9
	first, second := &p.Nodes[2].Stats[0], &p.Nodes[2].Stats[1]
	first.Exec.T, second.Exec.T, second.Enter.T, first.Body.T = 40e9, 40e9, 20e9, 20e9
	text := strings.Join(strings.Fields(write(t, "text", severity.Of(p, severity.Options{}), options(false))), " ")
	for _, want := range []string{"had the most work: the others", "least began last", "Balance the region's work", "Dividing the work otherwise"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q:\n%s", want, text)
		}
	}
}

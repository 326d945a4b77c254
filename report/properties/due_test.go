package properties

import (
	"strings"
	"testing"

	"ompp-attach/severity"
)

// The critical path names regions and what balance saves there; what is not known is told, too.
func TestCriticalPath(t *testing.T) {
	p := barriers(2, 50, 10)
	p.Nodes[1].Stats[1].Waits.OnPath = 40e9
	p.Nodes[2].Stats[1].Waits.OnPath = 10e9
	text := strings.Join(strings.Fields(write(t, "text", severity.Of(p, severity.Options{}), options(false))), " ")
	for _, want := range []string{"Shares are of 100.00 sec, the path's length. 40.00 sec 40.0 % outside of all regions 40.00 sec 40.0 % a.c (10-15) PARALLEL; " +
		"perfect balance here saves at most 15.00 of the run's 100.00 sec 10.00 sec 10.0 % a.c (20-25) PARALLEL; perfect balance here saves at most 5.00 of",
		"10.00 sec 10.0 % completing barriers, waiting there for tasks, ends of regions, or not known"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in %s", want, text)
		}
	}
	several := severity.Of(p, severity.Options{})
	several.Processes = append(several.Processes, severity.Process{})
	if text := strings.Join(strings.Fields(write(t, "text", several, options(false))), " "); !strings.Contains(text, "of 100.00 sec, the length of all these paths together.") {
		t.Errorf("of several processes: %s", text)
	}
	without := write(t, "text", severity.Of(forks(barriers(2), 10), severity.Options{}), options(false))
	if strings.Contains(without, "Critical path:") {
		t.Errorf("a path of which no team's part is known: %s", without)
	}
}

package properties

import (
	"strings"
	"testing"

	"ompp-attach/profile"
	"ompp-attach/severity"
)

// A sum above the time of all threads has its reason: teams that nest only where some do.
func TestSumAboveAll(t *testing.T) {
	p := busy(barriers(2, 40))
	p.Meta.Duration = 98e9
	text := func() string {
		return strings.Join(strings.Fields(write(t, "text", severity.Of(p, severity.Options{}), options(false))), " ")
	}
	if got := text(); !strings.Contains(got, "wall time times threads: the time that probes took fits into no part.") {
		t.Errorf("without nested teams: %s", got)
	}
	p.Nodes = append(p.Nodes, profile.Node{Parent: 1, Region: 0, Stats: []profile.ThreadStats{{Exec: profile.Sum{T: 1e9, C: 1}, Body: profile.Sum{T: 1e9, C: 1}}}})
	if got := text(); !strings.Contains(got, "wall time times threads: teams that nest have more threads than there are numbers, or the time") {
		t.Errorf("with nested teams: %s", got)
	}
}

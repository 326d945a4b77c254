package counting

import (
	"strings"
	"testing"

	"ompp-attach/perfcounters"
)

// Reports and messages put a counter's name before the reason why it has no counts.
func TestUncountedNamedOnce(t *testing.T) {
	c := New([]perfcounters.Counter{{Name: "nothing", Type: 1 << 30}})
	if why := c.counters[0].Failed; why == "" || strings.Contains(why, "nothing") {
		t.Errorf("not counted: %q", why)
	}
	if notes := c.Notes(); len(notes) != 1 || strings.Count(notes[0], "nothing: ") != 1 {
		t.Errorf("notes %q", notes)
	}
}

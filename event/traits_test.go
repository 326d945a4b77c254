package event

import "testing"

// TestTable: each construct has a row with a name of its own. The short name fits into reports.
func TestTable(t *testing.T) {
	names := map[string]Construct{}
	for _, c := range AllConstructs() {
		r := c.Traits()
		if other, ok := names[r.Name]; ok || r.Name == "" {
			t.Errorf("construct %d is named %q, as %d is", c, r.Name, other)
		}
		names[r.Name] = c
		if got, ok := ParseConstruct(r.Name); !ok || got != c {
			t.Errorf("%q is read as %v", r.Name, got)
		}
		shown := r.Short
		if shown == "" {
			shown = r.Name
		}
		if len(shown) > 9 { // TASKYIELD: reports have always shown it whole
			t.Errorf("%s has no short name: %q", r.Name, shown)
		}
		if r.Form == nil {
			t.Errorf("%s has no form", r.Name)
		}
	}
}

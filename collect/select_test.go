package collect

import (
	"testing"

	"ompp-attach/collect/selection"
)

// Notes on barriers know that constructs are left out.
func TestSelectWorksharing(t *testing.T) {
	for word, want := range map[string]bool{"loop": true, "lock": false} {
		s, err := selection.New([]string{word}, nil)
		if err != nil {
			t.Fatal(err)
		}
		m := assemble(&common{})
		if m.Select(s); m.wanted.LeavesWorksharing != want {
			t.Errorf("--disable %s: worksharing left out: %t", word, !want)
		}
	}
}

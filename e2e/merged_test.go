package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ompp-attach/event"
	"ompp-attach/internal/testbin"
)

// A row that is several loops in the source says so.
func TestMergedLoopsAreMarked(t *testing.T) {
	atOnce(t)
	s := clean(t, options{env: threadsEnv(2)}, testbin.Build(t, "merged.c", build{"gcc", "-O2 -g"}.options()))
	var merged []string
	for i := range s.main.Regions {
		if r := &s.main.Regions[i]; r.Construct == event.Loop {
			merged = append(merged, r.Merged)
		}
	}
	if len(merged) != 1 || merged[0] != "15, 18" {
		t.Fatalf("loops merged with those of lines %q, want one, with 15, 18", merged)
	}
	text, err := os.ReadFile(filepath.Join(s.dir, "profile.ompp.txt"))
	if want := "merged.c (12-14) (merged with 15, 18)\n"; err != nil || strings.Count(string(text), want) < 2 {
		t.Errorf("the rows (%v) lack %q:\n%s", err, want, text)
	}
}

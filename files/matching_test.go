package files

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestMatching: names of directories are no patterns.
func TestMatching(t *testing.T) {
	for _, name := range []string{"plain", "run[1]", "what?", "a*", "open[", `back\slash`} {
		dir := filepath.Join(t.TempDir(), name)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		for _, f := range []string{"b.json", "a.json", "a.txt", ".hidden"} {
			if err := os.WriteFile(filepath.Join(dir, f), nil, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if d := cmp.Diff([]string{filepath.Join(dir, "a.json"), filepath.Join(dir, "b.json")}, Matching(dir, "*.json")); d != "" {
			t.Errorf("%s: -want +got\n%s", name, d)
		}
	}
	if got := Matching(filepath.Join(t.TempDir(), "none"), "*"); got != nil {
		t.Errorf("a directory that does not exist has %v", got)
	}
}

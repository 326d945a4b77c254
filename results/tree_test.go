package results

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestClear: files of an older report go, what is the user's stays.
func TestClear(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"job.tau/profile.0.0.7", "job.tau/MULTI__TIME/profile.1.0.0", "job.tau/MULTI__TIME/notes", "job.tau/mine/profile.0.0.0", "profile.0.0.0"} {
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		if err := Clear(dir, "job.tau"); err != nil {
			t.Fatal(err)
		}
	}
	var left []string
	_ = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			name, _ := filepath.Rel(dir, path)
			left = append(left, name)
		}
		return err
	})
	if d := cmp.Diff([]string{"job.tau/MULTI__TIME/notes", "job.tau/mine/profile.0.0.0", "profile.0.0.0"}, left); d != "" {
		t.Errorf("files (-want +got):\n%s", d)
	}
	for name, want := range map[string]bool{"profile.tau": true, "profile.rank3.tau": true, "profile.pid77.tau": true, "job.tau": true, "my.tau": false, "profile.tau.old": false} {
		if got := resultTree.MatchString(name); got != want {
			t.Errorf("%s is ours: %v", name, got)
		}
	}
	if err := Clear(dir, "missing"); err != nil {
		t.Error(err)
	}
}

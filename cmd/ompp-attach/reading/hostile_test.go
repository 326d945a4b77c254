package reading

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"ompp-attach/results"
)

// Profiles that block when they are read are refused, with the reason.
func TestHostileProfiles(t *testing.T) {
	dir := t.TempDir()
	profile, rank := filepath.Join(dir, "one", results.RecordName), filepath.Join(dir, "job", "profile.rank0.json.gz")
	if err := errors.Join(os.Mkdir(filepath.Dir(profile), 0o755), os.Mkdir(filepath.Dir(rank), 0o755),
		unix.Mkfifo(profile, 0o666), unix.Mkfifo(rank, 0o666)); err != nil {
		t.Fatal(err)
	}
	for what, call := range map[string]func() error{
		profile: func() error { return rereport(filepath.Dir(profile), &reportFlags{rank: -1}) },
		"rank":  func() error { return rereport(filepath.Dir(rank), &reportFlags{rank: 0}) },
		"job":   func() error { return rereport(filepath.Dir(rank), &reportFlags{rank: -1}) },
	} {
		done := make(chan error, 1)
		go func() { done <- call() }()
		select {
		case err := <-done:
			if err == nil || !strings.Contains(err.Error(), "not a regular file") {
				t.Errorf("%s: %v", what, err)
			} else {
				t.Log(err)
			}
		case <-time.After(30 * time.Second):
			t.Fatalf("%s blocks", what)
		}
	}
}

package testbin

import (
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// A file can be executed at once, though other goroutines start processes all the time.
func TestExecutableBesideForks(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a thousand processes")
	}
	var others sync.WaitGroup
	done := make(chan struct{})
	for range 4 {
		others.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
					_ = exec.Command("true").Run()
				}
			}
		})
	}
	path := filepath.Join(t.TempDir(), "script")
	for range 100 {
		Executable(t, path, []byte("#!/bin/sh\nexit 0\n"))
		if err := exec.Command(path).Run(); err != nil {
			t.Errorf("executing the file: %v", err)
			break
		}
	}
	close(done)
	others.Wait()
}

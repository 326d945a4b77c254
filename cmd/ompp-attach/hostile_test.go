package main

import (
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A file that blocks or has no end is refused in one sentence, which names the file.
func TestHostileFiles(t *testing.T) {
	dir := t.TempDir()
	fifo := filepath.Join(dir, "fifo")
	if err := unix.Mkfifo(fifo, 0o666); err != nil {
		t.Fatal(err)
	}
	for what, call := range map[string]func() error{
		fifo:                 func() error { return listRegions(io.Discard, fifo, "", false, false) },
		"/proc/self/pagemap": func() error { return listRegions(io.Discard, "/proc/self/pagemap", "", false, false) },
		"/dev/zero":          func() error { return listRegions(io.Discard, "/dev/zero", "", false, false) },
	} {
		done := make(chan error, 1)
		go func() { done <- call() }()
		select {
		case err := <-done:
			if err == nil || !strings.Contains(err.Error(), "not a regular file") && !strings.Contains(err.Error(), "kernel") {
				t.Errorf("%s: %v", what, err)
			} else {
				t.Log(err)
			}
		case <-time.After(30 * time.Second):
			t.Fatalf("%s blocks", what)
		}
	}
}

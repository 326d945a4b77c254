// Package streamtest reads recorded streams of events. For tests only.
package streamtest

import (
	"os"
	"testing"

	"ompp-attach/attribution"
	"ompp-attach/attribution/stream"
	"ompp-attach/profile"
)

// Read reads the stream in a file.
func Read(t testing.TB, name string) *stream.Stream {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s, err := stream.Decode(f)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Replay returns the profile of the stream in a file, which lasted as long as the stream.
func Replay(t testing.TB, name string) *profile.Profile {
	t.Helper()
	s := Read(t, name)
	p := attribution.Replay(s)
	p.Meta.PID, p.Meta.Duration = int(s.PID), int64(s.End-s.Began)
	return p
}

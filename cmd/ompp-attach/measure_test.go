package main

import (
	"errors"
	"syscall"
	"testing"

	"ompp-attach/cmd/ompp-attach/cli"
	"ompp-attach/collect/launch"
)

func TestNotStarted(t *testing.T) {
	for _, tc := range []struct {
		err  error
		want int
	}{{&launch.ExecError{Sentence: "no"}, cli.CannotRun}, {&launch.InterruptedError{Signal: syscall.SIGINT}, 130}, {&launch.InterruptedError{Signal: syscall.SIGTERM}, 143}} {
		var ee *cli.Exit
		if err := notStarted(tc.err); !errors.As(err, &ee) || ee.Status != tc.want || !errors.Is(err, tc.err) {
			t.Errorf("%v: %v, want status %d", tc.err, err, tc.want)
		}
	}
}

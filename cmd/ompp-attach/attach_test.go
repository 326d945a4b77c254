package main

import (
	"io"
	"strings"
	"testing"
)

// attach refuses invalid flags before anything is measured, in one sentence.
func TestAttachRefuses(t *testing.T) {
	for args, want := range map[string]string{
		"":                       "which process?",
		"--pid 1 --job 2":        "not both",
		"--pid 1 --duration -3s": "give a time above 0",
	} {
		c := attachCommand()
		c.SetArgs(strings.Fields(args))
		c.SetOut(io.Discard)
		c.SetErr(io.Discard)
		if err := c.Execute(); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("attach %s: %v, want %q", args, err, want)
		}
	}
}

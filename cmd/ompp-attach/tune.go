package main

import (
	"fmt"
	"os"
	"runtime/pprof"

	"github.com/spf13/cobra"
)

// tuning writes a profile of the tool itself, from which scripts/pgo.sh makes the
// one by which it is compiled (default.pgo).
type tuning struct{ path string }

func (y *tuning) register(c *cobra.Command) {
	c.PersistentFlags().StringVar(&y.path, "cpu-profile", "", "write a profile of ompp-attach itself to this file")
	_ = c.PersistentFlags().MarkHidden("cpu-profile")
}

// begin begins the profile; the function that it returns ends it, nil if none is
// wanted.
func (y *tuning) begin() (end func(), err error) {
	if y.path == "" {
		return nil, nil
	}
	f, err := os.Create(y.path)
	if err != nil {
		return nil, fmt.Errorf("cannot write a profile of the tool: %w", err)
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		f.Close()
		return nil, fmt.Errorf("cannot profile the tool: %w", err)
	}
	return func() {
		pprof.StopCPUProfile()
		f.Close()
	}, nil
}

package main

import (
	"fmt"
	"os"
	"runtime/pprof"

	"github.com/spf13/cobra"
)

// tuning writes a CPU profile of the tool itself. scripts/pgo.sh makes default.pgo of such
// profiles. The compiler optimises the tool by default.pgo.
type tuning struct{ path string }

func (y *tuning) register(c *cobra.Command) {
	c.PersistentFlags().StringVar(&y.path, "cpu-profile", "", "write a profile of ompp-attach itself to this file")
	_ = c.PersistentFlags().MarkHidden("cpu-profile")
}

// begin begins the CPU profile, and end ends it. end is nil if no profile is wanted.
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

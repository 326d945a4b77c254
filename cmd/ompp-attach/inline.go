package main

import (
	"github.com/spf13/cobra"

	"ompp-attach/collect"
)

// inlineFlags choose the probes at constructs that make no call, in the program's own code.
type inlineFlags struct {
	off     bool
	atomics bool
}

func (f *inlineFlags) register(c *cobra.Command) {
	c.Flags().BoolVar(&f.off, "no-inline", false, "place no probes at constructs that make no call (GCC's static loops and master)")
	c.Flags().BoolVar(&f.atomics, "probe-atomics", false, "count the executions of atomic and flush (a probe costs far more than an atomic)")
}

func (f *inlineFlags) apply(m *collect.Measurement) {
	if !f.off {
		m.MeasureInline()
	}
	if f.atomics {
		m.CountAtomics()
	}
}

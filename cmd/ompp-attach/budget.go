package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"ompp-attach/collect"
)

// budgetFlag is --max-overhead.
type budgetFlag struct {
	text  string
	given bool
}

// String returns the flag's text. String, Set and Type make budgetFlag a flag that tells an empty
// value from a missing flag. An empty variable in a script must not lift the budget.
func (f *budgetFlag) String() string { return f.text }

// Set stores the user's text.
func (f *budgetFlag) Set(text string) error {
	f.text, f.given = text, true
	return nil
}

// Type names the value in the help.
func (f *budgetFlag) Type() string { return "SHARE" }

func (f *budgetFlag) register(c *cobra.Command) {
	c.Flags().Var(f, "max-overhead", "bound what probes cost each thread, as 5%; that of MPI calls and parallel regions is not bounded")
}

// smallestBudget is the least share that can be kept. The first moments of a storm, before the
// storm is noticed, cost more than a smaller budget would allow.
const smallestBudget = 0.01

// share returns the budget as a share of a thread's time, or 0 if there is none.
func (f *budgetFlag) share() (float64, error) {
	if !f.given {
		return 0, nil
	}
	number, percent := strings.CutSuffix(strings.TrimSpace(f.text), "%")
	v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if percent {
		v /= 100
	}
	if err != nil || math.IsNaN(v) || v < smallestBudget || v >= 1 {
		return 0, fmt.Errorf("--max-overhead %q: give a share of each thread's time from 1%% to 99%%, as 5%% or 0.05", f.text)
	}
	return v, nil
}

// apply gives the measurement its budget.
func (f *budgetFlag) apply(m *collect.Measurement) error {
	v, err := f.share()
	if err == nil && v > 0 {
		return m.SetBudget(v)
	}
	return err
}

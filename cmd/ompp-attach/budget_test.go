package main

import (
	"math"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// The help says what a budget does not bound.
func TestBudgetHelp(t *testing.T) {
	var f budgetFlag
	c := &cobra.Command{}
	f.register(c)
	if usage := c.Flags().Lookup("max-overhead").Usage; !strings.Contains(usage, "MPI calls and parallel regions is not bounded") {
		t.Errorf("%q", usage)
	}
}

func TestBudgetFlag(t *testing.T) {
	for _, c := range []struct {
		text string
		want float64 // 0: refused
	}{
		{"5%", 0.05}, {"0.05", 0.05}, {"1%", 0.01}, {" 12.5 % ", 0.125}, {"99%", 0.99}, {"0.5", 0.5},
		{"0", 0}, {"0.5%", 0}, {"5", 0}, {"100%", 0}, {"-5%", 0}, {"nan", 0}, {"inf", 0}, {"five", 0}, {"%", 0}, {"5%%", 0}, {"", 0},
	} {
		f := budgetFlag{text: c.text, given: true}
		v, err := f.share()
		if (err == nil) != (c.want > 0) || math.Abs(v-c.want) > 1e-12 {
			t.Errorf("%q: %v, %v", c.text, v, err)
		}
		if err != nil && (strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), c.text)) {
			t.Errorf("%q: %v", c.text, err)
		}
	}
	if v, err := (&budgetFlag{}).share(); v != 0 || err != nil {
		t.Errorf("no budget: %v, %v", v, err)
	}
}

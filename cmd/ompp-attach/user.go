package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"ompp-attach/collect"
)

// userFlags are the flags about the user's own regions.
type userFlags struct {
	functions []string
	regions   []string
	disable   []string
	only      []string
}

func (f *userFlags) register(c *cobra.Command) {
	c.Flags().StringArrayVar(&f.functions, "function", nil, "show executions of this function as a USER REGION: a name, or a regular expression, with @LIBRARY for those of one library (repeatable)")
	c.Flags().StringArrayVar(&f.regions, "region", nil, "show these lines as a USER REGION: NAME=FILE:LINE-FILE:LINE or NAME=FILE:LINE-LINE (repeatable)")
	c.Flags().StringSliceVar(&f.disable, "disable", nil, "constructs to leave out, which then cost nothing: "+strings.Join(collect.Classes(), ", ")+"; or file:NAME, function:NAME for what stands there")
	c.Flags().StringSliceVar(&f.only, "only", nil, "leave out all but parallel regions and these classes")
}

// apply hands them to a measurement.
func (f *userFlags) apply(m *collect.Measurement, logf func(string, ...any)) error {
	s, err := collect.NewSelection(f.disable, f.only)
	if err != nil {
		return &exitError{exitUsage, err}
	}
	m.Select(s)
	if !s.UserRegions() {
		return nil
	}
	u, err := collect.NewUserRegions(f.functions, f.regions, logf)
	if err != nil {
		return &exitError{exitUsage, err}
	}
	u.Notice = func(s string) {
		for _, line := range strings.Split(s, "\n") {
			fmt.Fprintln(os.Stderr, "ompp-attach: "+line)
		}
	}
	m.SetUserRegions(u)
	return nil
}

// unfound tells which functions were never found.
func unfound(res *collect.Result) error {
	if len(res.Unfound) == 0 {
		return nil
	}
	return errors.New(strings.Join(res.Unfound, "\nompp-attach: "))
}

package cli

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"
)

// Needed returns a check for one to most arguments. If there is none, its error is the question.
func Needed(most int, question string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) == 0 {
			return errors.New(question)
		}
		return cobra.MaximumNArgs(most)(c, args)
	}
}

// ByFlag is a check that refuses all arguments. If the first one is a PID, its error says how to
// give a PID.
func ByFlag(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		if _, err := strconv.Atoi(args[0]); err == nil {
			return fmt.Errorf("%s is no argument of %s: give a process as --pid %s", args[0], c.Name(), args[0])
		}
	}
	return cobra.NoArgs(c, args)
}

// HideDefault keeps the default of a flag out of the help. Such a flag takes a number, and its
// default means that no number was given.
func HideDefault(c *cobra.Command, flag string) {
	c.Flags().Lookup(flag).DefValue = "0" // pflag shows no zero
}

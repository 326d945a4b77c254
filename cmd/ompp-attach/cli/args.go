package cli

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"
)

// Needed returns a check of arguments: at most so many, and with none the user is asked the
// question.
func Needed(most int, question string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) == 0 {
			return errors.New(question)
		}
		return cobra.MaximumNArgs(most)(c, args)
	}
}

// ByFlag refuses arguments, and tells a user who gave a PID as argument how to give it.
func ByFlag(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		if _, err := strconv.Atoi(args[0]); err == nil {
			return fmt.Errorf("%s is no argument of %s: give a process as --pid %s", args[0], c.Name(), args[0])
		}
	}
	return cobra.NoArgs(c, args)
}

// HideDefault leaves the default of a flag for a number out of the help, where it stands for none.
func HideDefault(c *cobra.Command, flag string) {
	c.Flags().Lookup(flag).DefValue = "0" // pflag shows no zero
}

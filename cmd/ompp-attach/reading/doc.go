// Package reading has the commands that read recorded runs: report, diff, scaling, predict,
// signature and hiera. None of them measures.
package reading

import "github.com/spf13/cobra"

// Commands returns the commands.
func Commands() []*cobra.Command {
	return []*cobra.Command{reportCommand(), diffCommand(), scalingCommand(), predictCommand(), signatureCommand(), hieraCommand()}
}

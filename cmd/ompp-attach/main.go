package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"ompp-attach/cmd/ompp-attach/cli"
	"ompp-attach/cmd/ompp-attach/reading"
	"ompp-attach/collect/launch"
	"ompp-attach/node"
	"ompp-attach/version"
)

func main() {
	ownFileCaps()
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case launch.Command:
			launch.RunCommand(os.Args[2:])
			os.Exit(cli.CannotRun)
		case launch.GuardianCommand:
			fail(launch.RunGuardian())
			return
		case node.CollectorCommand:
			fail(runCollector(os.Args[2:]))
			return
		}
	}
	if len(os.Args) > 1 {
		checkFiles(os.Args[1])
	}
	cli.LeaveQuit = cli.EndOnQuit()
	started := false
	c := root()
	var tune tuning
	tune.register(c)
	var tuned func() // nil: there is nothing to end
	c.PersistentPreRunE = func(*cobra.Command, []string) (err error) {
		started = true
		tuned, err = tune.begin()
		return err
	}
	command, err := c.ExecuteC()
	if tuned != nil {
		tuned()
	}
	if err != nil && !started { // cobra did not understand the arguments
		err = cli.Misuse(fmt.Errorf("%w; see %s --help", err, command.CommandPath()))
	}
	fail(err)
}

func fail(err error) {
	if err == nil {
		cli.Spoken.Finish()
		return
	}
	status := cli.Failure
	var ee *cli.Exit
	if errors.As(err, &ee) {
		status = ee.Status
	}
	if s := fewFiles(err).Error(); s != "" {
		cli.Tell(s)
	}
	cli.Spoken.Finish()
	var killed *killedError
	if errors.As(err, &killed) {
		launch.EndBy(killed.signal)
	}
	os.Exit(status)
}

func root() *cobra.Command {
	tool, built := version.Of()
	c := &cobra.Command{
		Use:   "ompp-attach",
		Short: "Profile unmodified OpenMP and MPI programs: ompP reports and pprof profiles",
		Long: `ompp-attach profiles OpenMP and MPI programs from outside. The program need not
be rebuilt, and may already be running.

The tool places probes in the program's OpenMP runtime (GCC's libgomp, LLVM's
libomp, Intel's libiomp5) and in its MPI library. So it sees every parallel
region, loop, barrier, critical section, lock, task and MPI call of every thread.
It writes an ompP report, a page for the browser, and profiles for go tool pprof.
Of an MPI job it writes one report over all ranks.

"ompp-attach check" tells what can be measured here, and what is missing.`,
		Version:           fmt.Sprintf("%s %s", tool, built),
		SilenceErrors:     true,
		SilenceUsage:      true,
		DisableAutoGenTag: true,
	}
	c.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return plainFlag(err) })
	c.AddCommand(runCommand(), attachCommand(), topCommand(), pauseCommand(), resumeCommand(), dumpCommand(), systemCommand(), regionsCommand(), countersCommand(), checkCommand(), manCommand())
	c.AddCommand(reading.Commands()...)
	cli.WrapHelp(c)
	return c
}

package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"ompp-attach/cmd/ompp-attach/cli"
	"ompp-attach/cmd/ompp-attach/reading"
	"ompp-attach/collect"
	"ompp-attach/collect/launch"
	"ompp-attach/node"
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
	err := c.Execute()
	if tuned != nil {
		tuned()
	}
	if err != nil && !started { // cobra did not understand the arguments
		err = cli.Misuse(fmt.Errorf("%w; see ompp-attach --help", err))
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
	version, built := collect.Version()
	c := &cobra.Command{
		Use:   "ompp-attach",
		Short: "Profile unmodified OpenMP and MPI programs: ompP reports and pprof profiles",
		Long: `ompp-attach attaches to the OpenMP runtime of an unmodified program (GCC's
libgomp, LLVM's libomp, Intel's libiomp5) and to its MPI library, follows every
parallel region, loop, barrier, critical section, lock, task and MPI call of
every thread, and writes an ompP report and a profile for go tool pprof; of an
MPI job also a report over all ranks. Nothing has to be rebuilt; the program may
already be running.`,
		Version:           fmt.Sprintf("%s %s", version, built),
		SilenceErrors:     true,
		SilenceUsage:      true,
		DisableAutoGenTag: true,
	}
	c.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return plainFlag(err) })
	c.AddCommand(runCommand(), attachCommand(), topCommand(), pauseCommand(), resumeCommand(), dumpCommand(), systemCommand(), regionsCommand(), countersCommand(), checkCommand(), manCommand())
	c.AddCommand(reading.Commands()...)
	return c
}

package main

import (
	"errors"
	"fmt"
	"os"
	"strconv"

	"github.com/spf13/cobra"

	"ompp-attach/collect"
	"ompp-attach/collect/launch"
	"ompp-attach/node"
)

// Our own exit statuses. `run` passes on the program's status otherwise.
const (
	exitFailure   = 1
	exitUsage     = 2
	exitCannotRun = 126 // as in shells: PROGRAM exists but cannot be executed
	exitNotFound  = 127 // as in shells: there is no PROGRAM
)

// exitError ends the tool with an exit status. If err is not nil, its sentence is printed.
type exitError struct {
	status int
	err    error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return ""
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

func main() {
	ownFileCaps()
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case launch.Command:
			launch.RunCommand(os.Args[2:])
			os.Exit(exitCannotRun)
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
	leaveQuit = endOnQuit()
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
		err = &exitError{exitUsage, fmt.Errorf("%w; see ompp-attach --help", err)}
	}
	fail(err)
}

// needed returns a check of arguments: at most so many, and with none the user is asked the
// question.
func needed(most int, question string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) == 0 {
			return errors.New(question)
		}
		return cobra.MaximumNArgs(most)(c, args)
	}
}

// byFlag refuses arguments, and tells a user who gave a PID as argument how to give it.
func byFlag(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		if _, err := strconv.Atoi(args[0]); err == nil {
			return fmt.Errorf("%s is no argument of %s: give a process as --pid %s", args[0], c.Name(), args[0])
		}
	}
	return cobra.NoArgs(c, args)
}

func fail(err error) {
	if err == nil {
		spoken.Finish()
		return
	}
	status := exitFailure
	var ee *exitError
	if errors.As(err, &ee) {
		status = ee.status
	}
	if s := fewFiles(err).Error(); s != "" {
		tell(s)
	}
	spoken.Finish()
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
	c.AddCommand(runCommand(), attachCommand(), topCommand(), pauseCommand(), resumeCommand(), dumpCommand(), reportCommand(), diffCommand(), scalingCommand(), predictCommand(), systemCommand(), signatureCommand(), hieraCommand(), regionsCommand(), countersCommand(), checkCommand(), manCommand())
	return c
}

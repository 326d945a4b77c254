package main

import (
	"context"
	"errors"
	"fmt"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"ompp-attach/cmd/ompp-attach/cli"
	"ompp-attach/collect"
	"ompp-attach/collect/launch"
	"ompp-attach/collect/target"
	"ompp-attach/results"
)

func attachCommand() *cobra.Command {
	var f measureFlags
	var pids []int
	var job int
	var duration time.Duration
	c := &cobra.Command{
		Use:   "attach [flags] --pid PID | --job PID",
		Short: "Profile a running process, or all ranks of a running job",
		Long: `attach profiles running processes until --duration is over, until Ctrl-C or
SIGTERM, or until all of them have ended, whichever comes first. The processes go
on as before. SIGUSR1 makes attach write a snapshot, as dump does.

--job PID measures the ranks that a launcher has started on this node: PID is of
mpirun, mpiexec, srun or their like. Each rank has files of its own,
profile.rankR.*.
` + flagsText,
		Annotations: map[string]string{cli.Manual: jobText + manualText},
		Example:     "  ompp-attach attach --pid 4711 --duration 30s\n  ompp-attach attach --job $(pgrep -n mpirun) -o results",
		Args:        cli.ByFlag,
		RunE: func(c *cobra.Command, _ []string) error {
			switch given := c.Flags().Changed; {
			case given("duration") && duration <= 0:
				return cli.Misuse(fmt.Errorf("--duration %s: give a time above 0, as in 30s; without --duration, attach measures until Ctrl-C", duration))
			case given("pid") && given("job"):
				return cli.Misuse(errors.New("give --pid or --job, not both"))
			case given("job"):
				var err error
				if pids, err = launch.JobProcesses(job); err != nil {
					return err
				}
			case !given("pid") || len(pids) == 0:
				return cli.Misuse(errors.New("which process? give --pid PID, or --job PID for the ranks that mpirun PID has started"))
			}
			return attach(&f, pids, duration)
		},
	}
	f.register(c, sampleAttached)
	c.Flags().IntSliceVarP(&pids, "pid", "p", nil, "process to attach to: a `PID`, or several, as in 4711,4712")
	c.Flags().IntVarP(&job, "job", "j", 0, "attach to all ranks on this node that the launcher `PID` (mpirun, srun) has started")
	c.Flags().DurationVarP(&duration, "duration", "d", 0, "how long to measure: a `TIME`, as in 30s (default: until Ctrl-C)")
	return c
}

// jobText is the part of the help on --job that only the manual page has.
const jobText = `

--job PID measures all processes of this node that use OpenMP or MPI and were
started, directly or not, by the launcher PID: mpirun, mpiexec, orted, prted,
hydra_pmi_proxy or slurmstepd. srun starts no ranks itself. Its ranks are found
by the port at which srun listens for them, or by the number of the Slurm job.

With --waits, report --properties tells which rank waited for which: in collective
operations on MPI_COMM_WORLD, and in all calls on communicators that are made
while the ranks are measured. Messages on MPI_COMM_WORLD are matched if the ranks
are measured until MPI_Finalize. Messages on other older communicators are only
counted.`

func attach(f *measureFlags, pids []int, duration time.Duration) error {
	cli.OutliveReader()
	started := hurry()
	defer started()
	slices.Sort(pids)
	pids = slices.Compact(pids)
	program, err := checkAll(pids)
	if err != nil {
		return err
	}
	if err := f.check(); err != nil {
		return err
	}
	target.ReadAhead(pids[0], !f.inline.off) // the ranks of a job all map the same files
	kernel, err := f.load()
	if err != nil {
		return err
	}
	out, err := f.prepareFor(program, pids)
	if err != nil {
		kernel.abandon()
		return err
	}
	f.timeline.out = out
	cli.LeaveQuit()
	ctx, stop := signal.NotifyContext(context.Background(), cli.Heeded(syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGHUP)...)
	defer stop()
	m, err := kernel.measurement()
	if err != nil {
		return out.Abandon(err)
	}
	ctx, over := context.WithCancel(ctx)
	defer over()
	defer f.listen(m)()
	out.Begins(pids...)
	stopShots := f.snapshots(out, m)
	defer f.dumpOnSignal()()
	res, err := m.Attach(ctx, pids, func() {
		started()
		if duration > 0 {
			time.AfterFunc(duration, over)
		}
		if !f.quiet {
			cli.Tell(fmt.Sprintf("attached to %s; %s", described(pids, program), until(duration)))
		}
	})
	stopShots()
	held := m.Held()
	if held == "" || res == nil {
		defer closing(m)()
	}
	if res == nil {
		return out.Abandon(err)
	}
	err = errors.Join(err, out.Write(res, f.wanted()), f.saveStream(res), unfound(res))
	for _, s := range res.Troubles {
		cli.Tell(s)
	}
	if held != "" {
		cli.Tell(held)
		closeBehindDebuggers(m)
	}
	return err
}

// checkAll refuses processes that cannot be measured. program is the name of the first process's
// program.
func checkAll(pids []int) (program string, err error) {
	for i, pid := range pids {
		name, err := target.Check(pid)
		if err != nil {
			return "", err
		}
		if i == 0 {
			program = name
		}
	}
	return program, nil
}

// described names processes for a message. program is the first process's program.
func described(pids []int, program string) string {
	if len(pids) > 1 {
		return fmt.Sprintf("%d processes (%s)", len(pids), program)
	}
	return fmt.Sprintf("process %d (%s)", pids[0], program)
}

// closeBehindDebuggers ends a measurement when no debugger keeps probes in place any more, or at a
// signal.
func closeBehindDebuggers(m *collect.Measurement) {
	waiting, enough := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGHUP)
	defer enough()
	m.AwaitDebuggers(waiting)
	m.Close()
}

// prepareFor refuses processes in which nothing can be measured, and opens the results directory.
// So a directory that cannot be written to is an error now, not at the end.
func (f *measureFlags) prepareFor(program string, pids []int) (*results.Directory, error) {
	for _, pid := range pids {
		if err := f.checkRuntime(pid); err != nil {
			return nil, err
		}
	}
	return results.Open(f.out, program, pids[0], f.overwrite)
}

// checkRuntime refuses a process without an OpenMP runtime or MPI library, unless the user has
// named functions or libraries to measure.
func (f *measureFlags) checkRuntime(pid int) error {
	err := target.CheckRuntime(pid)
	if err == nil || len(f.user.functions)+len(f.user.levels) == 0 {
		return err
	}
	if _, no := target.Check(pid); no != nil {
		return no
	}
	f.say(err.Error() + "; only what you have named is measured")
	return nil
}

func until(d time.Duration) string {
	if d > 0 {
		return fmt.Sprintf("measuring for %s, Ctrl-C ends it earlier", d)
	}
	return "Ctrl-C ends the measurement"
}

package main

import (
	"context"
	"errors"
	"fmt"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"ompp-attach/cmd/ompp-attach/cli"
	"ompp-attach/collect/control"
	"ompp-attach/collect/target"
)

func dumpCommand() *cobra.Command {
	var pid int
	var every time.Duration
	c := &cobra.Command{
		Use:   "dump --pid PID",
		Short: "Write a snapshot of a running measurement",
		Long: `dump asks the measurement of a process for a snapshot of what was measured until
now, and prints the name of the snapshot's file: snapshot.N.json.gz in the
measurement's results directory. A timeline that --timeline keeps in memory is
written beside it, as snapshot.N.timeline. The measurement goes on.

PID is the process that is measured, not ompp-attach. Only the user who started
the measurement can ask for snapshots.

` + "`ompp-attach report --delta N M DIR`" + ` reports what happened between two of them.`,
		Example: "  ompp-attach dump --pid 4711\n  ompp-attach dump --pid 4711 --every 10s",
		Args:    cli.ByFlag,
		RunE: func(c *cobra.Command, _ []string) error {
			if !c.Flags().Changed("pid") {
				return cli.Misuse(errors.New("which process? give --pid PID"))
			}
			if c.Flags().Changed("every") && every < leastEvery {
				return cli.Misuse(fmt.Errorf("--every %s: give at least %s: each snapshot costs the program a moment", every, leastEvery))
			}
			return dump(pid, every)
		},
	}
	c.Flags().IntVarP(&pid, "pid", "p", 0, "process that is measured: a `PID`")
	c.Flags().DurationVar(&every, "every", 0, "write a further snapshot every `TIME`, until the process ends or Ctrl-C")
	return c
}

// leastEvery bounds the pace of snapshots: each one stops the kernel side from adding up executions
// for some milliseconds.
const leastEvery = 100 * time.Millisecond

func dump(pid int, every time.Duration) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	for n := 0; ; n++ {
		name, err := control.Ask("dump", pid)
		if err != nil && (n == 0 || !target.Ended(pid)) {
			return err
		} else if err != nil {
			return nil
		}
		fmt.Println(name)
		if every <= 0 {
			return nil
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(every):
		}
	}
}

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"ompp-attach/collect"
	"ompp-attach/profile"
)

// Snapshots that are kept show how a run went on: each is a recorded profile of what was measured
// until then, and two of them tell what happened in between (ompP's incremental profiles).

// keptStem begins the name of such a file, where that of a profile has recordStem; its number
// follows the stem.
const keptStem = "snapshot"

// keptShot matches the names of these files.
var keptShot = regexp.MustCompile(`^` + keptStem + `((?:\.rank\d+)?(?:\.pid\d+)?(?:-\d+)?)\.(\d+)\.json\.gz$`)

// keptName is the name of the n-th snapshot of the profile with that stem.
func keptName(stem string, n int) string {
	return fmt.Sprintf("%s%s.%d%s", keptStem, strings.TrimPrefix(stem, recordStem), n, recordSuffix)
}

// keepShots writes snapshots of the processes that run, or of one of them, to files of their own.
func (o *output) keepShots(res *collect.Result, pid int) (names []string, err error) {
	if len(res.Profiles) == 0 {
		return nil, nil
	}
	o.choose(res.Profiles[0].Meta.PID)
	if err := o.prepare(); err != nil {
		return nil, err
	}
	if o.kept == nil {
		o.kept = map[string]int{}
	}
	var errs []error
	for i, stem := range o.stems(res, o.dir) {
		p := res.Profiles[i]
		if p.Meta.SnapshotAt.IsZero() || pid != 0 && p.Meta.PID != pid {
			continue
		}
		name := filepath.Join(o.dir, keptName(stem, o.kept[stem]+1))
		if err := saveFile(name, func(w io.Writer) error { return profile.Encode(w, p) }); err != nil {
			errs = append(errs, err)
			continue
		}
		o.kept[stem]++
		names = append(names, name)
	}
	return names, errors.Join(errs...)
}

// dump writes a snapshot of a process at once, and returns the file's name.
func (s *snapshots) dump(pid int) (string, error) {
	s.mu.Lock()
	all := append([]*shot(nil), s.all...)
	s.mu.Unlock()
	for _, x := range all {
		name, err := x.dump(pid)
		if err != nil || name != "" {
			return name, err
		}
	}
	return "", fmt.Errorf("nothing was measured of process %d yet", pid)
}

func (x *shot) dump(pid int) (string, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.over {
		return "", nil
	}
	names, err := x.out.keepShots(x.take(), pid)
	if err != nil || len(names) == 0 {
		return "", err
	}
	return filepath.Abs(names[0])
}

func dumpCommand() *cobra.Command {
	var pid int
	var every time.Duration
	c := &cobra.Command{
		Use:   "dump --pid PID",
		Short: "Write a snapshot of a running measurement",
		Long: `dump asks the measurement of a process for a snapshot of what was measured until
now, and prints the name of its file, snapshot.N.json.gz in the measurement's
results directory. The measurement goes on. Give the process that is measured,
not ompp-attach; only the user who started the measurement can ask it.

` + "`ompp-attach report --delta N M DIR`" + ` reports what happened between two of them.`,
		Example: "  ompp-attach dump --pid 4711\n  ompp-attach dump --pid 4711 --every 10s",
		Args:    byFlag,
		RunE: func(c *cobra.Command, _ []string) error {
			if !c.Flags().Changed("pid") {
				return &exitError{exitUsage, errors.New("which process? give --pid PID")}
			}
			if c.Flags().Changed("every") && every < leastEvery {
				return &exitError{exitUsage, fmt.Errorf("--every %s: give at least %s: each snapshot costs the program a moment", every, leastEvery)}
			}
			return dump(pid, every)
		},
	}
	c.Flags().IntVarP(&pid, "pid", "p", 0, "process that is being measured")
	c.Flags().DurationVar(&every, "every", 0, "go on with a snapshot every so often, until the process ends or Ctrl-C")
	return c
}

// leastEvery bounds the pace of snapshots: each one stops the kernel side from adding up executions
// for some milliseconds.
const leastEvery = 100 * time.Millisecond

func dump(pid int, every time.Duration) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	for n := 0; ; n++ {
		name, err := collect.Ask("dump", pid)
		if runs, _ := alive(pid); err != nil && (n == 0 || runs) {
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

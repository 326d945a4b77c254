package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"ompp-attach/collect"
	"ompp-attach/collect/launch"
	"ompp-attach/node"
	"ompp-attach/results"
	"ompp-attach/snapshots"
)

// collector measures the ranks of one job on this node.
type collector struct {
	*node.Server
	m      *collect.Measurement
	failed error // why nothing can be measured, or nil
	dirs   results.Claims
	open   rankDirectories // of the ranks that are measured now
	shots  *snapshots.Writer
}

// runCollector is the collector's main function. args are the path of the socket, the path of the
// log, and the flags of the tool that started the collector. The socket is file descriptor 3, and
// listens already. runCollector returns when the files of the last rank are written.
func runCollector(args []string) error {
	l, err := node.OwnProcess()
	if err != nil {
		return err
	}
	socket, log := args[0], args[1]
	var f measureFlags
	if err := f.parse(args[2:]); err != nil {
		return err
	}
	k := &collector{Server: &node.Server{}, shots: snapshots.New(f.pace())}
	f.say = k.Say
	f.timeline.of = &k.open
	stop := func() error { return nil }
	if k.m, k.failed = f.measurement(); k.failed == nil {
		defer f.listen(k.m)()
		k.m.OnDump(k.shots.Keep)
		stop = k.m.Start()
	}
	k.Serve(l, socket, func(req *node.Request, c *node.Client) *node.Over { return overOf(k.measure(req, c)) })
	k.dirs.Leave()
	if err = stop(); k.m != nil {
		k.m.Close()
	}
	k.dirs.Release()
	if st, serr := os.Stat(log); serr == nil && st.Size() == 0 && err == nil {
		os.Remove(log)
	}
	return err
}

// parse reads the flags of a rank's tool.
func (f *measureFlags) parse(flags []string) error {
	c := &cobra.Command{}
	f.register(c, sampleLaunched) // run's default
	return c.ParseFlags(flags)
}

// measure follows one rank's program until the program ends, and writes the rank's files.
func (k *collector) measure(req *node.Request, c *node.Client) error {
	if k.failed != nil {
		return k.failed
	}
	var f measureFlags
	if err := f.parse(req.Flags); err != nil {
		return err
	}
	f.say = c.Say
	f.quiet = f.quiet || req.Rank.Rank != 0 // only rank 0 prints the summary
	if f.events != "" && !filepath.IsAbs(f.events) {
		f.events = filepath.Join(req.Dir, f.events)
	}
	out, err := k.dirs.Open(f.out, f.overwrite, &req.Rank, req.Dir, req.PID)
	if err != nil {
		return err
	}
	fd, err := unix.PidfdOpen(req.PID, 0)
	if err != nil {
		return out.Abandon(fmt.Errorf("process %d: %w", req.PID, err))
	}
	defer unix.Close(fd)
	defer k.open.add(req.PID, out)()
	g, err := k.m.Follow(req.PID)
	if err != nil {
		return out.Abandon(err)
	}
	stop := k.shots.Add(&snapshots.Program{To: out, Take: g.Snapshot, Whole: g.SnapshotWhole, Measures: g.Measures, Say: f.say, Logf: f.logf})
	defer stop()
	e, ok := c.Follow(out.Dir)
	if !ok {
		// The rank's tool is gone; the program may run on.
		awaitEnd(fd)
		e = endingOf(req.PID, fd)
	}
	k.dirs.Ended(req.PID)
	res := g.End(e)
	stop()
	f.gone = c.Gone()
	if err := g.Refusal(); err != nil {
		return out.Abandon(err)
	}
	return f.conclude(out, res, nil, req.Program)
}

// endingOf tells how a rank's program ended, if the rank's tool was killed. The program's new
// parent may need a moment to wait for it.
func endingOf(pid, pidfd int) launch.Ending {
	const patience, look = 200 * time.Millisecond, 5 * time.Millisecond
	for began := time.Now(); time.Since(began) < patience; time.Sleep(look) {
		if e, ok := launch.EndingOf(pid, pidfd); ok {
			return e
		}
	}
	return launch.Ending{How: "not known: its ompp-attach was killed"}
}

// awaitEnd waits for the end of a process by its pidfd.
func awaitEnd(pidfd int) {
	for {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(pidfd), Events: unix.POLLIN}}, -1)
		if n > 0 || err != nil && !errors.Is(err, unix.EINTR) {
			return
		}
	}
}

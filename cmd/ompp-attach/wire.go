package main

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/sys/unix"

	"ompp-attach/collect"
	"ompp-attach/collect/control"
	"ompp-attach/collect/launch"
)

// The ranks of a job on one node are measured by one process, the collector. If each rank's tool
// probed the MPI library, each rank would pay for the probes of all tools. The first `run` of a job
// on a node starts the collector. Each `run` hands over its program by a unix socket in a directory
// that only the user can enter. Both sides write JSON values, one after the other.

// request is the first message of a rank's tool to the collector.
type request struct {
	PID     int // launched, does not run yet
	Rank    launch.Rank
	Program string   // path
	Flags   []string // of the command line, as given
	Dir     string   // directory to which relative paths refer
}

// reply is a message of the collector: any number of Say, then Followed or Over. When the program
// has ended, the tool sends a collect.Ending, and the collector answers with Over.
type reply struct {
	Say      string `json:",omitempty"` // for the user
	Followed bool   `json:",omitempty"` // the program may start
	Dir      string `json:",omitempty"` // with Followed: the directory of the results
	Over     *over  `json:",omitempty"`
}

// over is the outcome for a rank: the tool's exit status, and a sentence if there is something to
// tell.
type over struct {
	Status   int
	Sentence string
}

func newOver(err error) *over {
	o := &over{}
	if err != nil {
		o.Status, o.Sentence = exitFailure, err.Error()
		var ee *exitError
		if errors.As(err, &ee) {
			o.Status = ee.status
		}
	}
	return o
}

func (o *over) err() error {
	if o.Status == 0 && o.Sentence == "" {
		return nil
	}
	if o.Sentence == "" {
		return &exitError{o.Status, nil}
	}
	return &exitError{o.Status, errors.New(o.Sentence)}
}

// ownFlags are the flags that may differ between ranks that share a collector.
var ownFlags = []string{"output", "format", "overwrite", "quiet", "verbose", "volumes", "classic", "classic-overheads", "raw"}

// meeting is the place where the tools of one job on this node find their collector.
type meeting struct {
	dir  string
	name string
	args []string // the flags that the collector is started with
}

// meet names the place by user, job, flags, and version of the tool.
func meet(c *cobra.Command, r launch.Rank, flags []string) (*meeting, error) {
	dir, err := control.PrivateDir()
	if err != nil {
		return nil, fmt.Errorf("meet the other ranks' tools: %w", err)
	}
	version, built := collect.Version()
	key := []string{r.Job, version, built}
	c.Flags().Visit(func(f *pflag.Flag) {
		if !slices.Contains(ownFlags, f.Name) {
			key = append(key, f.Name, f.Value.String())
		}
	})
	sum := sha256.Sum256([]byte(strings.Join(key, "\x00")))
	return &meeting{dir: dir, name: "job-" + hex.EncodeToString(sum[:8]), args: flags}, nil
}

// The sockets do not end in .sock: sockets with that suffix in this directory take requests to
// pause.
const (
	socketSuffix = ".collector"
	logSuffix    = ".log"
)

func (m *meeting) socket() string { return filepath.Join(m.dir, m.name+socketSuffix) }

func (m *meeting) log() string { return filepath.Join(m.dir, m.name+logSuffix) }

// connect connects to the collector, and starts it if there is none. A lock makes sure that only
// one tool starts it.
func (m *meeting) connect() (net.Conn, error) {
	if c, err := net.Dial("unix", m.socket()); err == nil {
		return c, nil
	}
	lock, err := os.OpenFile(filepath.Join(m.dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	defer lock.Close()
	for err = unix.EINTR; err == unix.EINTR; {
		err = unix.Flock(int(lock.Fd()), unix.LOCK_EX)
	}
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", lock.Name(), err)
	}
	if c, err := net.Dial("unix", m.socket()); err == nil {
		return c, nil
	}
	m.tidy()
	if err := m.start(); err != nil {
		return nil, err
	}
	return net.Dial("unix", m.socket())
}

// uselessAfter is the age from which logs of killed collectors are taken for useless.
const uselessAfter = time.Hour

// tidy removes the files of collectors that were killed.
func (m *meeting) tidy() {
	sockets, _ := filepath.Glob(filepath.Join(m.dir, "*"+socketSuffix))
	for _, name := range sockets {
		c, err := net.Dial("unix", name)
		switch {
		case err == nil:
			c.Close()
		case errors.Is(err, syscall.ECONNREFUSED):
			os.Remove(name)
			os.Remove(strings.TrimSuffix(name, socketSuffix) + logSuffix)
		}
	}
	logs, _ := filepath.Glob(filepath.Join(m.dir, "*"+logSuffix))
	for _, name := range logs {
		st, err := os.Lstat(name)
		if err == nil && !hasSocket(name) && time.Since(st.ModTime()) > uselessAfter {
			os.Remove(name)
		}
	}
}

// hasSocket tells whether the collector of a log has a socket.
func hasSocket(log string) bool {
	_, err := os.Lstat(strings.TrimSuffix(log, logSuffix) + socketSuffix)
	return err == nil
}

// start starts the collector with a socket that listens already, so that other tools can connect
// from now on.
func (m *meeting) start() error {
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: m.socket(), Net: "unix"})
	if err != nil {
		return err
	}
	l.SetUnlinkOnClose(false)
	defer l.Close()
	socket, err := l.File()
	if err != nil {
		return err
	}
	defer socket.Close()
	self, err := os.Executable()
	if err != nil {
		return err
	}
	log, err := os.OpenFile(m.log(), os.O_CREATE|os.O_TRUNC|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	cmd := exec.Command(self, append([]string{collectorCommand, m.socket(), m.log()}, m.args...)...)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.ExtraFiles = []*os.File{socket}
	// The collector gets a session of its own, since launchers kill their ranks by process group.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start the collector: %w", err)
	}
	go func() { _ = cmd.Wait() }()
	return nil
}

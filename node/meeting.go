package node

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"ompp-attach/clock"
	"ompp-attach/collect/control"
)

// CollectorCommand is the hidden subcommand that measures the ranks of one job on this node. Its
// arguments are the path of the socket, the path of the log, and flags. File descriptor 3 is the
// listening socket.
const CollectorCommand = "__collector"

// Meeting is the place where the tools of one job on this node find their collector.
type Meeting struct {
	dir  string
	name string
	args []string // the flags that the collector is started with
}

// Meet returns the meeting for tools with the given properties (common): tools of one collector
// have the same ones. args are the flags that the collector is started with. The error says why no
// meeting is possible.
func Meet(common, args []string) (*Meeting, error) {
	dir, err := control.PrivateDir()
	if err != nil {
		return nil, fmt.Errorf("meet the other ranks' tools: %w", err)
	}
	sum := sha256.Sum256([]byte(strings.Join(common, "\x00")))
	return &Meeting{dir: dir, name: thisNode() + hex.EncodeToString(sum[:8]), args: args}, nil
}

// thisNode returns the beginning of the names of this node's files. Other nodes may share the
// directory (TMPDIR on a shared file system). A socket of another node does not answer here. Its
// name tells that it is not the socket of a dead collector.
func thisNode() string {
	id := strings.ReplaceAll(clock.BootID(), "-", "")
	return "job-" + id[:min(8, len(id))] + "-"
}

// The sockets do not end in .sock: in this directory, sockets with that suffix take requests to
// pause a measurement.
const (
	socketSuffix = ".collector"
	logSuffix    = ".log"
)

func (m *Meeting) socket() string { return filepath.Join(m.dir, m.name+socketSuffix) }

func (m *Meeting) log() string { return filepath.Join(m.dir, m.name+logSuffix) }

// connect connects to the collector, and starts a collector if there is none. A lock makes sure
// that only one tool starts a collector.
func (m *Meeting) connect() (net.Conn, error) {
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

// tidy removes the files of this node's collectors that were killed, in this boot or an earlier
// one.
func (m *Meeting) tidy() {
	all, _ := filepath.Glob(filepath.Join(m.dir, "job-*"))
	for _, name := range all {
		if !strings.HasPrefix(filepath.Base(name), thisNode()) && control.EarlierBoot(name) {
			os.Remove(name)
		}
	}
	sockets, _ := filepath.Glob(filepath.Join(m.dir, thisNode()+"*"+socketSuffix))
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
	logs, _ := filepath.Glob(filepath.Join(m.dir, thisNode()+"*"+logSuffix))
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
func (m *Meeting) start() error {
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
	cmd := exec.Command(self, append([]string{CollectorCommand, m.socket(), m.log()}, m.args...)...)
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

// lastWords returns the first line of the log of a collector that died.
func (m *Meeting) lastWords() string {
	b, err := os.ReadFile(m.log())
	if text := strings.TrimSpace(string(b)); err == nil && text != "" {
		first, _, _ := strings.Cut(text, "\n")
		return fmt.Sprintf(" (%s; see %s)", first, m.log())
	}
	return ""
}

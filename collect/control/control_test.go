package control

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"ompp-attach/internal/testbin"
	"ompp-attach/profile"
)

// ownSockets gives the test a directory of its own for sockets. In the user's directory, there may
// be tools of other tests that are stopped. Whoever looks for a measurement asks these, too, and
// waits for their answers in vain.
func ownSockets(t *testing.T) {
	t.Helper()
	dir, was := t.TempDir(), rootDir
	t.Setenv("XDG_RUNTIME_DIR", dir)
	rootDir = filepath.Join(dir, "root")
	t.Cleanup(func() { rootDir = was })
}

// No sockets are put into a directory that others may enter or have made.
func TestPrivate(t *testing.T) {
	parent := t.TempDir()
	own, open, link, file := filepath.Join(parent, "own"), filepath.Join(parent, "open"), filepath.Join(parent, "link"), filepath.Join(parent, "file")
	for _, err := range []error{
		os.Mkdir(own, 0o700), os.Mkdir(open, 0o700), os.Chmod(open, 0o710),
		os.Symlink(own, link), os.WriteFile(file, nil, 0o600),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for path, ok := range map[string]bool{own: true, open: false, link: false, file: false, filepath.Join(parent, "none"): false} {
		if err := private(path); (err == nil) != ok {
			t.Errorf("%s: %v", filepath.Base(path), err)
		}
	}
	if os.Geteuid() != 0 {
		return
	}
	if err := os.Chown(own, 12345, -1); err != nil {
		t.Fatal(err)
	}
	if private(own) == nil {
		t.Error("another user's directory is taken for ours")
	}
}

// A measurement that ends while Find asks it does not count as one that measures the process. The
// socket of a killed tool is removed, that of a tool that begins is not.
func TestFindAmongEnding(t *testing.T) {
	const pid = 1<<30 + 7
	ownSockets(t)
	dir, err := PrivateDir()
	if err != nil {
		t.Fatal(err)
	}
	ending := filepath.Join(dir, "0-ending"+socketSuffix)
	l, err := net.Listen("unix", ending)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			c.Close() // with the request unread: the peer sees ECONNRESET
		}
	}()
	killed := exec.Command("true")
	if err := killed.Run(); err != nil {
		t.Fatal(err)
	}
	// Nobody listens at a file that is no socket.
	dead, begins := filepath.Join(dir, strconv.Itoa(killed.Process.Pid)+socketSuffix), filepath.Join(dir, strconv.Itoa(os.Getppid())+socketSuffix)
	if err := errors.Join(os.WriteFile(dead, nil, 0o600), os.WriteFile(begins, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	vanished := filepath.Join(dir, "0-vanished"+socketSuffix) // a name without a socket
	if err := os.Symlink("none", vanished); err != nil {
		t.Fatal(err)
	}
	defer os.Remove(vanished)
	stop, err := Listen(answers{pid})
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	if name, err := Ask("dump", pid); err != nil || name != "/a name/of a file" {
		t.Errorf("%q: %v", name, err)
	}
	if _, err := Ask("dump", pid+1); err == nil || !strings.HasPrefix(err.Error(), "no ompp-attach of this user measures") {
		t.Error(err)
	}
	there(t, map[string]bool{dead: false, begins: true})
}

// A tool that does not answer, because it is stopped, does not hold up the answer of another one.
func TestFindBesideSilent(t *testing.T) {
	const pid = 1<<30 + 7
	ownSockets(t)
	dir, err := PrivateDir()
	if err != nil {
		t.Fatal(err)
	}
	// A tool that is stopped.
	l, err := net.Listen("unix", filepath.Join(dir, "0-silent"+socketSuffix))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close() // which ends the requests
	stop, err := Listen(answers{pid})
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	found := make(chan error, 1)
	go func() {
		_, err := find(pid, time.Hour)
		found <- err
	}()
	select {
	case err := <-found:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(testbin.Patience):
		t.Error("the measurement is not found")
	}
	if _, err := find(pid+1, 100*time.Millisecond); err == nil || errors.Is(err, ErrNotMeasured) {
		t.Errorf("of a process that the silent one may measure: %v", err)
	}
}

// answers is a measurement of one process.
type answers struct{ pid int }

func (a answers) Measures(pid int) bool { return pid == a.pid }
func (a answers) Pause(int) error       { return errors.New("paused already") }
func (a answers) Resume(int) error      { return nil }
func (a answers) Dump(int) (string, error) {
	return "/a name/of a file", nil
}
func (a answers) DumpAll(pid int) (string, error) {
	if pid != a.pid {
		return "", ErrNotMeasured
	}
	return "/the first/of several", nil
}
func (a answers) Profiles(pid int) ([]*profile.Profile, error) {
	if pid != a.pid {
		return nil, ErrNotMeasured
	}
	one := &profile.Profile{Meta: profile.Meta{Target: profile.Target{PID: pid, Program: "first"}}, Nodes: []profile.Node{{Parent: -1, Region: -1}}}
	other := *one
	other.Meta.Program = "second"
	return []*profile.Profile{one, &other}, nil
}

// The measurement that measures the process answers the requests of another run of the tool.
func TestAnswers(t *testing.T) {
	const pid = 1 << 30 // above all PIDs
	ownSockets(t)
	stop, err := Listen(answers{pid})
	if err != nil {
		t.Fatal(err)
	}
	peer, err := Find(pid)
	if err != nil {
		t.Fatal(err)
	}
	all, _, err := peer.Profiles(pid)
	if err != nil || len(all) != 2 || all[0].Meta.Program != "first" || all[1].Meta.Program != "second" {
		t.Errorf("%d profiles: %v", len(all), err)
	}
	if name, err := Ask("dump", pid); err != nil || name != "/a name/of a file" {
		t.Errorf("%q: %v", name, err)
	}
	if name, err := peer.DumpAll(pid); err != nil || name != "/the first/of several" {
		t.Errorf("%q: %v", name, err)
	}
	if _, err := peer.DumpAll(pid + 1); !errors.Is(err, ErrNotMeasured) {
		t.Error(err)
	}
	if _, err := Ask("pause", pid); err == nil || err.Error() != "paused already" {
		t.Error(err)
	}
	if _, err := Find(pid + 1); !errors.Is(err, ErrNotMeasured) {
		t.Error(err)
	}
	if _, _, err := peer.Profiles(pid + 1); !errors.Is(err, ErrNotMeasured) {
		t.Error(err)
	}
	stop()
	if _, _, err := peer.Profiles(pid); !errors.Is(err, ErrNotMeasured) {
		t.Errorf("after the end: %v", err)
	}
	if _, err := peer.DumpAll(pid); !errors.Is(err, ErrNotMeasured) {
		t.Errorf("after the end: %v", err)
	}
}

// Who has asked for snapshots and does not read them holds up no other request.
func TestStoppedReader(t *testing.T) {
	const pid = 1 << 30
	ours, theirs := net.Pipe() // which holds nothing: a write lasts until all was read
	var turn sync.Mutex
	go answer(&turn, answers{pid}, ours)
	fmt.Fprintf(theirs, "%s %d\n", snapshotVerb, pid)
	if _, err := theirs.Read(make([]byte, 1)); err != nil { // the answer is being sent
		t.Fatal(err)
	}
	free := make(chan struct{})
	go func() {
		turn.Lock()
		close(free)
	}()
	select {
	case <-free:
	case <-time.After(controlLimit * 2 / 3): // the answer that is not read ends after controlLimit
		t.Error("the next request waits for the one that is not read")
	}
	theirs.Close()
}

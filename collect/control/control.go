// Package control lets another run of the tool ask a measurement to pause, to resume, and for a
// snapshot. The measurement listens on a socket in a directory that only its user can enter. A
// request is a line: `measures`, `pause`, `resume`, `dump`, `dump-all` or `snapshot`, and a
// process. The answer is a line, too: ok, none, or a sentence that says what went wrong. After dump
// and dump-all, the name of a file follows ok. The answer to snapshot goes on with recorded
// profiles (snapshot.go).
package control

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"ompp-attach/clock"
	"ompp-attach/profile"
)

// ErrNotMeasured says that a measurement does not measure the process of a request. Another one
// may.
var ErrNotMeasured = errors.New("not measured")

// Measurement is what other runs of the tool can ask for. The methods get a request's process.
// Their errors are sentences, or ErrNotMeasured.
type Measurement interface {
	Measures(pid int) bool
	Pause(pid int) error
	Resume(pid int) error
	Dump(pid int) (name string, err error) // writes a snapshot to a file
	// Writes snapshots of all processes, if pid is among them.
	DumpAll(pid int) (first string, err error)
	// Snapshots of all processes, if pid is among them.
	Profiles(pid int) ([]*profile.Profile, error)
}

const (
	answerOK   = "ok"
	answerNone = "none" // another measurement may know the process
)

// controlLimit bounds how long a request may take.
const controlLimit = 30 * time.Second

// rootDir is where the sockets of root's measurements are. Tests have a directory of their own.
var rootDir = "/run/ompp-attach"

// controlDir is where the sockets of one user's measurements are.
func controlDir() string {
	if os.Geteuid() == 0 {
		return rootDir
	}
	dir := os.Getenv("XDG_RUNTIME_DIR")
	// Slurm passes on the variable of the login node, whose directory compute nodes do not have.
	if st, err := os.Stat(dir); err == nil && st.IsDir() {
		return filepath.Join(dir, "ompp-attach")
	}
	// Nodes may share the directory (TMPDIR on a shared file system), but no sockets and no PIDs.
	return filepath.Join(os.TempDir(), fmt.Sprintf("%s%.8s", tempPrefix(), clock.BootID()))
}

// tempPrefix begins the names of this user's directories in the directory for temporary files; a
// boot id follows.
func tempPrefix() string { return fmt.Sprintf("ompp-attach-%d-", os.Geteuid()) }

// PrivateDir makes the directory for one user's sockets, which no other user may enter, and returns
// it. The rights of the directory protect the sockets: whoever reaches a socket can have processes
// paused and files written.
func PrivateDir() (string, error) {
	dir := controlDir()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	return dir, private(dir)
}

// private refuses a directory that another user could write to.
func private(dir string) error {
	st, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	sys, ok := st.Sys().(*syscall.Stat_t)
	if !ok || !st.IsDir() || int(sys.Uid) != os.Geteuid() || st.Mode().Perm()&0o077 != 0 {
		return fmt.Errorf("%s is not a directory of ours alone: remove it, or set XDG_RUNTIME_DIR or TMPDIR to a directory of yours", dir)
	}
	return nil
}

// Listen lets other runs of the tool pause and resume a measurement, until stop is called.
func Listen(m Measurement) (stop func(), err error) {
	dir, err := PrivateDir()
	if err != nil {
		return nil, fmt.Errorf("listen for pause and resume: %w", err)
	}
	tidySockets(dir)
	tidyBoots(dir)
	path := filepath.Join(dir, strconv.Itoa(os.Getpid())+socketSuffix)
	l, err := net.Listen("unix", path)
	if err != nil {
		return nil, fmt.Errorf("listen for pause and resume: %w", err)
	}
	go func() {
		var turn sync.Mutex
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go answer(&turn, m, c)
		}
	}()
	return func() { l.Close() }, nil // which removes the socket
}

// socketSuffix follows the measurement's process id in its socket's name.
const socketSuffix = ".sock"

// answer serves one request.
func answer(turn *sync.Mutex, m Measurement, c net.Conn) {
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(controlLimit))
	line, err := bufio.NewReader(c).ReadString('\n')
	if err != nil {
		return
	}
	verb, number, _ := strings.Cut(strings.TrimSpace(line), " ")
	_, _ = c.Write(inTurn(turn, m, verb, number)) // who asked may be gone
}

// inTurn carries out a request, and returns the answer. turn is held meanwhile. It is not held
// while the answer is sent, because the process that asked may be stopped, and must not hold up
// other requests.
func inTurn(turn *sync.Mutex, m Measurement, verb, number string) (answer []byte) {
	if verb != measuresVerb {
		turn.Lock()
		defer turn.Unlock()
	}
	pid, err := strconv.Atoi(number)
	text := answerOK
	var body []byte
	switch {
	case err != nil:
		err = fmt.Errorf("%q is no process id", number)
	case verb == "dump":
		var name string
		name, err = m.Dump(pid)
		text += " " + name
	case verb == dumpAllVerb:
		var first string
		first, err = m.DumpAll(pid)
		text += " " + first
	case verb == measuresVerb:
		if !m.Measures(pid) {
			err = ErrNotMeasured
		}
	case verb == snapshotVerb:
		var took time.Duration
		body, took, err = encodeProfiles(m, pid)
		text += fmt.Sprintf(" %d", took)
	case verb == "pause":
		err = m.Pause(pid)
	case verb == "resume":
		err = m.Resume(pid)
	default:
		err = fmt.Errorf("%q is no request that this version knows", verb)
	}
	if errors.Is(err, ErrNotMeasured) {
		text, body = answerNone, nil
	} else if err != nil {
		text, body = strings.ReplaceAll(err.Error(), "\n", "; "), nil
	}
	return append([]byte(text+"\n"), body...)
}

// Ask sends a request to the measurement that measures a process, and returns what the answer says
// beyond ok. The error is a sentence.
func Ask(verb string, pid int) (answer string, err error) {
	peer, err := find(pid, controlLimit)
	if err == nil {
		answer, err = peer.ask(verb, pid)
	}
	if errors.Is(err, ErrNotMeasured) {
		return "", fmt.Errorf("no ompp-attach of this user measures process %d: start one with `ompp-attach attach --pid %d`, or %s as the user who did (sudo)", pid, pid, verb)
	}
	return answer, err
}

// beyondOK returns what an answer says beyond ok. The error is ErrNotMeasured or a sentence.
func beyondOK(text string) (string, error) {
	switch {
	case text == answerOK || strings.HasPrefix(text, answerOK+" "):
		return strings.TrimSpace(strings.TrimPrefix(text, answerOK)), nil
	case text == answerNone:
		return "", ErrNotMeasured
	}
	return "", errors.New(text)
}

// socketsOf lists the sockets of this user's measurements.
func socketsOf() ([]string, error) {
	sockets, _ := filepath.Glob(filepath.Join(controlDir(), "*"+socketSuffix))
	if len(sockets) == 0 {
		return nil, nil
	}
	return sockets, private(controlDir())
}

func ask(path, verb string, pid int, limit time.Duration) (string, error) {
	c, err := request(path, verb, pid, limit)
	if err != nil {
		return "", err
	}
	defer c.Close()
	line, err := bufio.NewReader(c).ReadString('\n')
	if err != nil {
		return "", err
	}
	return strings.TrimSpace(line), nil
}

// request sends a request. The connection has the answer, for which limit is the time.
func request(path, verb string, pid int, limit time.Duration) (net.Conn, error) {
	c, err := net.DialTimeout("unix", path, limit)
	if err != nil {
		return nil, err
	}
	_ = c.SetDeadline(time.Now().Add(limit))
	fmt.Fprintf(c, "%s %d\n", verb, pid)
	return c, nil
}

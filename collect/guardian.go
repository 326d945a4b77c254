package collect

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"

	"ompp-attach/bpf"
)

// From Linux 6.13 on the kernel side continues the processes that we have stopped
// when we die, however we die (bpf/release.h). On older kernels the guardian does, a
// second process of ours, which learns of our death by the end of its standard input.

// GuardianCommand is the hidden subcommand that runs it.
const GuardianCommand = "__guardian"

// alwaysGuarded is the environment variable by which tests ask for a guardian where
// the kernel needs none.
const alwaysGuarded = "OMPP_ATTACH_GUARDIAN"

// guardianName is what ps and killall call it.
const guardianName = "ompp-guardian"

type guardian struct {
	path      string     // of our program
	maps      []*os.File // of stopped and of followed processes: open until it is dismissed, which is after the follower's end
	mu        sync.Mutex
	cmd       *exec.Cmd
	pipe      io.WriteCloser
	dismissed bool
	ended     chan struct{} // closed when there is none any more
}

// guard starts the guardian, before the first process can be stopped, where the
// kernel side does not do its work.
func (m *Measurement) guard() error {
	if m.follower.EndsStops() && os.Getenv(alwaysGuarded) == "" {
		return nil
	}
	m.guarding.Lock()
	defer m.guarding.Unlock()
	if m.guardian == nil {
		self, err := os.Executable()
		if err == nil {
			m.guardian, err = newGuardian(self, m.follower.StoppedMap(), m.follower.FollowedMap())
		}
		if err != nil {
			return fmt.Errorf("start the guardian: %w", err)
		}
	}
	return nil
}

func newGuardian(path string, stopped, followed *ebpf.Map) (*guardian, error) {
	g := &guardian{path: path, ended: make(chan struct{})}
	for _, m := range []*ebpf.Map{stopped, followed} {
		fd, err := unix.FcntlInt(uintptr(m.FD()), unix.F_DUPFD_CLOEXEC, 0)
		if err != nil {
			g.close()
			return nil, err
		}
		g.maps = append(g.maps, os.NewFile(uintptr(fd), "map"))
	}
	if err := g.start(); err != nil {
		g.close()
		return nil, err
	}
	go g.keep()
	return g, nil
}

func (g *guardian) close() {
	for _, f := range g.maps {
		f.Close()
	}
}

var errDismissed = errors.New("the guardian has been dismissed")

// start starts a guardian, unless it has been dismissed.
func (g *guardian) start() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.dismissed {
		return errDismissed
	}
	cmd := exec.Command(g.path, GuardianCommand)
	cmd.Args[0] = guardianName // pkill -f of our name spares it
	pipe, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	cmd.ExtraFiles = g.maps
	// Its own session: a Ctrl-C or a kill of our process group spares it.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return err
	}
	g.cmd, g.pipe = cmd, pipe
	return nil
}

// keep starts another one when one was killed, and tries again when that fails.
// Who has been started is waited for.
func (g *guardian) keep() {
	defer close(g.ended)
	for {
		_ = g.cmd.Wait()
		for failed := true; failed; failed = g.start() != nil {
			if g.over() {
				return
			}
			time.Sleep(guardianPause)
		}
	}
}

func (g *guardian) over() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.dismissed
}

// guardianPause keeps us from starting guardians all the time where something
// kills each.
const guardianPause = 50 * time.Millisecond

// dismissed is what we tell the guardian when we need it no more.
const dismissed = "x"

func (g *guardian) stop() {
	g.mu.Lock()
	g.dismissed = true
	_, _ = io.WriteString(g.pipe, dismissed)
	g.pipe.Close()
	g.mu.Unlock()
	<-g.ended
	g.close()
}

// guardianLook is how often the guardian looks for who has been stopped too long.
const guardianLook = time.Second

// RunGuardian is the guardian's main function.
func RunGuardian() error {
	// What is sent to all processes of our name, or by it, is not meant for it.
	signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2)
	_ = os.WriteFile(fmt.Sprintf("/proc/self/task/%d/comm", os.Getpid()), []byte(guardianName), 0)
	m, err := ebpf.NewMapFromFD(3)
	if err != nil {
		return fmt.Errorf("guardian: take over the map: %w", err)
	}
	followed, err := ebpf.NewMapFromFD(4)
	if err != nil {
		return fmt.Errorf("guardian: take over the map: %w", err)
	}
	end := make(chan []byte)
	go func() {
		last, _ := io.ReadAll(os.Stdin)
		end <- last
	}()
	for over := false; !over; {
		select {
		case last := <-end:
			if over = true; string(last) == dismissed {
				return nil
			}
		case <-time.After(guardianLook):
			bpf.ContinueLonger(m, bpf.MostStopped) // we may be stopped ourselves, or hang
		}
	}
	// The kernel takes the programs away some time after our death, on a busy
	// machine seconds: they must not stop anybody any more.
	for range 100 {
		bpf.ForgetAll(followed) // a fork may just have been adding its child
		bpf.ContinueAll(m)
		time.Sleep(50 * time.Millisecond)
	}
	return nil
}

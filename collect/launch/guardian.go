package launch

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

// From Linux 6.16 on, the kernel side continues the processes that we have stopped, however we die
// (bpf/release.h). On older kernels the guardian does that: a second process of ours, which notices
// our death because its standard input is closed.

// GuardianCommand is the hidden subcommand that runs the guardian.
const GuardianCommand = "__guardian"

// alwaysGuarded is an environment variable for tests: they get a guardian even where the kernel
// needs none.
const alwaysGuarded = "OMPP_ATTACH_GUARDIAN"

// guardianName is the guardian's name in ps and for killall.
const guardianName = "ompp-guardian"

type guardian struct {
	path      string     // of our executable
	maps      []*os.File // stopped and followed; closed by stop, after the follower has ended
	mu        sync.Mutex
	cmd       *exec.Cmd
	pipe      io.WriteCloser
	dismissed bool
	ended     chan struct{} // closed when the last guardian has ended after stop
}

// AlwaysGuarded tells whether a test asks for a guardian where the kernel needs none.
func AlwaysGuarded() bool { return os.Getenv(alwaysGuarded) != "" }

// Guard is a guardian that is started when it is first needed. Its zero value is ready for use.
type Guard struct {
	mu       sync.Mutex
	guardian *guardian // nil: not started yet
}

// Start starts the guardian, unless it was started before. It must be called before the first
// process can be stopped. The guardian gets the maps of stopped and of followed processes.
func (g *Guard) Start(stopped, followed *ebpf.Map) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.guardian != nil {
		return nil
	}
	self, err := os.Executable()
	if err == nil {
		g.guardian, err = newGuardian(self, stopped, followed)
	}
	if err != nil {
		return fmt.Errorf("start the guardian: %w", err)
	}
	return nil
}

// Stop dismisses the guardian, and waits for its end. It does nothing if none was started. Start
// must not be called after Stop.
func (g *Guard) Stop() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.guardian != nil {
		g.guardian.stop()
	}
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

// keep starts another guardian when one was killed, and tries again when that fails. It waits for
// each guardian that was started, so that none becomes a zombie.
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

// guardianPause is the time between two starts, so that we do not start guardians all the time
// where something kills each of them.
const guardianPause = 50 * time.Millisecond

// dismissed is written to the guardian's pipe when it is not needed any more.
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

// guardianLook is how often the guardian looks for processes that have been stopped for too long.
const guardianLook = time.Second

// RunGuardian is the guardian's main function. It gets the maps stopped and followed as files 3 and
// 4, and returns when the measurement has ended or died.
func RunGuardian() error {
	// Signals for all processes of the tool's name, or to a process group, are not meant for the
	// guardian.
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
			bpf.ContinueLonger(m, bpf.MostStopped) // the tool itself may be stopped, or hang
		}
	}
	// The kernel removes our BPF programs some time after our death, on a busy machine seconds
	// later. Until then they must not stop any process.
	for range 100 {
		bpf.ForgetAll(followed) // a fork may just have added its child
		bpf.ContinueAll(m)
		time.Sleep(50 * time.Millisecond)
	}
	return nil
}

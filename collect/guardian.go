package collect

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"

	"github.com/cilium/ebpf"

	"ompp-attach/bpf"
)

// The guardian is a second process of ours that does one thing: when we die,
// however we die, it continues the processes that we had stopped. It learns of
// our death by the end of its standard input.

// GuardianCommand is the hidden subcommand that runs it.
const GuardianCommand = "__guardian"

type guardian struct {
	cmd  *exec.Cmd
	pipe io.WriteCloser
}

// guard starts the guardian, before the first process can be stopped.
func (m *Measurement) guard() (err error) {
	m.guarding.Lock()
	defer m.guarding.Unlock()
	if m.guardian == nil {
		m.guardian, err = startGuardian(m.follower.StoppedMap(), m.follower.FollowedMap())
	}
	return err
}

func startGuardian(stopped, followed *ebpf.Map) (*guardian, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("start the guardian: %w", err)
	}
	cmd := exec.Command(self, GuardianCommand)
	pipe, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("start the guardian: %w", err)
	}
	for _, m := range []*ebpf.Map{stopped, followed} {
		fd, err := syscall.Dup(m.FD())
		if err != nil {
			return nil, fmt.Errorf("start the guardian: %w", err)
		}
		f := os.NewFile(uintptr(fd), "map")
		defer f.Close()
		cmd.ExtraFiles = append(cmd.ExtraFiles, f)
	}
	// Its own session: a Ctrl-C or a kill of our process group spares it.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the guardian: %w", err)
	}
	return &guardian{cmd, pipe}, nil
}

// dismissed is what we tell the guardian when we need it no more.
const dismissed = "x"

func (g *guardian) stop() {
	_, _ = io.WriteString(g.pipe, dismissed)
	g.pipe.Close()
	_ = g.cmd.Wait()
}

// RunGuardian is the guardian's main function.
func RunGuardian() error {
	last, _ := io.ReadAll(os.Stdin)
	if string(last) == dismissed {
		return nil
	}
	m, err := ebpf.NewMapFromFD(3)
	if err != nil {
		return fmt.Errorf("guardian: take over the map: %w", err)
	}
	followed, err := ebpf.NewMapFromFD(4)
	if err != nil {
		return fmt.Errorf("guardian: take over the map: %w", err)
	}
	// The kernel takes the programs away some time after our death, on a busy
	// machine seconds: they must not stop anybody any more.
	bpf.ForgetAll(followed)
	for range 20 { // those that were just about to
		bpf.ContinueAll(m)
		time.Sleep(50 * time.Millisecond)
	}
	return nil
}

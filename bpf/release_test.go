package bpf

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"ompp-attach/internal/testbin"
)

const holderEnv = "OMPP_TEST_HOLDER"

// TestHolder plays the tool for the tests below; it is no test itself. Its process stops a shell at
// the shell's next exec, prints the shell's number, and does nothing more.
func TestHolder(t *testing.T) {
	silence, err := time.ParseDuration(os.Getenv(holderEnv))
	if err != nil {
		t.Skip("is run by others")
	}
	mostSilent = silence
	f := following(t, anyone)
	f.Alive()
	cmd := exec.Command("sh", "-c", "read x; exec sleep 100")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // the tests kill our process group
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if err := f.Follow(cmd.Process.Pid, FollowStop); err != nil {
		t.Fatal(err)
	}
	fmt.Printf("holds %d\n", cmd.Process.Pid)
	fmt.Fprintln(in, "go")
	for {
		l, ok, err := f.Next(time.Now().Add(time.Minute))
		if err != nil || !ok {
			t.Fatalf("no stop: %v, %v", ok, err)
		}
		if l.Kind == LifeExec {
			fmt.Printf("stopped %d\n", l.Stopped)
			time.Sleep(time.Minute)
		}
	}
}

// holder runs TestHolder until it has stopped its shell, and returns both.
func holder(t *testing.T, silence time.Duration) (tool *exec.Cmd, stopped int) {
	t.Helper()
	if !(&Follower{}).EndsStops() {
		t.Skip("this kernel needs a guardian")
	}
	tool = exec.Command(os.Args[0], "-test.run=^TestHolder$", "-test.v")
	tool.Env = append(os.Environ(), holderEnv+"="+silence.String())
	tool.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := tool.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := tool.Start(); err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	for lines := bufio.NewScanner(out); lines.Scan(); {
		said.WriteString(lines.Text() + "\n")
		if what, n, ok := strings.Cut(lines.Text(), " "); ok && what == "holds" {
			stopped, _ = strconv.Atoi(n)
			t.Cleanup(func() { _ = syscall.Kill(stopped, syscall.SIGKILL) })
		} else if ok && what == "stopped" && n == "1" {
			// The stop is under way.
			testbin.Until(t, "the process is stopped", func() bool { return state(t, stopped) == "T" })
			return tool, stopped
		}
	}
	_ = tool.Wait()
	if strings.Contains(said.String(), "not permitted") {
		t.Skip("loading BPF programs is not permitted")
	}
	t.Fatalf("nobody was stopped:\n%s", said.String())
	return nil, 0
}

// state returns the letter that /proc gives for a process's state.
func state(t *testing.T, pid int) string {
	t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(b), ") ")
	return rest[:1]
}

// goesOn waits until a process is no longer stopped. After MostStopped, any process goes on.
func goesOn(t *testing.T, pid int) {
	t.Helper()
	const limit = MostStopped / 2
	for deadline := time.Now().Add(limit); state(t, pid) == "T"; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("process %d is still stopped after %s", pid, limit)
		}
	}
	if s := state(t, pid); s != "S" && s != "R" && s != "D" {
		t.Fatalf("process %d is in state %s", pid, s)
	}
}

// Stopped processes go on if the tool is killed, though no process of the tool is left.
func TestTheToolsDeathEndsStops(t *testing.T) {
	for range 10 {
		tool, pid := holder(t, time.Hour)
		_ = syscall.Kill(-tool.Process.Pid, syscall.SIGKILL)
		_ = tool.Wait()
		goesOn(t, pid)
	}
}

// A tool that is stopped itself does not stop others for long. In 5 s, the test on a busy machine
// sees the stop, too.
func TestASilentToolHoldsUpNobody(t *testing.T) {
	if testing.Short() {
		t.Skip("waits five seconds")
	}
	tool, pid := holder(t, 5*time.Second)
	defer func() {
		_ = syscall.Kill(-tool.Process.Pid, syscall.SIGKILL)
		_ = tool.Wait()
	}()
	// Only the tool gets the signal: other processes of its group need not stop.
	_ = syscall.Kill(tool.Process.Pid, syscall.SIGSTOP)
	goesOn(t, pid)
}

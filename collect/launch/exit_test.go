package launch

import (
	"os/exec"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"ompp-attach/collect/target"
)

// The holder of a pidfd learns how the process ended, even after somebody has waited for it.
func TestEndingOf(t *testing.T) {
	for script, want := range map[string]Ending{
		"read x; exit 0":      {How: "exit status 0"},
		"read x; exit 3":      {Status: 3, How: "exit status 3"},
		"read x; kill -11 $$": {Status: 139, Signal: unix.SIGSEGV, How: "killed by signal 11 (segmentation fault)"},
	} {
		cmd := exec.Command("sh", "-c", script)
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		fd, err := unix.PidfdOpen(cmd.Process.Pid, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer unix.Close(fd)
		if e, ok := EndingOf(cmd.Process.Pid, fd); ok {
			t.Errorf("%s: it runs, and has ended with %+v", script, e)
		}
		in.Close()
		for !target.Ended(cmd.Process.Pid) {
			time.Sleep(time.Millisecond)
		}
		if got, ok := EndingOf(cmd.Process.Pid, fd); !ok || got != want {
			t.Errorf("%s, not waited for: %+v, want %+v", script, got, want)
		}
		_ = cmd.Wait()
		got, ok := EndingOf(cmd.Process.Pid, fd)
		if !ok {
			t.Skip("this kernel does not tell (6.15)")
		}
		if got != want {
			t.Errorf("%s: %+v, want %+v", script, got, want)
		}
	}
}

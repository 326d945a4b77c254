package target

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

func TestParentOf(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a) R 1 (b")
	sleep, err := exec.LookPath("sleep")
	if err != nil {
		t.Skip(err)
	}
	if err := os.Symlink(sleep, name); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(name, "60")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	defer cmd.Process.Kill()
	if got := ParentOf(cmd.Process.Pid); got != os.Getpid() {
		t.Errorf("parent %d, want %d", got, os.Getpid())
	}
	if got := ParentOf(1 << 30); got != 0 {
		t.Errorf("nobody's parent is %d", got)
	}
}

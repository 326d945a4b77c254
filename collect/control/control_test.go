package control

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
)

// The next tool removes the sockets of tools that were killed, and leaves other sockets alone.
func TestTidySockets(t *testing.T) {
	ended := exec.Command("true")
	if err := ended.Run(); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	put := func(pid int) string {
		name := filepath.Join(dir, strconv.Itoa(pid)+socketSuffix)
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	gone, living, own := put(ended.Process.Pid), put(os.Getppid()), put(os.Getpid())
	tidySockets(dir)
	for name, want := range map[string]bool{gone: false, living: true, own: false} {
		if _, err := os.Lstat(name); (err == nil) != want {
			t.Errorf("%s: %v", filepath.Base(name), err)
		}
	}
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

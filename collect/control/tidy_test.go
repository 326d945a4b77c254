package control

import (
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"ompp-attach/clock"
	"ompp-attach/files"
)

// put makes a file that was last written at a time.
func put(t *testing.T, when time.Time, path ...string) string {
	t.Helper()
	name := filepath.Join(path...)
	if err := errors.Join(os.WriteFile(name, nil, 0o600), os.Chtimes(name, when, when)); err != nil {
		t.Fatal(err)
	}
	return name
}

func there(t *testing.T, wanted map[string]bool) {
	t.Helper()
	for name, want := range wanted {
		if _, err := os.Lstat(name); (err == nil) != want {
			t.Errorf("%s: %v, want there: %t", name, err, want)
		}
	}
}

func beforeBoot() time.Time { return clock.Booted().Add(-time.Hour) }

// The next tool removes the sockets of tools that were killed, in this boot or before it. A socket
// at which somebody listens stays, and other sockets do.
func TestTidySockets(t *testing.T) {
	var ended [2]*exec.Cmd
	for i := range ended {
		ended[i] = exec.Command("true")
		if err := ended[i].Run(); err != nil {
			t.Fatal(err)
		}
	}
	dir := t.TempDir()
	socket := func(pid int) string { return strconv.Itoa(pid) + socketSuffix }
	now := time.Now()
	gone, living, own := put(t, now, dir, socket(ended[0].Process.Pid)), put(t, now, dir, socket(os.Getppid())), put(t, now, dir, socket(os.Getpid()))
	reused := put(t, beforeBoot(), dir, socket(1)) // there always is a process 1
	elsewhere := filepath.Join(dir, socket(ended[1].Process.Pid))
	l, err := net.Listen("unix", elsewhere) // as if in another PID namespace
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	tidySockets(dir)
	there(t, map[string]bool{gone: false, living: true, own: false, elsewhere: true, reused: !files.Local(dir)})
}

// The directories of earlier boots of this machine are removed, and nothing in them that is not
// ours. Directories that may be of other machines stay.
func TestTidyBoots(t *testing.T) {
	temp := t.TempDir()
	if !files.Local(temp) {
		t.Skip("the file system may be shared with other machines")
	}
	directory := func(name string, when time.Time, names ...string) string {
		dir := filepath.Join(temp, name)
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		for _, n := range names {
			put(t, when, dir, n)
		}
		if err := os.Chtimes(dir, when, when); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	own := directory(tempPrefix()+"00000000", beforeBoot(), "1"+socketSuffix)
	dead := directory(tempPrefix()+"11111111", beforeBoot(), "1"+socketSuffix, "job-11111111-0.log", "lock")
	young := directory(tempPrefix()+"22222222", time.Now(), "1"+socketSuffix)
	foreign := directory(tempPrefix()+"33333333", beforeBoot(), "letter")
	named := directory(tempPrefix()+"results", beforeBoot(), "lock")
	tidyBoots(own)
	there(t, map[string]bool{own: true, dead: false, young: true, foreign: true, named: true, filepath.Join(own, "1"+socketSuffix): true,
		filepath.Join(foreign, "letter"): true, filepath.Join(named, "lock"): true})

	tidyBoots(filepath.Join(temp, "ompp-attach")) // in XDG_RUNTIME_DIR
	there(t, map[string]bool{own: true})
}

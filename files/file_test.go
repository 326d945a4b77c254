package files

import (
	"errors"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"ompp-attach/internal/stuckfs"
)

// promptly fails if something takes longer than the door's patience.
func promptly(t *testing.T, what string, f func()) time.Duration {
	t.Helper()
	began := time.Now()
	done := make(chan struct{})
	go func() { defer close(done); f() }()
	select {
	case <-done:
	case <-time.After(4 * longest):
		t.Fatalf("%s blocks", what)
	}
	return time.Since(began)
}

// What is not a file, or has no end, is refused at once.
func TestRefused(t *testing.T) {
	dir := t.TempDir()
	name := func(s string) string { return filepath.Join(dir, s) }
	l, err := net.Listen("unix", name("socket"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if err := errors.Join(unix.Mkfifo(name("fifo"), 0o666), os.Symlink("/proc/self/pagemap", name("endless")), os.Symlink("fifo", name("link"))); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]error{
		name("fifo"): ErrNotRegular, name("link"): ErrNotRegular, name("socket"): ErrNotRegular, dir: ErrNotRegular,
		"/dev/zero": ErrNotRegular, "/dev/tty": ErrNotRegular,
		"/proc/self/pagemap": ErrKernel, "/proc/kmsg": ErrKernel, name("endless"): ErrKernel, "/proc/self/mem": ErrKernel,
		"/sys/kernel/uevent_seqnum": ErrKernel, name("none"): fs.ErrNotExist, "": fs.ErrNotExist,
	} {
		promptly(t, path, func() {
			f, err := Open(path)
			var named *fs.PathError
			if !errors.Is(err, want) || !errors.As(err, &named) || named.Path != path {
				t.Errorf("%s: %v, want %v", path, err, want)
			}
			if err == nil {
				f.Close()
			}
		})
	}
}

// A process's files are reached by /proc.
func TestByProc(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{file, "/proc/self/root" + file, "/proc/self/exe"} {
		f, err := Open(path)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		b := make([]byte, 4)
		if _, err := f.ReadAt(b, 0); err != nil || f.Info().Size() < 4 {
			t.Errorf("%s: %v, %d bytes", path, err, f.Info().Size())
		}
		f.Close()
	}
}

// The limit holds whatever the size says.
func TestLimit(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, []byte("0123456789"), 0o600); err != nil {
		t.Fatal(err)
	}
	if b, info, err := ReadFile(file, 10); string(b) != "0123456789" || err != nil || info.Size() != 10 {
		t.Errorf("%q, %v", b, err)
	}
	if b, _, err := ReadFile(file, 9); b != nil || !errors.Is(err, ErrTooLarge) {
		t.Errorf("%q, %v", b, err)
	}
	f, err := Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := os.Truncate(file, 1<<40); err != nil { // it grows while it is read
		t.Fatal(err)
	}
	if _, err := f.readAll(1 << 20); !errors.Is(err, ErrTooLarge) {
		t.Errorf("%v", err)
	}
}

// Nobody waits for a server that is gone, and for its second file not even once.
func TestStuckOpen(t *testing.T) {
	dir := t.TempDir()
	stuckfs.Mount(t, dir, false)
	for n, call := range []func() error{
		func() error { _, err := Open(filepath.Join(dir, "file")); return err },
		func() error { _, _, err := ReadFile(filepath.Join(dir, "other"), 1); return err },
		func() error { _, err := Stat(filepath.Join(dir, "third")); return err },
	} {
		took := promptly(t, "a file of a server that is gone", func() {
			if err := call(); !errors.Is(err, ErrStuck) {
				t.Errorf("call %d: %v", n, err)
			}
		})
		if n > 0 && took > longest/2 {
			t.Errorf("call %d took %s", n, took)
		}
	}
}

func TestStuckRead(t *testing.T) {
	dir := t.TempDir()
	stuckfs.Mount(t, dir, true)
	f, err := Open(filepath.Join(dir, "file"))
	if err != nil {
		t.Fatal(err)
	}
	promptly(t, "reading from a server that is gone", func() {
		if _, err := f.ReadAt(make([]byte, 10), 0); !errors.Is(err, ErrStuck) {
			t.Errorf("%v", err)
		}
		if _, err := io.ReadAll(f); !errors.Is(err, ErrStuck) {
			t.Errorf("%v", err)
		}
		f.Close()
	})
}

// What is back is waited for again.
func TestPatience(t *testing.T) {
	p := patience{stuck: map[string]int{}}
	if d, ok := p.limit("a"); d != longest || !ok {
		t.Error(d, ok)
	}
	p.note("a", 1)
	if _, ok := p.limit("a"); ok {
		t.Error("one that does not answer is asked again")
	}
	if d, ok := p.limit("b"); d != longest/2 || !ok {
		t.Error(d, ok)
	}
	for range mostStuck - 1 {
		p.note("c", 1)
	}
	if _, ok := p.limit("b"); ok {
		t.Error("too many wait")
	}
	p.note("a", -1)
	if d, ok := p.limit("a"); d != shortest || !ok {
		t.Error(d, ok)
	}
}

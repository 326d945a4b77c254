package symbols

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"ompp-attach/files"
	"ompp-attach/internal/stuckfs"
)

// promptly fails if a function blocks.
func promptly(t *testing.T, what string, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() { defer close(done); f() }()
	select {
	case <-done:
	case <-time.After(30 * time.Second):
		t.Fatalf("%s blocks", what)
	}
}

// TestHostileDebugFile: a program is read without delay, whatever file stands at the name of its
// debug file.
func TestHostileDebugFile(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for servers that do not answer")
	}
	full := compile(t, "gcc", "-g", "-w", "-nostartfiles", "-Wl,--build-id=none", "-fopenmp", "-fPIC", "-shared", "testdata/regions.c")
	for name, put := range map[string]func(t *testing.T, dir string) error{
		"FIFO": func(_ *testing.T, dir string) error {
			return errors.Join(os.Mkdir(filepath.Join(dir, ".debug"), 0o755), unix.Mkfifo(filepath.Join(dir, ".debug", "x.debug"), 0o666))
		},
		"endless": func(_ *testing.T, dir string) error {
			return os.Symlink("/proc/self/pagemap", filepath.Join(dir, "x.debug"))
		},
		"device": func(_ *testing.T, dir string) error { return os.Symlink("/dev/zero", filepath.Join(dir, "x.debug")) },
		"server that is gone": func(t *testing.T, dir string) error {
			err := os.Mkdir(filepath.Join(dir, ".debug"), 0o755)
			stuckfs.Mount(t, filepath.Join(dir, ".debug"), false)
			return err
		},
		"server that goes": func(t *testing.T, dir string) error {
			err := os.Mkdir(filepath.Join(dir, ".debug"), 0o755)
			stuckfs.Mount(t, filepath.Join(dir, ".debug"), true)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			debug, bare := filepath.Join(dir, "x.debug"), filepath.Join(dir, "bare")
			run(t, "objcopy", "--only-keep-debug", full, debug)
			run(t, "objcopy", "--strip-all", "--add-gnu-debuglink="+debug, full, bare)
			if err := errors.Join(os.Remove(debug), put(t, dir)); err != nil {
				t.Fatal(err)
			}
			promptly(t, "looking for a debug file", func() {
				o := open(t, bare)
				if o.HasDWARF() {
					t.Error("it has lines")
				}
				query(o)
			})
		})
	}
}

// TestHostileSource: the name of a source may lead to any file.
func TestHostileSource(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for servers that do not answer")
	}
	dir := t.TempDir()
	fifo := filepath.Join(dir, "fifo.c")
	if err := unix.Mkfifo(fifo, 0o666); err != nil {
		t.Fatal(err)
	}
	gone := filepath.Join(dir, "gone")
	if err := os.Mkdir(gone, 0o755); err != nil {
		t.Fatal(err)
	}
	o := open(t, compile(t, "gcc", "-g", "-w", "-nostartfiles", "-shared", "-fPIC", "-fopenmp", "testdata/regions.c"))
	o.SearchSources(dir)
	for _, name := range []string{fifo, "/proc/self/pagemap", "/proc/kmsg", "/dev/zero", "/proc/self/mem", "/proc/self/fd/0", dir} {
		promptly(t, name, func() {
			if ds, ok := o.Directives(name); ok {
				t.Errorf("%s has %d directives", name, len(ds))
			}
		})
	}
	stuckfs.Mount(t, gone, true)
	promptly(t, "a source of a server that is gone", func() {
		if _, ok := o.Directives(filepath.Join(gone, "a.c")); ok {
			t.Error("it was read")
		}
	})
	if len(files.Stuck()) == 0 {
		t.Error("the file is not told of")
	}
}

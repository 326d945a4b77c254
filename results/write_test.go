package results

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"ompp-attach/collect"
	"ompp-attach/profile"
)

// measuredOnce is a result with one profile.
func measuredOnce() *collect.Result {
	p := profileOf(4711)
	p.Nodes = []profile.Node{{Parent: -1, Region: -1}}
	return &collect.Result{First: p, Profiles: []*profile.Profile{p}}
}

// only makes dir the only directory for profiles that cannot be written to their own one.
func only(t *testing.T, dirs ...string) {
	was := elsewhere
	elsewhere = func() []string { return dirs }
	t.Cleanup(func() { elsewhere = was })
}

// Whatever has happened to the directory, the results are written somewhere, and one sentence says
// where.
func TestWrittenElsewhere(t *testing.T) {
	file := func(t *testing.T, name string) string {
		if err := os.WriteFile(name, nil, 0o644); err != nil {
			t.Fatal(err)
		}
		return name
	}
	for name, place := range map[string]func(t *testing.T) string{
		"a file in its place": func(t *testing.T) string { return file(t, filepath.Join(t.TempDir(), "out")) },
		"below a file":        func(t *testing.T) string { return filepath.Join(file(t, filepath.Join(t.TempDir(), "out")), "x") },
		"a name too long":     func(t *testing.T) string { return filepath.Join(t.TempDir(), strings.Repeat("x", 300)) },
		"a directory in a file's place": func(t *testing.T) string {
			dir := t.TempDir()
			if err := os.MkdirAll(filepath.Join(dir, RecordName, "x"), 0o755); err != nil {
				t.Fatal(err)
			}
			return dir
		},
		"no room": func(t *testing.T) string {
			dir := t.TempDir()
			if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=4k"); err != nil {
				t.Skip(err)
			}
			t.Cleanup(func() { _ = unix.Unmount(dir, 0) })
			if err := os.WriteFile(filepath.Join(dir, "all"), make([]byte, 4096), 0o644); err != nil {
				t.Fatal(err)
			}
			return dir
		},
	} {
		t.Run(name, func(t *testing.T) {
			kept := filepath.Join(t.TempDir(), "kept")
			only(t, filepath.Join(file(t, filepath.Join(t.TempDir(), "no")), "directory"), kept)
			o := &Directory{Dir: place(t), named: true, program: "solver"}
			err := o.Write(measuredOnce(), &Wanted{Quiet: true, Formats: DefaultFormats})
			where := filepath.Join(kept, "ompp-solver-4711")
			if err == nil || !strings.HasSuffix(err.Error(), ": the results are in "+where) || strings.Contains(err.Error(), "\n") {
				t.Errorf("error %v", err)
			}
			if _, err := ReadProfile(filepath.Join(where, RecordName)); err != nil {
				t.Error(err)
			}
			if got := namesIn(t, where); !slices.Contains(got, "profile.ompp.txt") {
				t.Errorf("written: %q", got)
			}
		})
	}
}

// Profiles that cannot be written anywhere are kept until they can be, or until nobody waits for
// them.
func TestKeptUntilThereIsRoom(t *testing.T) {
	was := retryEvery
	retryEvery = 10 * time.Millisecond
	defer func() { retryEvery = was }()
	only(t)
	dir := filepath.Join(t.TempDir(), "out")
	if err := os.WriteFile(dir, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	var said []string
	gone := make(chan struct{})
	f := &Wanted{Quiet: true, Formats: DefaultFormats, Gone: gone, Say: func(s string) {
		if said = append(said, s); len(said) == 1 {
			os.Remove(dir) // there is room now
		}
	}}
	o := &Directory{Dir: dir, named: true, program: "solver"}
	if err := o.Write(measuredOnce(), f); err != nil {
		t.Error(err)
	}
	if _, err := ReadProfile(filepath.Join(dir, RecordName)); err != nil {
		t.Error(err)
	}
	if len(said) != 2 || !strings.Contains(said[0], "kept in memory") || said[1] != "written now" {
		t.Errorf("said: %q", said)
	}

	o = &Directory{Dir: filepath.Join(dir, RecordName), named: true, program: "solver"}
	f.Say = func(string) { close(gone) }
	if err := o.Write(measuredOnce(), f); err == nil || !errors.Is(err, unix.ENOTDIR) || !strings.HasSuffix(err.Error(), "the results are lost") {
		t.Errorf("error %v", err)
	}
}

// The limit of file size is raised as far as possible, and SIGXFSZ does not end the tool.
func TestFileSizeLimit(t *testing.T) {
	const limit = 1 << 20 // go test writes a small file of its own meanwhile
	var was, is unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_FSIZE, &was); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Setrlimit(unix.RLIMIT_FSIZE, &was) }()
	if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: limit, Max: was.Max}); err != nil {
		t.Fatal(err)
	}
	o := &Directory{Dir: t.TempDir(), named: true, program: "solver"}
	if err := o.Write(measuredOnce(), &Wanted{Quiet: true, Formats: DefaultFormats}); err != nil {
		t.Error(err)
	}
	if err := unix.Getrlimit(unix.RLIMIT_FSIZE, &is); err != nil || is.Cur != was.Max {
		t.Errorf("the limit is %d of %d, %v", is.Cur, was.Max, err)
	}
	if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: limit, Max: was.Max}); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(t.TempDir(), "large"), make([]byte, 2*limit), 0o644); !errors.Is(err, unix.EFBIG) {
		t.Errorf("a file beyond the limit: %v", err)
	}
}

// A program with a long name gets a directory whose name is not too long. A directory in the place
// of a file is found before anything is measured.
// TestUnwritten: files that cannot be written for one reason are told of in one sentence.
func TestUnwritten(t *testing.T) {
	full := func(name string) error { return fmt.Errorf("cannot write %s: %w", name, syscall.ENOSPC) }
	other := fmt.Errorf("cannot write d: %w", syscall.EACCES)
	for _, c := range []struct {
		errs []error
		want string
	}{
		{[]error{full("a")}, "cannot write a: no space left on device"},
		{[]error{full("a"), full("b"), full("c")}, "cannot write a: no space left on device (and 2 more files, for the same reason)"},
		{[]error{full("a"), other}, "cannot write a: no space left on device\ncannot write d: permission denied"},
		{[]error{errors.New("x"), errors.New("y")}, "x\ny"},
	} {
		if got := unwritten(c.errs); got.Error() != c.want || !errors.Is(got, c.errs[0]) {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
	if err := unwritten(nil); err != nil {
		t.Error(err)
	}
}

func TestNamesThatDo(t *testing.T) {
	t.Chdir(t.TempDir())
	o, err := Open("", strings.Repeat("p", 255), 4711, false)
	if err != nil {
		t.Fatal(err)
	}
	_ = o.Abandon(nil)
	if err := os.MkdirAll("out/profile.pb.gz/x", 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := Open("out", "p", 4711, true); err == nil || !strings.Contains(err.Error(), "out/profile.pb.gz is a directory") {
		t.Errorf("error %v", err)
	}
}

// A mark tells which tool still writes; it goes with the tool.
func TestMark(t *testing.T) {
	dir := t.TempDir()
	m := newMark(dir, "")
	m.begins(os.Getpid())
	all := marks(dir)
	if len(all) != 1 || !all[0].held || all[0].PID != os.Getpid() {
		t.Fatalf("marks %+v", all)
	}
	if running, ending := all[0].running(); !running || ending {
		t.Errorf("running %t, ending %t", running, ending)
	}
	m.ends(os.Getpid())
	if running, _ := marks(dir)[0].running(); running {
		t.Error("nothing runs any more")
	}
	m.file.Close() // as when the tool is killed
	if all = marks(dir); len(all) != 1 || all[0].held {
		t.Errorf("marks %+v", all)
	}
	if err := removeOld(dir); err != nil {
		t.Error(err)
	}
	if got := namesIn(t, dir); len(got) > 0 {
		t.Errorf("left: %q", got)
	}
}

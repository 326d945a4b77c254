package page

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestSource: a page shows the lines of the file. If it must not show a file, it says why.
func TestSource(t *testing.T) {
	dir := openDir(t)
	began := time.Now().Add(time.Hour)
	write := func(name, text string, mode os.FileMode) string {
		t.Helper()
		name = filepath.Join(dir, name)
		if err := os.WriteFile(name, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		return name
	}
	file := write("a.c", "one\ntwo\r\nthree\n"+strings.Repeat("x", 2*mostOfLine)+"\n", 0o644)
	s := readSource(file, map[int]bool{2: true, 3: true, 4: true, 9: true}, began, mostSource)
	if len(s.Lines) != 3 || s.Lines[2] != "two" || s.Lines[3] != "three" || len(s.Lines[4]) > mostOfLine+4 || s.Missing != "" {
		t.Errorf("%+v", s)
	}
	if s := readSource(file, map[int]bool{2: true, 4: true}, began, 10); len(s.Lines) != 1 || s.Missing == "" {
		t.Errorf("more than the page may hold: %+v", s)
	}
	for name, want := range map[string]string{
		"a.c":                                      "no full path",
		filepath.Join(dir, "absent.c"):             "cannot be read",
		write("secret", "x", 0o644):                "not that of a source file",
		write("binary.c", "a\x00b", 0o644):         "no text",
		write("latin.c", "a\xffb", 0o644):          "no text",
		filepath.Join("/proc/self/root", "fifo.c"): "cannot be read",
	} {
		if s := readSource(name, map[int]bool{1: true}, began, mostSource); len(s.Lines) > 0 || !strings.Contains(s.Missing, want) {
			t.Errorf("%s: %+v, want %q", name, s, want)
		}
	}
	if s := readSource(file, map[int]bool{1: true}, time.Now().Add(-time.Hour), mostSource); len(s.Lines) > 0 || !strings.Contains(s.Missing, "was changed") {
		t.Errorf("a file that is newer than the measurement: %+v", s)
	}
	if os.Geteuid() != 0 {
		return
	}
	own := write("own.c", "x", 0o600)
	if s := readSource(own, map[int]bool{1: true}, began, mostSource); len(s.Lines) > 0 || s.Missing == "" {
		t.Errorf("a file that only root may read: %+v", s)
	}
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if s := readSource(file, map[int]bool{1: true}, began, mostSource); len(s.Lines) > 0 {
		t.Errorf("a file in a directory that only root may enter: %+v", s)
	}
}

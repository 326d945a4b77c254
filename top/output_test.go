package top

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"ompp-attach/results"
)

// kept returns what is shown of the output of a program that has written the given number of lines.
func kept(t *testing.T, dir *results.Directory, lines int) (shown []byte, told string, taken int64) {
	t.Helper()
	o, err := KeepOutput(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	if o.to, err = os.Create(filepath.Join(t.TempDir(), "terminal")); err != nil {
		t.Fatal(err)
	}
	defer o.to.Close()
	for n := range lines {
		if _, err := o.file.Write(line(n)); err != nil {
			t.Fatal(err)
		}
		if n%1000 == 0 {
			o.Bound()
		}
	}
	st, err := o.file.Stat()
	if err != nil {
		t.Fatal(err)
	}
	taken = st.Sys().(*syscall.Stat_t).Blocks * 512
	ended := make(chan struct{})
	close(ended)
	o.Show(ended, func(s string) { told += s })
	if shown, err = os.ReadFile(o.to.Name()); err != nil {
		t.Fatal(err)
	}
	return shown, told, taken
}

// line is a line of 1 KiB.
func line(n int) []byte { return append(bytes.Repeat([]byte{byte('a' + n%26)}, 1023), '\n') }

// TestOutput: of much output only the end is shown, and the user learns how much is missing. All of
// it is kept only in a directory that the user has named.
func TestOutput(t *testing.T) {
	if shown, told, _ := kept(t, results.Later("solver"), 3); string(shown) != string(line(0))+string(line(1))+string(line(2)) || told != "" {
		t.Errorf("of three lines %d bytes are shown: %q", len(shown), told)
	}
	const lines = 10 << 10 // 10 MiB
	shown, told, taken := kept(t, results.Later("solver"), lines)
	if len(shown) != shownOutput || !bytes.HasSuffix(shown, line(lines-1)) || bytes.Contains(shown, []byte{0}) {
		t.Errorf("%d bytes are shown", len(shown))
	}
	if told != "the first 9.0 MiB of the program's output are not shown here: -o DIR keeps all of it" || taken > 4*shownOutput {
		t.Errorf("%q; the file takes %d bytes", told, taken)
	}
	name := filepath.Join(t.TempDir(), "out")
	dir, err := results.Open(name, "solver", 1, false)
	if err != nil {
		t.Fatal(err)
	}
	_, told, _ = kept(t, dir, lines)
	st, err := os.Stat(filepath.Join(name, "profile.output.txt"))
	if err != nil || st.Size() != lines<<10 || !strings.HasSuffix(told, "all of it is in "+filepath.Join(name, "profile.output.txt")) {
		t.Errorf("%v: %v; %q", st, err, told)
	}
	if _, err := KeepOutput(dir); err == nil || !strings.Contains(err.Error(), "--overwrite to replace it") {
		t.Errorf("a second time: %v", err)
	}
	_ = dir.Abandon(nil) // this measurement ends
	if dir, err = results.Open(name, "solver", 1, true); err != nil {
		t.Fatal(err)
	}
	o, err := KeepOutput(dir)
	if err != nil || o.written() != 0 {
		t.Fatalf("with --overwrite: %v", err)
	}
	o.Close()
}

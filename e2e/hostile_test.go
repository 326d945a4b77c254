package e2e

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"ompp-attach/internal/stuckfs"
	"ompp-attach/internal/testbin"
)

// A program is stopped while its files are read: whatever stands in their place,
// it goes on, and is measured.
func TestHostileFilesOfLaunched(t *testing.T) {
	atOnce(t)
	for name, put := range map[string]func(t *testing.T, dir string) error{
		"FIFO": func(_ *testing.T, dir string) error { return unix.Mkfifo(filepath.Join(dir, "p.debug"), 0o666) },
		"endless": func(_ *testing.T, dir string) error {
			return os.Symlink("/proc/self/pagemap", filepath.Join(dir, "p.debug"))
		},
		"server that is gone": func(t *testing.T, dir string) error {
			if err := os.Mkdir(filepath.Join(dir, ".debug"), 0o755); err != nil {
				return err
			}
			stuckfs.Mount(t, filepath.Join(dir, ".debug"), true)
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			debug, bare := filepath.Join(dir, "p.debug"), filepath.Join(dir, "p")
			full := testbin.Build(t, "timed.c", testbin.Options{Flags: []string{"-O2", "-g"}})
			for _, args := range [][]string{{"--only-keep-debug", full, debug}, {"--strip-all", "--remove-section=.note.gnu.build-id", "--add-gnu-debuglink=" + debug, full, bare}} {
				if out, err := exec.Command("objcopy", args...).CombinedOutput(); err != nil {
					t.Fatalf("%v\n%s", err, out)
				}
			}
			if err := errors.Join(os.Remove(debug), put(t, dir)); err != nil {
				t.Fatal(err)
			}
			s := clean(t, options{}, bare, "imbalance", "2", "5")
			if len(s.main.Regions) < 1 {
				t.Errorf("%d regions", len(s.main.Regions))
			}
			told := strings.Contains(strings.Join(s.main.Warnings, " "), "does not answer")
			if want := name == "server that is gone"; told != want {
				t.Errorf("the report tells of it: %t, want %t: %q", told, want, s.main.Warnings)
			}
		})
	}
}

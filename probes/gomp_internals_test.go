package probes

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ompp-attach/probes/insn"
	"ompp-attach/probes/insn/insntest"
)

// openLibrary opens the first of the paths that exists, and skips the test if
// none does.
func openLibrary(t *testing.T, paths ...string) *insntest.File {
	t.Helper()
	for _, p := range paths {
		f, err := insntest.Open(p)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	t.Skipf("library not installed: %s", paths[0])
	return nil
}

func TestLocateGompTemp(t *testing.T) {
	matches, _ := filepath.Glob(os.Getenv("GLOB"))
	for _, m := range matches {
		f := openLibrary(t, m)
		g, err := locateGomp(f)
		t.Logf("%s\n%#x\n%+v %v", m, g, g, err)
	}
}
var _ = cmp.Diff
var _ = exec.Command
var _ insn.Code

package node

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"ompp-attach/clock"
	"ompp-attach/files"
)

// TestTidy: tidy removes sockets and logs of dead collectors of this node, and those of earlier
// boots. Files of other nodes stay, also if nodes share the directory's file system.
func TestTidy(t *testing.T) {
	m := &Meeting{dir: t.TempDir(), name: thisNode() + "0123456789abcdef"}
	if clock.BootID() == "" {
		t.Skip("this kernel has no boot id")
	}
	dead, other := m.name, "job-00000000-0123456789abcdef"
	for _, name := range []string{dead, other} {
		l, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(m.dir, name+socketSuffix), Net: "unix"})
		if err != nil {
			t.Fatal(err)
		}
		l.SetUnlinkOnClose(false)
		l.Close()
		if err := os.WriteFile(filepath.Join(m.dir, name+logSuffix), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	boot := filepath.Join(m.dir, "job-11111111-0123456789abcdef"+socketSuffix)
	before := clock.Booted().Add(-time.Hour)
	if err := errors.Join(os.WriteFile(boot, nil, 0o600), os.Chtimes(boot, before, before)); err != nil {
		t.Fatal(err)
	}
	m.tidy()
	if _, err := os.Lstat(boot); (err == nil) == files.Local(m.dir) {
		t.Errorf("a collector's socket of an earlier boot: %v", err)
	}
	for _, suffix := range []string{socketSuffix, logSuffix} {
		if _, err := os.Lstat(filepath.Join(m.dir, dead+suffix)); !os.IsNotExist(err) {
			t.Errorf("%s of a dead collector is there: %v", suffix, err)
		}
		if _, err := os.Lstat(filepath.Join(m.dir, other+suffix)); err != nil {
			t.Errorf("%s of another node: %v", suffix, err)
		}
	}
}

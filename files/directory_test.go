package files

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

func TestWay(t *testing.T) {
	dir := t.TempDir()
	if err := errors.Join(os.MkdirAll(filepath.Join(dir, "a/b"), 0o755), os.Symlink("a", filepath.Join(dir, "relative")),
		os.Symlink(filepath.Join(dir, "a"), filepath.Join(dir, "absolute")), os.Symlink("loop", filepath.Join(dir, "loop")),
		os.WriteFile(filepath.Join(dir, "file"), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	for _, tc := range []struct {
		path string
		way  Way
		made bool
		want error
	}{
		{path: "a/b"}, {path: dir + "/a//./b/"}, {path: "relative/b"}, {path: "absolute/b"}, {path: "absolute/../relative/b"}, {path: "."},
		{path: "a/b/c", want: fs.ErrNotExist},
		{path: "file", want: unix.ENOTDIR}, {path: "file/below", way: Way{Make: 0o755}, want: unix.ENOTDIR},
		{path: "loop", want: unix.ELOOP},
		{path: "relative/b", way: Way{Own: true}},
		{path: "relative", way: Way{Own: true}, want: ErrUnsafe},
		{path: "relative/.", way: Way{Own: true}, want: ErrUnsafe},
		{path: "relative/new/below", way: Way{Own: true, Make: 0o700}, made: true},
		{path: "relative/new/below", way: Way{Own: true, Make: 0o700}},
	} {
		root, made, err := tc.way.Open(tc.path)
		if made != tc.made || !errors.Is(err, tc.want) {
			t.Errorf("%s %+v: made %t, %v", tc.path, tc.way, made, err)
		}
		if err == nil {
			if err := Save(root, "x", []byte("text"), nil); err != nil {
				t.Error(err)
			}
			if b, err := os.ReadFile(filepath.Join(tc.path, "x")); string(b) != "text" {
				t.Errorf("%s: the file holds %q, %v", tc.path, b, err)
			}
			root.Remove("x")
			root.Close()
		}
	}
}

// What a directory is replaced by, once it is open, gets nothing.
func TestReplaced(t *testing.T) {
	dir := t.TempDir()
	name, moved := filepath.Join(dir, "name"), filepath.Join(dir, "moved")
	root, made, err := (&Way{Make: 0o700}).Open(name)
	if err != nil || !made {
		t.Fatal(made, err)
	}
	defer root.Close()
	if err := errors.Join(os.Rename(name, moved), os.Mkdir(name, 0o700), Save(root, "x", nil, nil)); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(moved, "x")); err != nil {
		t.Error(err)
	}
	broken := errors.New("broken")
	if err := Save(root, "y", nil, func(*os.File) error { return broken }); !errors.Is(err, broken) {
		t.Error(err)
	}
	if left, _ := os.ReadDir(moved); len(left) != 1 {
		t.Errorf("%q are left", left)
	}
}

// Directories belong to whom the way says.
func TestOwner(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give files to others")
	}
	dir := t.TempDir()
	home, planted := filepath.Join(dir, "home"), filepath.Join(dir, "home", "planted")
	if err := errors.Join(os.Mkdir(home, 0o755), os.Symlink(dir, planted), os.Chown(home, 1234, 1235), os.Lchown(planted, 1234, 1235)); err != nil {
		t.Fatal(err)
	}
	way := Way{Make: 0o700, Owner: func(above *unix.Stat_t) (int, int, bool) { return int(above.Uid), int(above.Gid), true }}
	root, _, err := way.Open(filepath.Join(home, ".cache", "tool"))
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	for _, name := range []string{".cache", ".cache/tool"} {
		var st unix.Stat_t
		if err := unix.Stat(filepath.Join(home, name), &st); err != nil || st.Uid != 1234 || st.Gid != 1235 {
			t.Errorf("%s belongs to %d:%d, %v", name, st.Uid, st.Gid, err)
		}
	}
	for _, path := range []string{planted, planted + "/x"} {
		if _, _, err := way.Open(path); !errors.Is(err, ErrUnsafe) {
			t.Errorf("%s: %v", path, err)
		}
	}
	way.Trusted = []int{1234}
	if root, _, err = way.Open(planted); err != nil {
		t.Error(err)
	} else {
		root.Close()
	}
}

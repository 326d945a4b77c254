package cache

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func opened(t *testing.T) (c *Cache, dir string) {
	t.Helper()
	home := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", home)
	c, err := Open("tests")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c, filepath.Join(home, "ompp-attach", "tests")
}

// What was written is read again. A file that was changed, cut or lengthened is not.
func TestDamaged(t *testing.T) {
	c, dir := opened(t)
	name, err := Key("a result", 7)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Read(name, 1<<10); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("what was never written: %v", err)
	}
	want := "what was found out"
	if err := c.Write(name, []byte(want)); err != nil {
		t.Fatal(err)
	}
	if got, err := c.Read(name, 1<<10); err != nil || string(got) != want {
		t.Fatalf("read %q, %v", got, err)
	}
	if _, err := c.Read(name, 10); err == nil {
		t.Error("a file beyond the limit is read")
	}
	path := filepath.Join(dir, name)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for n := range whole {
		for what, b := range map[string][]byte{"cut": whole[:n], "changed": append(append([]byte{}, whole[:n]...), append([]byte{whole[n] ^ 1}, whole[n+1:]...)...)} {
			if err := os.WriteFile(path, b, 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := c.Read(name, 1<<10); !errors.Is(err, ErrDamaged) {
				t.Errorf("%s at %d: %v", what, n, err)
			}
		}
	}
}

// Keys differ where any part does, also where parts look alike side by side.
func TestKeys(t *testing.T) {
	seen := map[string][]any{}
	for _, parts := range [][]any{{}, {"a"}, {"a", "b"}, {"ab"}, {"a", "b", true}, {"a", "b", false}, {1, 2}, {12}} {
		k, err := Key(parts...)
		if err != nil {
			t.Fatal(err)
		}
		if seen[k] != nil {
			t.Errorf("%v and %v have one key", parts, seen[k])
		}
		seen[k] = parts
	}
}

// The cache has at most mostFiles files, and the oldest go first.
// What another run is writing stays.
func TestBounded(t *testing.T) {
	c, dir := opened(t)
	if err := os.WriteFile(filepath.Join(dir, ".ompp-attach-other"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	name := func(i int) string { return fmt.Sprintf("%04d.json", i) }
	const more = 5
	for i := range mostFiles + more {
		if err := c.Write(name(i), []byte("x")); err != nil {
			t.Fatal(err)
		}
		at := time.Now().Add(time.Duration(i-10_000) * time.Second)
		if err := os.Chtimes(filepath.Join(dir, name(i)), at, at); err != nil {
			t.Fatal(err)
		}
	}
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	// The newest file stands there before the oldest goes, and so does the other run's.
	if len(list) > mostFiles+2 {
		t.Errorf("%d files", len(list))
	}
	for i, want := range map[int]bool{0: false, more - 2: false, more + 1: true, mostFiles + more - 1: true} {
		if _, err := c.Read(name(i), 10); (err == nil) != want {
			t.Errorf("file %d of %d: %v", i, mostFiles+more, err)
		}
	}
}

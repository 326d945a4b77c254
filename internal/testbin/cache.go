package testbin

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

var builds sync.Map // key -> *sync.Mutex

// building lets one test at a time build what has a key. It returns the function that lets the
// next one.
func building(key [sha256.Size]byte) (built func()) {
	m, _ := builds.LoadOrStore(key, new(sync.Mutex))
	m.(*sync.Mutex).Lock()
	return m.(*sync.Mutex).Unlock
}

// Program returns the path that the debug information of Build's programs names for src, a path
// under testdata/programs.
func Program(t testing.TB, src string) string {
	t.Helper()
	return shared(t, filepath.Join(Repo(t), "testdata", "programs", src))
}

// shared copies a source of the checkout and the headers beside it into the cache. The folder is
// named for their contents. So one program serves all checkouts: it names no other source. A source
// elsewhere stays there.
func shared(t testing.TB, src string) string {
	t.Helper()
	src, err := filepath.Abs(src)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(src, Repo(t)+"/") {
		return src
	}
	hash, err := sourceHash(src, nil)
	if err != nil {
		t.Fatal(err)
	}
	cache, err := cacheDir()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(cache, "source-"+hash[:24])
	copied := filepath.Join(dir, filepath.Base(src))
	if _, err := os.Stat(copied); err == nil {
		return copied
	}
	tmp, err := os.MkdirTemp(cache, ".source-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(tmp)
	files, err := withHeaders(src, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err == nil {
			err = os.WriteFile(filepath.Join(tmp, filepath.Base(file)), b, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(tmp, 0o755); err != nil {
		t.Fatal(err)
	}
	// Another test process may have been faster.
	if err := os.Rename(tmp, dir); err != nil && !errors.Is(err, fs.ErrExist) {
		t.Fatal(err)
	}
	return copied
}

// Made returns a folder of the cache that holds what make has put there. It calls make once for a
// key and what the sources hold; the compilers' versions belong into the key. Where make ends its
// test, the next one begins anew.
func Made(t testing.TB, key, sources []string, make func(dir string)) string {
	t.Helper()
	cache, err := cacheDir()
	if err != nil {
		t.Fatal(err)
	}
	h := sha256.New()
	fmt.Fprintf(h, "%q\n", key)
	for _, src := range sources {
		hash, err := sourceHash(src, nil)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintln(h, hash)
	}
	sum := [sha256.Size]byte(h.Sum(nil))
	defer building(sum)()
	dir := filepath.Join(cache, "made-"+hex.EncodeToString(sum[:12]))
	lock, err := os.OpenFile(dir+".lock", os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close() // and unlock
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX); err != nil {
		t.Fatalf("%s: %v", lock.Name(), err)
	}
	made := filepath.Join(dir, ".made")
	if _, err := os.Stat(made); err == nil {
		return dir
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	make(dir)
	if err := os.WriteFile(made, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

// Source keeps the text of a program in the cache, as a file of that name, and returns its path. So
// what BuildFile makes of it is kept between runs, too. A file in a test's own folder would be
// compiled in each run, because that folder has another name each time.
func Source(t testing.TB, name, text string) string {
	t.Helper()
	dir := Made(t, []string{"source", name, text}, nil, func(dir string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	})
	return filepath.Join(dir, name)
}

// Version is what a compiler says of itself, for the key of Made. It skips the test if the compiler
// is not installed.
func Version(t testing.TB, compiler string) string {
	t.Helper()
	version, err := compilerVersion(compiler)
	if err != nil {
		t.Skipf("compiler %s: %v", compiler, err)
	}
	return version
}

// withHeaders lists the file, the headers beside it and those in directories
// that the compiler is told of.
func withHeaders(src string, args []string) ([]string, error) {
	dirs := []string{filepath.Dir(src)}
	for _, a := range args {
		if dir, ok := strings.CutPrefix(a, "-I"); ok {
			dirs = append(dirs, dir)
		}
	}
	files := []string{src}
	for _, dir := range dirs {
		in, err := filepath.Glob(filepath.Join(dir, "*.h"))
		if err != nil {
			return nil, fmt.Errorf("headers of %s: %w", src, err)
		}
		files = append(files, in...)
	}
	return files, nil
}

// sourceHash covers what withHeaders lists.
func sourceHash(src string, args []string) (string, error) {
	files, err := withHeaders(src, args)
	if err != nil {
		return "", err
	}
	h := sha256.New()
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			return "", fmt.Errorf("source: %w", err)
		}
		fmt.Fprintf(h, "%s %d\n%s", filepath.Base(f), len(b), b)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// userCache is the user's cache when the process begins: tests may name another one.
var userCache, noUserCache = os.UserCacheDir()

// cacheDir is the user's cache, or without one (no HOME) a temporary folder
// for this process.
var cacheDir = sync.OnceValues(func() (string, error) {
	if noUserCache == nil {
		dir := filepath.Join(userCache, "ompp-attach-test")
		if err := os.MkdirAll(dir, 0o755); err == nil {
			return dir, nil
		}
	}
	dir, err := os.MkdirTemp("", "ompp-attach-test-")
	if err != nil {
		return "", fmt.Errorf("cache for test programs: %w", err)
	}
	return dir, nil
})

package testbin

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// Options says how Build compiles.
type Options struct {
	// Compiler is gcc, g++, gfortran, clang-14, clang++-19 and so on; empty
	// means the GNU compiler for the source's language.
	Compiler string
	// Flags replace the default "-O2 -g". -fopenmp and the libraries that
	// OpenMP programs need are added.
	Flags []string
	// NoOpenMP leaves out -fopenmp.
	NoOpenMP bool
}

// buildTimeout bounds one run of a compiler.
const buildTimeout = 2 * time.Minute

// Repo returns the root of the checkout: the nearest parent of the working
// directory that holds go.mod.
func Repo(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			t.Fatal("no go.mod above the working directory")
		}
		dir = parent
	}
}

// Build compiles src, a path under testdata/programs, and returns the path of
// the binary, which is kept between runs. Its debug information names the copy
// of the source that Program returns. It skips the test if a compiler other
// than gcc, or the libomp that it needs, is not installed.
func Build(t testing.TB, src string, opt Options) string {
	t.Helper()
	return BuildFile(t, filepath.Join(Repo(t), "testdata", "programs", src), opt)
}

// BuildFile is Build for a source anywhere.
func BuildFile(t testing.TB, src string, opt Options) string {
	t.Helper()
	if opt.Compiler == "" {
		opt.Compiler = gnuCompiler(src)
	}
	if opt.Flags == nil {
		opt.Flags = []string{"-O2", "-g"}
	}
	args := append([]string(nil), opt.Flags...)
	var libs []string
	if !opt.NoOpenMP {
		args = append(args, "-fopenmp")
		if isClang(opt.Compiler) {
			omp := findLibomp(t, opt.Compiler)
			args = append(args, omp.includeFlags...)
			libs = append(libs, omp.linkFlags...)
			// Clang leaves atomics on long double to libatomic.
			libs = append(libs, "-Wl,--push-state,--as-needed", "-latomic", "-Wl,--pop-state")
		}
	}
	libs = append(libs, "-lm", "-pthread")
	return compile(t, opt.Compiler, src, args, libs)
}

// Flags adds to flags what a compiler needs for OpenMP, for tests that build
// by themselves. It skips the test like Build.
func Flags(t testing.TB, compiler string, flags []string) []string {
	t.Helper()
	flags = append(append([]string(nil), flags...), "-fopenmp")
	if isClang(compiler) {
		omp := findLibomp(t, compiler)
		flags = append(append(flags, omp.includeFlags...), omp.linkFlags...)
	}
	return flags
}

func gnuCompiler(src string) string {
	switch filepath.Ext(src) {
	case ".cpp":
		return "g++"
	case ".f90":
		return "gfortran"
	}
	return "gcc"
}

func isClang(compiler string) bool { return strings.HasPrefix(filepath.Base(compiler), "clang") }

// compile runs the compiler unless the cache already holds its output.
func compile(t testing.TB, compiler, src string, args, libs []string) string {
	t.Helper()
	version, err := compilerVersion(compiler)
	if errors.Is(err, exec.ErrNotFound) && compiler != "gcc" {
		t.Skipf("compiler %s is not installed", compiler)
	}
	if err != nil {
		t.Fatalf("compiler %s: %v", compiler, err)
	}
	hash, err := sourceHash(src, args)
	if err != nil {
		t.Fatal(err)
	}
	src = shared(t, src)
	dir, err := cacheDir()
	if err != nil {
		t.Fatal(err)
	}
	// The source's path is part of the key because it goes into the debug
	// information.
	key := sha256.Sum256([]byte(strings.Join([]string{compiler, version, src, hash,
		strings.Join(args, "\x00"), strings.Join(libs, "\x00")}, "\x01")))
	defer building(key)()
	dir = filepath.Join(dir, hex.EncodeToString(key[:12]))
	out := filepath.Join(dir, strings.TrimSuffix(filepath.Base(src), filepath.Ext(src)))
	if built, err := os.Stat(out); err == nil {
		// Its source is the same, but may have been written anew: sources that are newer than
		// the program are not believed. A program that is up to date is not touched, as another
		// test may just measure it.
		if source, err := os.Stat(src); err != nil || source.ModTime().After(built.ModTime()) {
			now := time.Now()
			if err := os.Chtimes(out, now, now); err != nil {
				t.Fatal(err)
			}
		}
		return out
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	// Several test processes may build the same program. The first one's stays: its tests may
	// just measure it.
	tmp, err := os.CreateTemp(dir, ".build-")
	if err != nil {
		t.Fatal(err)
	}
	tmp.Close()
	defer os.Remove(tmp.Name())

	ctx, cancel := context.WithTimeout(context.Background(), buildTimeout)
	defer cancel()
	line := append(append(append([]string{}, args...), "-o", tmp.Name(), src), libs...)
	if filepath.Ext(src) == ".f90" {
		line = append(line, "-J", dir) // its modules' files, else left where the test runs
	}
	if msg, err := exec.CommandContext(ctx, compiler, line...).CombinedOutput(); err != nil {
		t.Fatalf("%s %s: %v\n%s", compiler, strings.Join(line, " "), err, msg)
	}
	if err := os.Chmod(tmp.Name(), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(tmp.Name(), out); err != nil && !errors.Is(err, fs.ErrExist) {
		t.Fatal(err)
	}
	return out
}

var versions sync.Map // compiler -> string

func compilerVersion(compiler string) (string, error) {
	if v, ok := versions.Load(compiler); ok {
		return v.(string), nil
	}
	out, err := exec.Command(compiler, "--version").Output()
	if err != nil {
		return "", fmt.Errorf("asking for its version: %w", err)
	}
	versions.Store(compiler, string(out))
	return string(out), nil
}

// MajorVersion is a GNU compiler's, "" if it cannot be asked.
func MajorVersion(compiler string) string {
	major, _, _ := strings.Cut(ask(compiler, "-dumpversion"), ".")
	return major
}

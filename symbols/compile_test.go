package symbols

import (
	"ompp-attach/internal/testbin"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// run executes a tool. The test fails if the tool fails.
func run(t testing.TB, name string, args ...string) string {
	t.Helper()
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}

// need skips the test where an optional compiler is missing.
func need(t testing.TB, tool, feature string) {
	t.Helper()
	if _, err := exec.LookPath(tool); err != nil {
		t.Skipf("%s is not installed: %s is not tested", tool, feature)
	}
}

// compile builds a program of testdata with a compiler driver, and returns the program's path.
func compile(t testing.TB, compiler string, args ...string) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), "prog")
	run(t, compiler, append([]string{"-o", out}, args...)...)
	return out
}

func open(t testing.TB, path string) *Object {
	t.Helper()
	o, err := OpenObject(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { o.Close() })
	return o
}

func marksOf(t testing.TB, file string) testbin.Marks {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return testbin.MarksIn(string(b))
}

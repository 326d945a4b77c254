package symbols

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// run executes a tool and fails the test if the tool does.
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

// compile builds testdata with a compiler driver; returned is the output path.
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

// marked are the line numbers of "begin X" and "end X" comments in a file; a
// number after the name is added to the line.
type marked struct{ begin, end map[string]int }

var mark = regexp.MustCompile(`(begin|end|call) ([a-z]\w*)( -?\d+)?`)

func marks(t testing.TB, text string) marked {
	m := marked{map[string]int{}, map[string]int{}}
	s := bufio.NewScanner(strings.NewReader(text))
	for n := 1; s.Scan(); n++ {
		at := strings.LastIndex(s.Text(), "// ")
		if b := strings.LastIndex(s.Text(), "! "); at < 0 {
			at = b
		}
		if at < 0 {
			continue
		}
		for _, f := range mark.FindAllStringSubmatch(s.Text()[at:], -1) {
			add, _ := strconv.Atoi(strings.TrimSpace(f[3]))
			to := m.begin
			if f[1] == "end" {
				to = m.end
			}
			to[f[2]] = n + add
		}
	}
	return m
}

func marksOf(t testing.TB, file string) marked {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return marks(t, string(b))
}

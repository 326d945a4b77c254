package reading

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ompp-attach/cmd/ompp-attach/cli"
	"ompp-attach/compare/comparetest"
	"ompp-attach/profile"
	"ompp-attach/results"
)

// runDirectory writes the record of a made-up program to a directory.
func runDirectory(t *testing.T, dir string, p comparetest.Program) string {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, results.RecordName), record(t, p))
	return dir
}

func record(t *testing.T, p comparetest.Program) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := profile.Encode(&b, p.Profile(comparetest.Exactly)); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// compared runs the subcommand and returns its output and its error.
func compared(t *testing.T, args ...string) (string, error) {
	t.Helper()
	return printed(t, func() error {
		c := diffCommand()
		c.SetArgs(args)
		c.SilenceErrors, c.SilenceUsage = true, true
		return c.Execute()
	})
}

// printed calls a function, and returns its output on standard output, and its error.
func printed(t *testing.T, f func() error) (string, error) {
	t.Helper()
	out, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	stdout := os.Stdout
	os.Stdout = out
	err = f()
	os.Stdout = stdout
	text, readErr := os.ReadFile(out.Name())
	if readErr != nil {
		t.Fatal(readErr)
	}
	return string(text), err
}

func TestDiffOfDirectories(t *testing.T) {
	dir := t.TempDir()
	heat, slow := comparetest.Heat(), comparetest.Heat().Slow(2, 1.25)
	base := runDirectory(t, filepath.Join(dir, "base"), heat)
	for _, n := range []string{"1", "2", "3"} {
		runDirectory(t, filepath.Join(dir, "new", n), slow)
	}
	var status *cli.Exit
	for _, c := range []struct {
		args   []string
		want   string
		status int // of a cli.Exit; 0: no error
	}{
		{[]string{base, filepath.Join(dir, "new")}, "(3 runs of heat, 4 threads)", 0},
		{[]string{filepath.Join(base, results.RecordName), filepath.Join(dir, "new", "1") + "," + filepath.Join(dir, "new", "2")}, "1 and 2 runs are too few", 0},
		{[]string{base, filepath.Join(dir, "new", "1")}, "no substitute", 0},
		{[]string{base, filepath.Join(dir, "new", "1"), "--fail-if", "time > 5%"}, "heat.c (40-48) in solve", exitHurt},
		{[]string{base, base, "--fail-if", "time > 5%", "--fail-if", "R:* own > 0s"}, "executions", 0},
		{[]string{base, base, "--format", "json"}, `"version": 1`, 0},
		{[]string{base, base, "--format", "yaml"}, "", cli.BadUsage},
		{[]string{base, base, "--alpha", "2"}, "", cli.BadUsage},
		{[]string{base, base, "--fail-if", "tme > 5%"}, "", cli.BadUsage},
		{[]string{base, base + ","}, "", cli.BadUsage},
	} {
		text, err := compared(t, c.args...)
		if errors.As(err, &status); (err != nil) != (c.status != 0) || err != nil && (status == nil || status.Status != c.status) || !strings.Contains(text, c.want) {
			t.Errorf("%q: %v, want status %d and %q in\n%s", c.args, err, c.status, c.want, text)
		}
	}
}

// A gate does not pass if times cannot be told. The comparison is written all the same.
func TestDiffOfHiddenTimes(t *testing.T) {
	dir := t.TempDir()
	base := runDirectory(t, filepath.Join(dir, "base"), comparetest.Heat())
	p := comparetest.Heat().Profile(comparetest.Exactly)
	comparetest.Hidden(p)
	var b bytes.Buffer
	if err := profile.Encode(&b, p); err != nil {
		t.Fatal(err)
	}
	hidden := filepath.Join(dir, "hidden"+results.RecordSuffix)
	write(t, hidden, b.Bytes())
	text, err := compared(t, base, hidden, "--fail-if", "time > 50%", "--fail-if", "R:solve count > 50%")
	wantError(t, err, cli.Failure, `--fail-if "time > 50%" was not checked: the times of `)
	_, err = compared(t, base, hidden, "--fail-if", "time > 50%", "--fail-if", "R:solve own > 1s")
	wantError(t, err, cli.Failure, `--fail-if "time > 50%" was not checked: the times of `)
	wantError(t, err, cli.Failure, `--fail-if "R:solve own > 1s" was not checked: the times of `)
	if !strings.Contains(text, "in solve") {
		t.Errorf("no comparison:\n%s", text)
	}
	var status *cli.Exit
	if _, err := compared(t, base, hidden, "--fail-if", "time > 50%", "--fail-if", "R:solve count < 1"); !errors.As(err, &status) || status.Status != exitHurt {
		t.Errorf("a count that did not rise: %v, want status %d", err, exitHurt)
	}
	if _, err := compared(t, base, hidden, "--fail-if", "R:solve count > 50%"); err != nil {
		t.Errorf("of counts only: %v", err)
	}
}

// A file that cannot be read gives an error of one sentence. Ranks that can be read are compared.
func TestDiffOfBadInput(t *testing.T) {
	dir := t.TempDir()
	base := runDirectory(t, filepath.Join(dir, "base"), comparetest.Heat())
	whole := record(t, comparetest.Heat())
	for name, data := range map[string][]byte{"torn": whole[:len(whole)/2], "text": []byte("no profile"), "empty": nil} {
		write(t, filepath.Join(dir, name), data)
		if _, err := compared(t, base, filepath.Join(dir, name)); err == nil || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, name := range []string{filepath.Join(dir, "nothing"), t.TempDir()} {
		if _, err := compared(t, name, base); err == nil || !strings.Contains(err.Error(), "give a directory that run or attach has written") {
			t.Errorf("%s: %v", name, err)
		}
	}
	ranks := rankDirectory(t, 0, 1, 2, 3)
	torn := rankDirectory(t, 0, 1, 2)
	write(t, filepath.Join(torn, "profile.rank3.json.gz"), whole[:len(whole)/2])
	text, err := compared(t, ranks, torn)
	if err != nil || !strings.Contains(text, "truncated") || !strings.Contains(text, "with 4 processes of") {
		t.Errorf("%v\n%s", err, text)
	}
}

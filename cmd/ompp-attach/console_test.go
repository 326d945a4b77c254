package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"ompp-attach/cmd/ompp-attach/cli"
	"ompp-attach/internal/testbin"
	"ompp-attach/results"
)

// The error for a wrong value of a flag has none of Go's words.
func TestFlagsInPlainWords(t *testing.T) {
	const pid = "give the number of a process"
	for _, c := range []struct{ args, want string }{
		{"attach --pid abc", "--pid abc: " + pid},
		{"attach --pid 4711,abc", "--pid 4711,abc: " + pid},
		{"attach --pid 99999999999999999999", pid},
		{"attach -p abc", "--pid abc: " + pid},
		{"attach --job abc", "--job abc: " + pid},
		{"check --pid abc", pid},
		{"pause --pid abc", pid},
		{"resume --pid abc", pid},
		{"attach --pid 1 --duration 30", "--duration 30: give a time with its unit"},
		{"attach --pid 1 --duration x", "--duration x: give a time with its unit"},
		{"attach --pid 1 --duration 0s", "--duration 0s: give a time above 0"},
		{"attach --pid 1 --duration 0", "--duration 0s: give a time above 0"},
		{"attach --pid 1 --duration -3s", "--duration -3s: give a time above 0"},
		{"report --rank x .", "--rank x: give a whole number"},
		{"report --rank -1 .", "--rank -1: ranks are numbered from 0"},
		{"run --sample-period -3 -- true", "--sample-period -3: give a whole number, not below 0"},
		{"run --quiet=maybe -- true", "--quiet maybe: give true or false"},
		{"run --volumes x -- true", "--volumes x: there are minimal, naive"},
		{"run --decimals 0 -- true", "--decimals 0: give a number from 1 to 9"},
		{"report --sort size .", "--sort size: there are time, source"},
		{"run --eval =1 -- true", "has no name"},
		{"run --eval IPC= -- true", "has nothing behind its name"},
	} {
		r := root()
		r.SetArgs(strings.Fields(c.args))
		err := r.Execute()
		if err == nil {
			t.Errorf("%s: accepted", c.args)
			continue
		}
		if !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "strconv") || strings.Contains(err.Error(), "invalid") {
			t.Errorf("%s: %q, want %q", c.args, err, c.want)
		}
	}
	r := root()
	r.SetArgs([]string{"attach", "--pid", ""}) // pgrep has found none
	if err := r.Execute(); err == nil || !strings.Contains(err.Error(), `--pid "": `+pid) {
		t.Errorf("an empty --pid: %v", err)
	}
}

// A shell reads a script without #!, as if the user had started the script from a shell.
func TestScriptWithoutInterpreter(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("measuring needs root")
	}
	tl := buildTool(t)
	program := tl.install(t, testbin.Build(t, "longrun.c", testbin.Options{}), "longrun")
	script := tl.file(t, "script", []byte("echo \"$# of $0: $1\"\n'"+program+"' 0.05\nexit 3\n"), 0o755)
	status, out, stderr := tl.run(t, asSelf, "run", "-o", filepath.Join(tl.dir, "out"), "--", script, "a b", "c")
	if status != 3 || !strings.HasPrefix(out, "2 of "+script+": a b\n") {
		t.Errorf("exit status %d, output %q\n%s", status, out, stderr)
	}
	if found, _ := filepath.Glob(filepath.Join(tl.dir, "out", results.RecordStem+"*"+results.RecordSuffix)); len(found) != 1 {
		t.Errorf("the program that the script starts has no profile:\n%s", stderr)
	}
	for name, c := range map[string]struct{ contents, want string }{
		"other":   {"\x7fELF\x02\x01\x01\x00 of no machine\n", "neither a program for this machine nor a script"},
		"missing": {"#!/no/such/interpreter\n", "the interpreter that it names"},
	} {
		status, _, stderr := tl.run(t, asSelf, "run", "--counters", "none", "--", tl.file(t, name, []byte(c.contents), 0o755))
		wantRefusal(t, status, stderr, filepath.Join(tl.dir, name), c.want)
		if status != cli.CannotRun {
			t.Errorf("%s: exit status %d, want %d", name, status, cli.CannotRun)
		}
	}
}

// A user can paste the names that the tool prints into a shell, whatever characters they have.
func TestNamesCanBePasted(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("measuring needs root")
	}
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("there is no bash to paste into")
	}
	tl := buildTool(t)
	built := testbin.Build(t, "longrun.c", testbin.Options{})
	names := []string{"l\xf6ser", "my solver", "\x1b[31mred", "it's"}
	if testing.Short() {
		names = names[:2] // these two need the two ways of quoting
	}
	for _, name := range names {
		program := tl.install(t, built, name)
		status, _, stderr := tl.run(t, asSelf, "run", "--timeline", "all", "-o", filepath.Join(tl.dir, "of "+name), "--", program, "0.05")
		_, files, ok := strings.Cut(stderr, "\nwritten ")
		if status != 0 || !ok {
			t.Fatalf("%q: exit status %d\n%s", name, status, stderr)
		}
		if unprintable(stderr) {
			t.Errorf("%q: the summary is %q", name, stderr)
		}
		out, err := exec.Command(bash, "-c", "ls -d "+strings.Join(strings.Fields(files), " ")).CombinedOutput()
		if n := strings.Count(string(out), "\n"); err != nil || n != 2+len(results.DefaultFormats) || !strings.Contains(files, results.TimelineSuffix) {
			t.Errorf("%q: %d files (%v) are where the summary says:\n%s\n%s", name, n, err, stderr, out)
		}
		_, _, stderr = tl.run(t, asSelf, "run", "--", program+"x")
		missing, _, _ := strings.Cut(strings.TrimPrefix(stderr, "ompp-attach: "), ": no such program")
		if unprintable(missing) {
			t.Errorf("told is %q", stderr)
		}
	}
}

// unprintable tells whether a text has an escape character, a byte that is not UTF-8, or the
// replacement of one.
func unprintable(s string) bool {
	return !utf8.ValidString(s) || strings.ContainsAny(s, "\x1b\ufffd")
}

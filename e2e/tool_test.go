// Package e2e tests the built tool as a user runs it: on real programs, with
// real probes, against independent counts and times known by construction.
//
// Tests that only count, or wait for events, call atOnce: they run at once, after all others. Not
// so tests that compare times. The code of a runtime that several targets load shows the probes of
// all tools. So a test that reads code has a copy of the runtime (ownRuntimes).
package e2e

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"ompp-attach/bpf"
	"ompp-attach/internal/testbin"
	"ompp-attach/profile"
)

// tool is the built binary, runtimes the folder of the OpenMP runtimes that the
// tests' programs load; noTool says why nothing can be tested.
var tool, runtimes, noTool string

// runLimit bounds one run of the tool: a hang fails the test, and does not
// hold up the others. Programs that meet in 100,000 barriers need minutes on a crowded machine.
const runLimit = 5 * time.Minute

// patience bounds the wait for an event that a machine at rest sees at once. Only a hang takes as
// long, on a crowded machine, too.
const patience = 2 * time.Minute

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(withTool(m.Run))
}

func withTool(run func() int) int {
	dir, err := os.MkdirTemp("", "ompp-e2e-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	tool = filepath.Join(dir, "ompp-attach")
	if err := testbin.Tool(tool); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	runtimes = filepath.Join(dir, "lib")
	if err := copyRuntimes(runtimes); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	// Only a lack of permission is a reason not to test. A kernel side that does not load for any
	// other reason is what these tests are for.
	p, err := bpf.LoadProbes(bpf.Session)
	switch {
	case err == nil:
		p.Close()
	case errors.Is(err, unix.EPERM):
		noTool = "loading BPF programs is not permitted here: " + err.Error()
	default:
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return run()
}

// copyRuntimes lets the tests' programs load copies of the OpenMP runtimes. Probes belong to files,
// and the kernel shows everybody's probes of a file to every process that maps it. Other tools must
// not disturb what is tested.
func copyRuntimes(dir string) error {
	if err := os.Mkdir(dir, 0o755); err != nil {
		return fmt.Errorf("copying the runtimes: %w", err)
	}
	out, err := exec.Command("gcc", "-print-file-name=libgomp.so").Output()
	if err != nil {
		return fmt.Errorf("looking for libgomp: %w", err)
	}
	libs := []string{filepath.Join(filepath.Dir(strings.TrimSpace(string(out))), "libgomp.so.1")}
	if out, err := exec.Command("ldconfig", "-p").Output(); err == nil {
		for _, line := range strings.Split(string(out), "\n") {
			f := strings.Fields(line) // name (kind) => path
			if len(f) == 4 && strings.Contains(line, "x86-64") == (runtime.GOARCH == "amd64") &&
				(strings.HasPrefix(f[0], "libgomp.so.") || strings.HasPrefix(f[0], "libomp.so.")) {
				libs = append(libs, f[3])
			}
		}
	}
	for _, lib := range libs {
		b, err := os.ReadFile(lib)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return fmt.Errorf("copying the runtimes: %w", err)
		}
		if err := os.WriteFile(filepath.Join(dir, filepath.Base(lib)), b, 0o755); err != nil {
			return fmt.Errorf("copying the runtimes: %w", err)
		}
	}
	return os.Setenv("LD_LIBRARY_PATH", dir)
}

// needTool skips the test where the kernel forbids measuring.
func needTool(t testing.TB) {
	t.Helper()
	if noTool != "" {
		t.Skip(noTool)
	}
}

// session is one run of the tool.
type session struct {
	dir            string // results
	exit           int
	used           time.Duration // processor time of the tool and of what it waited for
	stdout, stderr string
	main           *profile.Profile            // profile.json.gz; nil if there is none
	others         map[string]*profile.Profile // further processes, by file name
}

// options of one run of the tool.
type options struct {
	env   []string
	flags []string // of the tool
	stdin string
	wd    string
	// pinned lists the processors for the program, so that what it may use does
	// not depend on the machine.
	pinned string
}

// run measures a program with `ompp-attach run`.
func run(t testing.TB, opt options, bin string, args ...string) *session {
	t.Helper()
	needTool(t)
	dir := filepath.Join(t.TempDir(), "out")
	argv := append([]string{"run", "-o", dir, "--quiet"}, opt.flags...)
	argv = append(argv, "--")
	if opt.pinned != "" {
		argv = append(argv, "taskset", "-c", opt.pinned)
	}
	argv = append(append(argv, bin), args...)
	ctx, cancel := context.WithTimeout(context.Background(), runLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, tool, argv...)
	cmd.Env = append(os.Environ(), opt.env...)
	cmd.Dir = opt.wd
	if opt.stdin != "" {
		cmd.Stdin = strings.NewReader(opt.stdin)
	}
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.WaitDelay = 5 * time.Second
	// The signal makes the tool say what each goroutine waits for.
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGQUIT) }
	err := cmd.Run()
	if ctx.Err() != nil {
		t.Fatalf("%s %s: not ended after %s\n%s", filepath.Base(bin), strings.Join(args, " "), runLimit, stderr.String())
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	s := &session{dir: dir, exit: cmd.ProcessState.ExitCode(), stdout: stdout.String(), stderr: stderr.String()}
	s.used = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	s.load(t)
	if s.main != nil && opt.pinned != "" {
		may, wants := map[int]bool{}, map[int]bool{}
		s.main.Meta.CPUs.AddTo(may)
		profile.CPUs(opt.pinned).AddTo(wants)
		if !maps.Equal(may, wants) {
			t.Errorf("the profile says that threads might run on processors %q, want %q", s.main.Meta.CPUs, opt.pinned)
		}
	}
	return s
}

// clean runs a program that has to succeed, be measured, and print nothing
// unusual.
func clean(t testing.TB, opt options, bin string, args ...string) *session {
	t.Helper()
	s := run(t, opt, bin, args...)
	if s.exit != 0 || s.main == nil {
		t.Fatalf("%s %s: exit status %d, profile: %t\nstdout: %s\nstderr: %s", filepath.Base(bin), strings.Join(args, " "), s.exit, s.main != nil, s.stdout, s.stderr)
	}
	return s
}

// load reads what the tool recorded.
func (s *session) load(t testing.TB) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(s.dir, "profile*.json.gz"))
	if err != nil {
		t.Fatal(err)
	}
	s.others = map[string]*profile.Profile{}
	for _, name := range names {
		p := decode(t, name)
		if filepath.Base(name) == "profile.json.gz" {
			s.main = p
		} else {
			s.others[filepath.Base(name)] = p
		}
	}
}

func decode(t testing.TB, name string) *profile.Profile {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	p, err := profile.Decode(f)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return p
}

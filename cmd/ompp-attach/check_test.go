package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"ompp-attach/collect/target"
	"ompp-attach/internal/testbin"
	"ompp-attach/preflight"
)

// nobody is a user without any rights.
const nobody = 65534

// identity is the user and the capabilities with which a command is run.
type identity struct {
	uid  int
	caps []preflight.Capability
}

var (
	asSelf   = identity{uid: -1}
	asNobody = identity{uid: nobody}
	// asMeasurer has the capabilities that check advises for measuring one's own processes.
	asMeasurer = identity{nobody, []preflight.Capability{preflight.BPF, preflight.Perfmon}}
)

func (id identity) apply(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	if id.uid < 0 {
		return
	}
	if os.Geteuid() != 0 {
		t.Skip("becoming another user needs root")
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(id.uid), Gid: uint32(id.uid)}}
	for _, c := range id.caps {
		cmd.SysProcAttr.AmbientCaps = append(cmd.SysProcAttr.AmbientCaps, uintptr(c))
	}
}

// tool is the built command, in a directory that every user may enter.
type tool struct{ bin, dir string }

// built returns the bytes of the command, which is built once for all tests.
var built = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "ompp-attach-test-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	bin := filepath.Join(dir, "ompp-attach")
	if err := testbin.Tool(bin, "-buildvcs=false"); err != nil {
		return nil, err
	}
	return os.ReadFile(bin)
})

// buildTool returns the built command, in a directory of the test's own.
func buildTool(t *testing.T) tool {
	t.Helper()
	dir := t.TempDir()
	for _, d := range []string{filepath.Dir(dir), dir} {
		if err := os.Chmod(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	b, err := built()
	if err != nil {
		t.Fatal(err)
	}
	bin := filepath.Join(dir, "ompp-attach")
	testbin.Executable(t, bin, b)
	return tool{bin, dir}
}

// run runs the command to its end, in a directory of its own.
func (tl tool) run(t *testing.T, id identity, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	return tl.wait(t, id, exec.Command(tl.bin, args...))
}

func (tl tool) wait(t *testing.T, id identity, cmd *exec.Cmd) (status int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	cmd.Dir = tl.workdir(t, id)
	id.apply(t, cmd)
	err := cmd.Run()
	var ee *exec.ExitError
	if err != nil && !errors.As(err, &ee) {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), out.String(), errs.String()
}

func (tl tool) workdir(t *testing.T, id identity) string {
	t.Helper()
	dir, err := os.MkdirTemp(tl.dir, "work")
	if err != nil {
		t.Fatal(err)
	}
	if id.uid >= 0 {
		if err := os.Chown(dir, id.uid, id.uid); err != nil {
			t.Skip("becoming another user needs root")
		}
	}
	return dir
}

// install copies a program to a place where every user may run it.
func (tl tool) install(t *testing.T, program, name string) string {
	t.Helper()
	b, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	return tl.file(t, name, b, 0o755)
}

func (tl tool) file(t *testing.T, name string, contents []byte, mode os.FileMode) string {
	t.Helper()
	path := filepath.Join(tl.dir, name)
	if err := os.WriteFile(path, contents, mode); err != nil {
		t.Fatal(err)
	}
	return path
}

// start runs a program in the background and returns its PID as an argument.
func start(t *testing.T, id identity, program string, args ...string) string {
	t.Helper()
	cmd := exec.Command(program, args...)
	// Threads that spin between regions would take the processors from what is tested.
	cmd.Env = append(os.Environ(), "OMP_NUM_THREADS=2", "OMP_WAIT_POLICY=passive")
	id.apply(t, cmd)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return strconv.Itoa(cmd.Process.Pid)
}

// ready waits until a process has threads: its runtime is mapped then.
func ready(t *testing.T, pid string, threads int) string {
	t.Helper()
	testbin.Until(t, fmt.Sprintf("process %s has %d threads", pid, threads), func() bool {
		ts, _ := os.ReadDir("/proc/" + pid + "/task")
		return len(ts) >= threads
	})
	return pid
}

// wantRefusal fails the test unless the command failed, and explained that in one line on stderr.
func wantRefusal(t *testing.T, status int, stderr string, words ...string) {
	t.Helper()
	if status == 0 {
		t.Error("exit status 0")
	}
	if strings.Count(stderr, "\n") != 1 || !strings.HasSuffix(stderr, "\n") {
		t.Errorf("stderr has not one line:\n%s", stderr)
	}
	for _, w := range append(words, "ompp-attach: ") {
		if !strings.Contains(stderr, w) {
			t.Errorf("stderr lacks %q:\n%s", w, stderr)
		}
	}
}

func TestCheckCommand(t *testing.T) {
	tl := buildTool(t)
	longrun := tl.install(t, testbin.Build(t, "longrun.c", testbin.Options{}), "longrun")
	plain := tl.install(t, testbin.Build(t, "plain.c", testbin.Options{NoOpenMP: true}), "plain")

	t.Run("as root", func(t *testing.T) {
		if os.Geteuid() != 0 {
			t.Skip("measuring needs root")
		}
		status, out, stderr := tl.run(t, asSelf, "check")
		if status != 0 || stderr != "" {
			t.Errorf("exit status %d, stderr %q\n%s", status, stderr, out)
		}
		for _, what := range []string{"kernel", "BTF", "privileges", "probes", "following"} {
			hasLine(t, out, what)
		}
		hasLine(t, out, "ompp-attach can measure programs here")
	})
	t.Run("as nobody", func(t *testing.T) {
		status, out, stderr := tl.run(t, asNobody, "check")
		if status != 1 || stderr != "" {
			t.Errorf("exit status %d, stderr %q", status, stderr)
		}
		hasLine(t, out, "privileges", "problem", "CAP_BPF and CAP_PERFMON missing")
		hasLine(t, out, "->", "run it with sudo")
		hasLine(t, out, "probes", "problem")
		hasLine(t, out, "ompp-attach cannot measure programs here")
	})
	// The capabilities that check advises must be enough, and run and attach must agree with check.
	t.Run("with the advised capabilities", func(t *testing.T) {
		status, out, _ := tl.run(t, asMeasurer, "check")
		if status != 0 {
			t.Fatalf("exit status %d\n%s", status, out)
		}
		hasLine(t, out, "other users", "note")
		pid := ready(t, start(t, asNobody, longrun, "600"), 2)
		if status, _, stderr := tl.run(t, asMeasurer, "run", "-q", "--", longrun, "0.1"); status != 0 {
			t.Errorf("run: exit status %d: %s", status, stderr)
		}
		status, out, stderr := tl.run(t, asMeasurer, "check", "--pid", pid)
		if status != 0 {
			t.Errorf("check: exit status %d: %s%s", status, out, stderr)
		}
	})
	t.Run("process", func(t *testing.T) {
		if os.Geteuid() != 0 {
			t.Skip("measuring needs root")
		}
		pid := ready(t, start(t, asSelf, longrun, "600"), 2)
		status, out, _ := tl.run(t, asSelf, "check", "-p", pid)
		if status != 0 {
			t.Errorf("exit status %d\n%s", status, out)
		}
		hasLine(t, out, "process", "ok", pid, "runs", longrun, "with 2 threads")
		hasLine(t, out, "libgomp", "ok")
		if !strings.Contains(out, "GOMP_") || !strings.Contains(out, "build-id ") {
			t.Errorf("neither version nor build-id in:\n%s", out)
		}
		hasLine(t, out, "symbols", "ok", "longrun has symbols and line information")
		hasLine(t, out, "source", "ok", testbin.Program(t, "longrun.c"))
	})
	t.Run("process without OpenMP", func(t *testing.T) {
		status, out, _ := tl.run(t, asSelf, "check", "-p", start(t, asSelf, plain, "600"))
		if status != 1 {
			t.Errorf("exit status %d\n%s", status, out)
		}
		hasLine(t, out, "runtime", "problem", "process")
	})
	t.Run("completion", func(t *testing.T) {
		for _, shell := range []string{"bash", "zsh", "fish"} {
			status, out, stderr := tl.run(t, asSelf, "completion", shell)
			if status != 0 || !strings.Contains(out, "ompp-attach") {
				t.Errorf("%s: exit status %d, %d bytes, %s", shell, status, len(out), stderr)
			}
		}
		// The requests that shells' completion scripts send.
		_, out, _ := tl.run(t, asSelf, "__complete", "")
		for _, c := range []string{"attach", "check", "man", "report", "run"} {
			hasLine(t, out, c)
		}
	})
	t.Run("manual", func(t *testing.T) {
		dir := filepath.Join(tl.dir, "man", "man1")
		if status, _, stderr := tl.run(t, asSelf, "man", dir); status != 0 {
			t.Fatalf("exit status %d: %s", status, stderr)
		}
		for _, page := range []string{"ompp-attach", "ompp-attach-attach", "ompp-attach-check", "ompp-attach-man", "ompp-attach-report", "ompp-attach-run"} {
			b, err := os.ReadFile(filepath.Join(dir, page+".1"))
			if err != nil {
				t.Fatal(err)
			}
			// Titles are in capitals; groff escapes the hyphen.
			if !strings.Contains(strings.ReplaceAll(string(b), `\-`, "-"), strings.ToUpper(page)) || !bytes.Contains(b, []byte(".SH NAME")) {
				t.Errorf("%s is no manual page:\n%.300s", page, b)
			}
		}
	})
}

func TestDiagnose(t *testing.T) {
	known := &target.AttachError{Sentence: "already explained"}
	if got := diagnose(known); got != error(known) {
		t.Errorf("%v", got)
	}
	if got := diagnose(nil); got != nil {
		t.Errorf("%v of no error", got)
	}
	cause := errors.New("one\ntwo")
	if got := diagnose(cause); !errors.Is(got, cause) || strings.Contains(got.Error(), "\n") {
		t.Errorf("%q", got)
	}
}

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
	"syscall"
	"testing"
	"time"

	"ompp-attach/attribution"
	"ompp-attach/collect"
	"ompp-attach/event"
	"ompp-attach/internal/testbin"
	"ompp-attach/preflight"
	"ompp-attach/probes/insn"
)

// nobody is a user without any rights.
const nobody = 65534

// identity is as whom a command is run.
type identity struct {
	uid  int
	caps []preflight.Capability
}

var (
	asSelf   = identity{uid: -1}
	asNobody = identity{uid: nobody}
	// asMeasurer has the capabilities that check advises for own processes.
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

func buildTool(t *testing.T) tool {
	t.Helper()
	dir := t.TempDir()
	for _, d := range []string{filepath.Dir(dir), dir} {
		if err := os.Chmod(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	bin := filepath.Join(dir, "ompp-attach")
	if out, err := exec.Command("go", "build", "-buildvcs=false", "-o", bin, ".").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
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

// install copies a program to where every user may run it.
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
	cmd.Env = append(os.Environ(), "OMP_NUM_THREADS=2")
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
	for deadline := time.Now().Add(5 * time.Second); ; time.Sleep(time.Millisecond) {
		ts, _ := os.ReadDir("/proc/" + pid + "/task")
		if len(ts) >= threads {
			return pid
		}
		if time.Now().After(deadline) {
			t.Fatalf("process %s has %d threads after 5 s, want %d", pid, len(ts), threads)
		}
	}
}

// wantRefusal wants a failure that one line on stderr explains.
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

func TestBadInput(t *testing.T) {
	tl := buildTool(t)
	longrun := tl.install(t, testbin.Build(t, "longrun.c", testbin.Options{}), "longrun")
	plain := tl.install(t, testbin.Build(t, "plain.c", testbin.Options{NoOpenMP: true}), "plain")
	static := testbin.Build(t, "longrun.c", testbin.Options{Flags: []string{"-O1", "-static", "-s"}})
	notExecutable := tl.file(t, "data", []byte("x"), 0o644)

	const seconds = "60"
	for _, tc := range []struct {
		name  string
		id    identity
		args  func(t *testing.T) []string
		words []string
	}{
		{"no such process", asSelf, func(*testing.T) []string { return []string{"--pid", "1073741824"} }, []string{"no process 1073741824"}},
		{"no process id", asSelf, func(*testing.T) []string { return []string{"--pid", "-1"} }, []string{"-1 is no process id"}},
		{"kernel thread", asSelf, func(t *testing.T) []string { return []string{"--pid", kernelThread(t)} }, []string{"process 2 (kthreadd)", "kernel"}},
		{"kernel thread, as nobody", asNobody, func(t *testing.T) []string { return []string{"--pid", kernelThread(t)} }, []string{"process 2 (kthreadd)", "kernel"}},
		{"another user's process", asNobody, func(t *testing.T) []string { return []string{"--pid", start(t, asSelf, longrun, seconds)} }, []string{"not permitted", "another user, root", "sudo", "CAP_SYS_PTRACE"}},
		{"another user's, with capabilities", asMeasurer, func(t *testing.T) []string { return []string{"--pid", start(t, asSelf, longrun, seconds)} }, []string{"not permitted", "another user, root", "CAP_SYS_PTRACE"}},
		{"no OpenMP", asSelf, func(t *testing.T) []string { return []string{"--pid", start(t, asSelf, plain, seconds)} }, []string{"plain", "no OpenMP runtime", "librar", "libgomp", "check --pid"}},
		{"static and stripped", asSelf, func(t *testing.T) []string { return []string{"--pid", ready(t, start(t, asSelf, static, seconds), 2)} }, []string{"statically linked and stripped", "OMP_NUM_THREADS", "symbols"}},
		{"zombie", asSelf, func(t *testing.T) []string { return []string{"--pid", zombie(t, plain)} }, []string{"(plain)", "zombie"}},
		{"thread", asSelf, func(t *testing.T) []string {
			return []string{"--pid", otherThread(t, ready(t, start(t, asSelf, longrun, seconds), 2))}
		}, []string{"is a thread of process", "--pid"}},
		{"32-bit program", asSelf, func(t *testing.T) []string { return []string{"--pid", start32(t, tl)} }, []string{"32-bit", "64 bits"}},
	} {
		for _, command := range []string{"attach", "check"} {
			// check says of these what it found instead of refusing.
			told := tc.name == "no OpenMP" || tc.name == "static and stripped"
			if command == "check" && told {
				continue
			}
			t.Run(command+"/"+tc.name, func(t *testing.T) {
				status, _, stderr := tl.run(t, tc.id, append([]string{command}, tc.args(t)...)...)
				wantRefusal(t, status, stderr, tc.words...)
			})
		}
	}

	own := func(t *testing.T, id identity) string { return ready(t, start(t, id, longrun, seconds), 2) }
	for _, tc := range []struct {
		name  string
		id    identity
		args  func(t *testing.T) []string
		words []string
	}{
		{"attach without capabilities", asNobody, func(t *testing.T) []string { return []string{"attach", "--pid", own(t, asNobody)} },
			[]string{"CAP_BPF and CAP_PERFMON", "sudo", "setcap"}},
		{"attach with CAP_BPF alone", identity{nobody, []preflight.Capability{preflight.BPF}}, func(t *testing.T) []string { return []string{"attach", "--pid", own(t, asNobody)} },
			[]string{"lacks CAP_PERFMON", "sudo", "setcap"}},
		{"run without capabilities", asNobody, func(*testing.T) []string { return []string{"run", "--", longrun, "0.1"} },
			[]string{"CAP_BPF and CAP_PERFMON", "sudo", "setcap"}},
		{"unwritable directory", asMeasurer, func(t *testing.T) []string {
			return []string{"attach", "-o", filepath.Join(tl.dir, "new"), "--pid", own(t, asNobody)}
		}, []string{"results directory", "permission denied"}},
		{"file in the directory's place", asSelf, func(t *testing.T) []string {
			return []string{"attach", "-o", filepath.Join(notExecutable, "new"), "--pid", own(t, asSelf)}
		}, []string{"results directory", "not a directory"}},
		{"unwritable directory, run", asMeasurer, func(*testing.T) []string { return []string{"run", "-o", tl.dir, "--", longrun, "0.1"} },
			[]string{"cannot write to " + tl.dir, "-o"}},
		{"program not found", asSelf, func(*testing.T) []string { return []string{"run", "--", "no-such-program-here"} }, []string{"no-such-program-here", "not found", "PATH"}},
		{"path not found", asSelf, func(*testing.T) []string { return []string{"run", "--", tl.dir + "/none"} }, []string{tl.dir + "/none", "no such program"}},
		{"not executable", asSelf, func(*testing.T) []string { return []string{"run", "--", notExecutable} }, []string{notExecutable, "not executable", "chmod"}},
		{"manual into a file", asSelf, func(*testing.T) []string { return []string{"man", notExecutable} }, []string{notExecutable, "not a directory"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			status, _, stderr := tl.run(t, tc.id, tc.args(t)...)
			wantRefusal(t, status, stderr, tc.words...)
		})
	}

	t.Run("library replaced since", func(t *testing.T) {
		id := identity{nobody, []preflight.Capability{preflight.BPF, preflight.Perfmon, preflight.SysPtrace}}
		lib, err := exec.Command("gcc", "-print-file-name=libgomp.so.1").Output()
		if err != nil {
			t.Fatal(err)
		}
		copied := tl.install(t, strings.TrimSpace(string(lib)), "libgomp.so.1")
		t.Setenv("LD_LIBRARY_PATH", tl.dir)
		pid := own(t, asSelf)
		if err := os.Remove(copied); err != nil {
			t.Fatal(err)
		}
		status, _, stderr := tl.run(t, id, "attach", "--pid", pid)
		wantRefusal(t, status, stderr, copied, "replaced", "CAP_CHECKPOINT_RESTORE")
	})
	t.Run("no BTF", func(t *testing.T) {
		if os.Geteuid() != 0 {
			t.Skip("hiding the kernel's BTF needs root")
		}
		pid := own(t, asSelf)
		// In a mount namespace of its own, the tool does not find the file.
		hide := exec.Command("unshare", "--mount", "sh", "-c", `mount -t tmpfs none /sys/kernel/btf || exit 77; exec "$@"`, "sh", tl.bin, "attach", "--pid", pid)
		status, _, stderr := tl.wait(t, asSelf, hide)
		if status == 77 || strings.Contains(stderr, "unshare") {
			t.Skipf("mount namespaces are not permitted here: %s", stderr)
		}
		wantRefusal(t, status, stderr, "no BTF", "CONFIG_DEBUG_INFO_BTF")
	})
	t.Run("user namespace", func(t *testing.T) {
		cmd := exec.Command("unshare", "--user", "--map-root-user", tl.bin, "run", "--", longrun, "0.1")
		status, _, stderr := tl.wait(t, asNobody, cmd)
		if strings.Contains(stderr, "unshare") {
			t.Skipf("user namespaces are not permitted here: %s", stderr)
		}
		wantRefusal(t, status, stderr, "user namespace", "host")
	})
}

// kernelThread returns a PID that only kernel threads have.
func kernelThread(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile("/proc/2/comm")
	if err != nil || strings.TrimSpace(string(b)) != "kthreadd" {
		t.Skip("kernel threads are not visible here (a container)")
	}
	return "2"
}

// zombie returns a process that has ended and is not waited for.
func zombie(t *testing.T, program string) string {
	t.Helper()
	pid := start(t, asSelf, program, "0")
	for deadline := time.Now().Add(5 * time.Second); ; time.Sleep(time.Millisecond) {
		b, err := os.ReadFile("/proc/" + pid + "/status")
		if err == nil && bytes.Contains(b, []byte("State:\tZ")) {
			return pid
		}
		if time.Now().After(deadline) {
			t.Fatalf("process %s is no zombie after 5 s: %v", pid, err)
		}
	}
}

func otherThread(t *testing.T, pid string) string {
	t.Helper()
	ts, err := os.ReadDir("/proc/" + pid + "/task")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range ts {
		if e.Name() != pid {
			return e.Name()
		}
	}
	t.Fatalf("process %s has one thread", pid)
	return ""
}

// start32 runs a 32-bit program written by hand, since compilers for 32 bits
// are seldom installed: for(;;) pause(), at the file's start.
func start32(t *testing.T, tl tool) string {
	t.Helper()
	const base = 0x8048000
	le16 := func(v uint16) []byte { return []byte{byte(v), byte(v >> 8)} }
	le32 := func(v uint32) []byte { return []byte{byte(v), byte(v >> 8), byte(v >> 16), byte(v >> 24)} }
	code := []byte{0xb8, 29, 0, 0, 0, 0xcd, 0x80, 0xeb, 0xf7} // mov eax, 29; int 0x80; jmp to the start
	size := uint32(52 + 32 + len(code))
	var b []byte
	for _, part := range [][]byte{
		[]byte("\x7fELF\x01\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00"),
		le16(2), le16(3), le32(1), le32(base + 52 + 32), le32(52), le32(0), le32(0), le16(52), le16(32), le16(1), le16(0), le16(0), le16(0),
		le32(1), le32(0), le32(base), le32(base), le32(size), le32(size), le32(5), le32(0x1000),
		code,
	} {
		b = append(b, part...)
	}
	bin := tl.file(t, "pause32", b, 0o755)
	cmd := exec.Command(bin)
	if err := cmd.Start(); err != nil {
		t.Skipf("this kernel runs no 32-bit x86 programs: %v", err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return strconv.Itoa(cmd.Process.Pid)
}

// hasLine wants a line that begins with the words, whatever blanks lie between.
func hasLine(t *testing.T, text string, words ...string) {
	t.Helper()
	for l := range strings.Lines(text) {
		if strings.HasPrefix(strings.Join(strings.Fields(l), " "), strings.Join(words, " ")) {
			return
		}
	}
	t.Errorf("no line begins with %q in:\n%s", words, text)
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
	// What check advises must be enough, and measuring must agree with check.
	t.Run("with the advised capabilities", func(t *testing.T) {
		status, out, _ := tl.run(t, asMeasurer, "check")
		if status != 0 {
			t.Fatalf("exit status %d\n%s", status, out)
		}
		hasLine(t, out, "other users", "note")
		pid := ready(t, start(t, asNobody, longrun, "60"), 2)
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
		pid := ready(t, start(t, asSelf, longrun, "60"), 2)
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
		hasLine(t, out, "source", "ok", filepath.Join(testbin.Repo(t), "testdata", "programs", "longrun.c"))
	})
	t.Run("process without OpenMP", func(t *testing.T) {
		status, out, _ := tl.run(t, asSelf, "check", "-p", start(t, asSelf, plain, "60"))
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
		// What the shells' scripts ask for.
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

func TestProcessLines(t *testing.T) {
	inspection := func(change func(*collect.Inspection)) *collect.Inspection {
		in := &collect.Inspection{
			Process: preflight.Process{PID: 7, Threads: 1}, Path: "/bin/solver", Libraries: 1,
			Runtimes: []collect.InspectedRuntime{{
				Runtime: attribution.Runtime{Name: "libgomp", Path: "/lib/libgomp.so.1", Probes: 3},
				Kind:    event.Gomp, Costs: [insn.SingleStep + 1]int{insn.Emulated: 2, insn.SingleStep: 1}, Returns: 1,
			}},
			Users: []collect.RuntimeUser{{Path: "/bin/solver", Executable: true, Lines: true, Calls: []string{"GOMP_parallel"}}},
		}
		change(in)
		return in
	}
	for _, tc := range []struct {
		name         string
		change       func(*collect.Inspection)
		seccompKills bool
		want         [][]string
		problem      bool
	}{
		{"all well", func(*collect.Inspection) {}, true, [][]string{
			{"process", "ok", "7 runs /bin/solver with 1 thread and 1 library"},
			{"libgomp", "ok", "/lib/libgomp.so.1, version not told by the file"},
			{"probes", "ok", "3 would be placed (2 emulated, 1 single-stepped), 1 of them with a return probe"},
			{"symbols", "ok", "solver has symbols and line information"}}, false},
		{"no probe for one", func(in *collect.Inspection) { in.Runtimes[0].Missing = []string{"GOMP_x: refused"} }, false,
			[][]string{{"no probe", "note", "GOMP_x: refused"}}, false},
		{"no probes at all", func(in *collect.Inspection) { in.Runtimes[0].Err = errors.New("unknown build") }, false,
			[][]string{{"probes", "problem", "cannot be placed: unknown build"}}, true},
		{"replaced", func(in *collect.Inspection) { in.Runtimes[0].Replaced = true }, false, [][]string{{"file", "note", "/lib/libgomp.so.1 was replaced"}}, false},
		{"MPI", func(in *collect.Inspection) { in.MPI = []string{"/lib/libmpi.so.40"} }, false, [][]string{{"MPI", "note", "/lib/libmpi.so.40: MPI is not measured by this version"}}, false},
		{"no lines", func(in *collect.Inspection) { in.Users[0].Lines = false }, false,
			[][]string{{"symbols", "note", "solver has symbols but no line information"}, {"->", "build with -g"}}, false},
		{"stripped", func(in *collect.Inspection) { in.Users[0].Lines, in.Users[0].Stripped = false, true }, false,
			[][]string{{"symbols", "note", "solver is stripped: regions are shown as solver+offset"}, {"->", "build with -g and do not strip"}}, false},
		{"sources", func(in *collect.Inspection) {
			in.Users[0].Sources = []collect.Source{{File: "/a.c"}, {File: "/b.c", State: collect.SourceMissing}, {File: "/c.c", State: collect.SourceNewer}}
		}, false, [][]string{{"source", "ok", "/a.c"}, {"source", "note", "/b.c is not here"}, {"source", "note", "/c.c is newer"}, {"->", "rebuild"}}, false},
		{"tasks", func(in *collect.Inspection) { in.Users[0].Calls = []string{"GOMP_parallel", "GOMP_task"} }, false,
			[][]string{{"tasks", "note", "solver uses GOMP_task: tasks are not measured"}}, false},
		{"static", func(in *collect.Inspection) { in.Users[0].Static, in.Runtimes[0].Static = true, true }, false,
			[][]string{{"libgomp", "ok", "/lib/libgomp.so.1 (linked in statically)"}, {"tasks", "ok", "a static program does not tell"}}, false},
		{"no OpenMP", func(in *collect.Inspection) {
			in.Runtimes, in.Users, in.NoOpenMP = nil, nil, "nothing found; `ompp-attach check --pid 7` lists it"
		}, false, [][]string{{"runtime", "problem", "nothing found"}}, true},
		{"nobody calls it", func(in *collect.Inspection) { in.Users = nil }, false, [][]string{{"callers", "note"}}, false},
		{"seccomp", func(in *collect.Inspection) { in.Process.Seccomp = true }, true, [][]string{{"seccomp", "problem"}, {"->", "use a kernel from 6.14 on"}}, true},
		{"seccomp on a good kernel", func(in *collect.Inspection) { in.Process.Seccomp = true }, false, [][]string{{"process", "ok"}}, false},
		{"unread files", func(in *collect.Inspection) { in.Unread = fmt.Errorf("a: %w\nb", os.ErrPermission) }, false, [][]string{{"unread files", "note", "a: permission denied; b"}}, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			ls := processLines(inspection(tc.change), tc.seccompKills)
			text := preflight.Format(ls)
			for _, words := range tc.want {
				hasLine(t, text, words...)
			}
			problem := false
			for _, l := range ls {
				problem = problem || l.State == preflight.Problem
			}
			if problem != tc.problem {
				t.Errorf("problem %t, want %t:\n%s", problem, tc.problem, text)
			}
		})
	}
}

func TestDiagnose(t *testing.T) {
	known := &collect.AttachError{Sentence: "already explained"}
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

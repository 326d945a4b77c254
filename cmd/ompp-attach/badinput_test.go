package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"ompp-attach/internal/testbin"
	"ompp-attach/preflight"
)

func TestBadInput(t *testing.T) {
	tl := buildTool(t)
	longrun := tl.install(t, testbin.Build(t, "longrun.c", testbin.Options{}), "longrun")
	plain := tl.install(t, testbin.Build(t, "plain.c", testbin.Options{NoOpenMP: true}), "plain")
	static := testbin.Build(t, "longrun.c", testbin.Options{Flags: []string{"-O1", "-static", "-s"}})
	notExecutable := tl.file(t, "data", []byte("x"), 0o644)

	const seconds = "600"
	for _, tc := range []struct {
		name  string
		id    identity
		args  func(t *testing.T) []string
		words []string
	}{
		{"no such process", asSelf, func(*testing.T) []string { return []string{"--pid", "1073741824"} }, []string{"no process 1073741824"}},
		{"no flag", asSelf, func(*testing.T) []string { return []string{"4711"} }, []string{"--pid 4711"}},
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
			// For these, check reports what it found instead of refusing.
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

// zombie returns a process that has ended and that nobody has waited for.
func zombie(t *testing.T, program string) string {
	t.Helper()
	pid := start(t, asSelf, program, "0")
	testbin.Until(t, "process "+pid+" is a zombie", func() bool {
		b, err := os.ReadFile("/proc/" + pid + "/status")
		return err == nil && bytes.Contains(b, []byte("State:\tZ"))
	})
	return pid
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

// start32 runs a 32-bit program that is written by hand, since compilers for 32 bits are seldom
// installed. The program is for(;;) pause().
func start32(t *testing.T, tl tool) string {
	t.Helper()
	const base = 0x8048000
	le16 := func(v uint16) []byte { return []byte{byte(v), byte(v >> 8)} }
	le32 := func(v uint32) []byte { return []byte{byte(v), byte(v >> 8), byte(v >> 16), byte(v >> 24)} }
	// mov eax, 29; int 0x80; jmp to the start
	code := []byte{0xb8, 29, 0, 0, 0, 0xcd, 0x80, 0xeb, 0xf7}
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

// hasLine fails the test unless a line begins with the words, with any blanks between them.
func hasLine(t *testing.T, text string, words ...string) {
	t.Helper()
	for l := range strings.Lines(text) {
		if strings.HasPrefix(strings.Join(strings.Fields(l), " "), strings.Join(words, " ")) {
			return
		}
	}
	t.Errorf("no line begins with %q in:\n%s", words, text)
}

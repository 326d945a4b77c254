package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"ompp-attach/internal/testbin"
)

// talkative runs a shell that runs two programs, and tells which signals it was started to ignore.
// The shell runs under a tool that says a lot to stderr.
func talkative(t *testing.T, stderr *os.File) (cmd *exec.Cmd, dir string) {
	t.Helper()
	needTool(t)
	bin := testbin.Build(t, "constructs.c", testbin.Options{})
	dir = t.TempDir()
	cmd = exec.Command(tool, "run", "--verbose", "-o", dir, "--", "/bin/sh", "-c", `"$0" 1 8 && "$0" 1 8 && grep SigIgn /proc/self/status`, bin)
	cmd.Env = append(os.Environ(), "OMP_NUM_THREADS=2")
	cmd.Stderr = stderr
	return cmd, dir
}

func recordsIn(dir string) int {
	names, _ := filepath.Glob(filepath.Join(dir, "profile.*.json.gz"))
	return len(names)
}

// `2>&1 | head`: whoever reads what the tool says may leave.
func TestReaderLeaves(t *testing.T) {
	atOnce(t)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd, dir := talkative(t, w)
	r.Close()
	out, err := cmd.Output()
	w.Close()
	if err != nil {
		t.Errorf("%v", err)
	}
	if n := recordsIn(dir); n != 2 {
		t.Errorf("%d processes' profiles are written, want 2", n)
	}
	// The program itself dies of SIGPIPE as ever: bit 12.
	if _, mask, _ := strings.Cut(strings.TrimSpace(string(out)), "SigIgn:\t"); len(mask) != 16 || strings.ContainsRune("13579bdf", rune(mask[12])) {
		t.Errorf("the program ignores %q", mask)
	}
}

// A reader who does not read holds up neither the program nor its profiles.
func TestReaderWaits(t *testing.T) {
	atOnce(t)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	size, err := unix.FcntlInt(w.Fd(), unix.F_SETPIPE_SZ, 4096)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := syscall.Write(int(w.Fd()), make([]byte, size)); err != nil {
		t.Fatal(err)
	}
	cmd, dir := talkative(t, w)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill() }()
	for began := time.Now(); recordsIn(dir) < 2; time.Sleep(20 * time.Millisecond) {
		if time.Since(began) > runLimit/3 {
			t.Fatalf("%d processes' profiles are written, want 2", recordsIn(dir))
		}
	}
	w.Close()
	said := make(chan string)
	go func() {
		var b strings.Builder
		_, _ = r.WriteTo(&b)
		said <- b.String()
	}()
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	if s := <-said; strings.Count(s, "used no OpenMP") > 0 || !strings.Contains(s, "kernel side loaded") || !strings.Contains(s, "parallel coverage") {
		t.Errorf("said then: %q", strings.TrimLeft(s, "\x00"))
	}
}

package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"ompp-attach/internal/testbin"
)

// Ctrl-\ ends a measurement as Ctrl-C does.
func TestQuitEndsAttach(t *testing.T) {
	atOnce(t)
	needTool(t)
	tg := launch(t, testbin.Build(t, "longrun.c", testbin.Options{Flags: []string{"-O1", "-g"}}), aLongTime)
	s := start(t, "attach", "--snapshot", "50ms", "--pid", strconv.Itoa(tg.pid()))
	snapshotOf(t, filepath.Join(s.dir, "profile.json.gz"))
	if err := s.cmd.Process.Signal(syscall.SIGQUIT); err != nil {
		t.Fatal(err)
	}
	if got := s.wait(t); got != 0 || s.stderr.String() != "" {
		t.Errorf("exit status %d, stderr %q", got, s.stderr.String())
	}
	if p := decode(t, filepath.Join(s.dir, "profile.json.gz")); !p.Meta.SnapshotAt.IsZero() || p.Meta.Ended != "detached" {
		t.Errorf("the profile is a snapshot of %s, ended: %q", p.Meta.SnapshotAt, p.Meta.Ended)
	}
	tg.enough(t)
}

// Where too few files may be open, one sentence says so, and what to do; a soft limit is lifted,
// and is the program's own.
func TestFewFiles(t *testing.T) {
	atOnce(t)
	needTool(t)
	shell := func(command, limit string, args ...string) string {
		dir := filepath.Join(t.TempDir(), "out")
		script := "exec 3<&- 4<&- 5<&- 6<&-; ulimit " + limit + "; exec " + strings.Join(append([]string{tool, command, "-q", "-o", dir, "--"}, args...), " ")
		cmd := exec.Command("sh", "-c", script)
		cmd.Env = os.Environ()
		out, _ := cmd.CombinedOutput()
		return string(out)
	}
	for _, limit := range []string{"8", "20", "50"} {
		for _, command := range []string{"run", "top"} {
			if out := shell(command, "-n "+limit, "/bin/true"); strings.Count(out, "\n") != 1 || !strings.Contains(out, "ulimit -n 1024") {
				t.Errorf("%s, limit %s: %s", command, limit, out)
			}
		}
	}
	if out := shell("run", "-S -n 12", "sh", "-c", "'ulimit -n'"); !strings.HasPrefix(out, "12\n") {
		t.Errorf("soft limit: %s", out)
	}
}

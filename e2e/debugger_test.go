package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"ompp-attach/internal/testbin"
)

// A debugger that sets a breakpoint where a probe is, and removes it after the measurement, leaves
// a trap. Nobody answers for the trap, unless the probe is still there.
func TestDebugger(t *testing.T) {
	atOnce(t)
	needTool(t)
	gdb, err := exec.LookPath("gdb")
	if err != nil {
		t.Skip(err)
	}
	bin := testbin.Build(t, "longrun.c", testbin.Options{Compiler: "clang-19"})
	tg := launch(t, bin, aLongTime, "regions", "1500000")
	s := start(t, "attach", "--pid", strconv.Itoa(tg.pid()))
	tg.placed(t)
	time.Sleep(300 * time.Millisecond)
	dir := t.TempDir()
	over := filepath.Join(dir, "over")
	// The breakpoint is hit now and then; after the measurement gdb goes when it is.
	script := filepath.Join(dir, "script.py")
	text := fmt.Sprintf("import gdb, os\nwhile not os.path.exists(%q):\n    gdb.execute('continue')\n", over)
	if err := os.WriteFile(script, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	debug := exec.Command(gdb, "-q", "-batch", "-nx", "-p", strconv.Itoa(tg.pid()), "-ex", "break __kmpc_end_critical", "-x", script, "-ex", "detach")
	said, err := os.Create(filepath.Join(dir, "said"))
	if err != nil {
		t.Fatal(err)
	}
	defer said.Close()
	debug.Stdout, debug.Stderr = said, said
	output := func() string {
		b, _ := os.ReadFile(said.Name())
		return string(b)
	}
	if err := debug.Start(); err != nil {
		t.Fatal(err)
	}
	gone := make(chan error, 1)
	go func() { gone <- debug.Wait() }()
	defer func() { _ = debug.Process.Kill() }()
	until(t, "the breakpoint is set", func() bool { return strings.Contains(output(), "Breakpoint 1 at") })
	time.Sleep(2 * time.Second) // of the program's regions, one or two come to the breakpoint
	if err := s.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	s.measured(t)
	select {
	case <-s.ended:
		t.Error("the tool took its probes away although the process is being debugged")
	case <-time.After(500 * time.Millisecond):
	}
	if err := os.WriteFile(over, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	// gdb may sit in front of a breakpoint that the probe has made ineffective.
	select {
	case <-gone:
	case <-time.After(3 * time.Second):
		_ = debug.Process.Signal(os.Interrupt)
		<-gone
	}
	if got := s.wait(t); got != 0 {
		t.Errorf("exit status %d; stderr: %s", got, s.stderr.String())
	}
	if !strings.Contains(s.stderr.String(), "probes stay until the debugger has left") {
		t.Errorf("the user is not told that probes stay: %s", s.stderr.String())
	}
	told := false
	for _, w := range decode(t, filepath.Join(s.dir, "profile.json.gz")).Warnings {
		told = told || strings.Contains(w, "is being debugged by gdb")
	}
	if !told {
		t.Error("the report does not tell of the debugger")
	}
	tg.untouched(t)
	tg.enough(t)
	if t.Failed() {
		t.Log(output())
	}
}

package e2e

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"ompp-attach/internal/testbin"
)

// Programs that follow each other in one process have a profile each.
func TestExecChain(t *testing.T) {
	atOnce(t)
	bin := testbin.Build(t, "execs.c", testbin.Options{})
	s := run(t, options{env: threadsEnv(2)}, bin, "child", "2")
	if s.exit != 0 {
		t.Fatalf("exit status %d; stderr: %s", s.exit, s.stderr)
	}
	var pid int
	for _, p := range s.others {
		pid = p.Meta.PID
		if got := count(p, execC, parallel); got[0] != 1 {
			t.Errorf("%v executions of the region, want 1", got)
		}
	}
	stem := fmt.Sprintf("profile.pid%d", pid)
	want := []string{stem + "-2.json.gz", stem + "-3.json.gz", stem + ".json.gz"}
	if got := slices.Sorted(maps.Keys(s.others)); !slices.Equal(got, want) {
		t.Errorf("files %q, want %q", got, want)
	}
}

// A file that is written anew in its place, as linkers and cp do, is another program. Probes at the
// old file's offsets would break it.
func TestRebuiltInPlace(t *testing.T) {
	atOnce(t)
	static := func(flags ...string) string {
		return testbin.Build(t, "execs.c", testbin.Options{Flags: append([]string{"-static", "-g"}, flags...)})
	}
	bin := filepath.Join(t.TempDir(), "program")
	s := run(t, options{env: threadsEnv(2)}, "/bin/sh", "-c",
		`for b in "$@"; do cat "$b" >"$0" && chmod +x "$0" && "$0" chain 0 || exit 9; done`,
		bin, static("-O0"), static("-O1", "-falign-functions=4096"))
	if s.exit != 0 {
		t.Fatalf("exit status %d: the program broke; stderr: %s", s.exit, s.stderr)
	}
	if len(s.others) != 2 {
		t.Fatalf("%d profiles, want 2; stderr: %s", len(s.others), s.stderr)
	}
	for name, p := range s.others {
		if got := count(p, execC, parallel); got[0] != 1 || p.Meta.Unmatched != 0 {
			t.Errorf("%s: %v executions of the region, want 1; unmatched %d", name, got, p.Meta.Unmatched)
		}
	}
}

// Nobody but its parent waits for a child's end: what it used of processors is known up
// to the last look, not long before. A child ends when it has used a given time of processors. So
// load makes it last longer, and there are more looks.
func TestTimesOfChildren(t *testing.T) {
	atOnce(t)
	const children, each = 16, 60 * time.Millisecond // of each of two threads
	bin := testbin.Build(t, "busy.c", testbin.Options{})
	began := time.Now()
	s := run(t, options{env: threadsEnv(2)}, "/bin/sh", "-c",
		fmt.Sprintf(`for i in $(seq %d); do "$0" %g 2; done; sleep 1`, children, each.Seconds()), bin)
	elapsed := time.Since(began)
	if s.exit != 0 || len(s.others) != children {
		t.Fatalf("exit status %d, %d profiles; stderr: %s", s.exit, len(s.others), s.stderr)
	}
	known := 0
	var used []time.Duration
	var lasted time.Duration // one child after the other
	for _, p := range s.others {
		used = append(used, time.Duration(p.Meta.UserTime+p.Meta.SysTime))
		if used[len(used)-1] > 0 {
			known++
		}
		if d := time.Duration(p.Meta.Duration); d < each {
			t.Errorf("a child that was busy for %s lasted %s", each, d)
		}
		lasted += time.Duration(p.Meta.Duration)
	}
	if lasted > elapsed {
		t.Errorf("in %s, children lasted %s, one after the other", elapsed, lasted)
	}
	if known < children/2 {
		t.Errorf("children that used %s of processors used %s", 2*each, used)
	}
}

// A child that outlives its parent goes on when the measurement ends.
func TestChildOutlives(t *testing.T) {
	atOnce(t)
	bin := testbin.Build(t, "execs.c", testbin.Options{})
	s := run(t, options{env: threadsEnv(2)}, bin, "leave", "20")
	if s.exit != 0 || s.main == nil {
		t.Fatalf("exit status %d; stderr: %s", s.exit, s.stderr)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(s.stdout))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = syscall.Kill(pid, syscall.SIGKILL) }()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatalf("the child has ended: %v", err)
	}
	if _, state, _ := strings.Cut(string(b), ") "); state[0] != 'S' && state[0] != 'R' {
		t.Errorf("the child is in state %c", state[0])
	}
}

// A parent that lends its memory waits for the child: nobody stops that.
func TestVfork(t *testing.T) {
	atOnce(t)
	bin := testbin.Build(t, "execs.c", testbin.Options{})
	s := run(t, options{env: threadsEnv(2), flags: []string{"--verbose"}}, bin, "vfork")
	if s.exit != 0 || s.main == nil {
		t.Fatalf("exit status %d; stderr: %s", s.exit, s.stderr)
	}
	if strings.Contains(s.stderr, "forked") {
		t.Errorf("the child was stopped for probes of its own:\n%s", s.stderr)
	}
}

// Ctrl-C again and again, while results are written: they are written.
func TestImpatience(t *testing.T) {
	atOnce(t)
	bin := testbin.Build(t, "longrun.c", testbin.Options{})
	s := start(t, "run", "--", bin, "60")
	pid := childOf(t, s.cmd.Process.Pid, bin)
	atWork(t, pid)
	if err := syscall.Kill(pid, syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	for done := false; !done; {
		select {
		case err := <-s.ended:
			s.ended <- err
			done = true
		case <-time.After(200 * time.Microsecond):
			_ = s.cmd.Process.Signal(syscall.SIGINT)
			_ = s.cmd.Process.Signal(syscall.SIGTERM)
		}
	}
	if got, want := s.wait(t), 128+int(syscall.SIGINT); got != want {
		t.Errorf("exit status %d, want %d; stderr: %s", got, want, s.stderr.String())
	}
	decode(t, filepath.Join(s.dir, "profile.json.gz"))
}

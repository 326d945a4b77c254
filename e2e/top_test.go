package e2e

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/creack/pty"
	"github.com/hinshun/vt10x"

	"ompp-attach/analysis"
	"ompp-attach/internal/testbin"
	"ompp-attach/live"
	"ompp-attach/profile"
)

// The windows of top add up to the final profile, which has what the program did, and closing top
// leaves the program as it was.
func TestTopForScripts(t *testing.T) {
	atOnce(t)
	bin := testbin.Build(t, "longrun.c", testbin.Options{Flags: []string{"-O1", "-g"}})
	tg := launch(t, bin, aLongTime)
	// A busy machine gives the program no core in some windows.
	s := start(t, "top", "--format", "json", "--interval", "1s", "--count", "5", "--pid", strconv.Itoa(tg.pid()))
	if got := s.wait(t); got != 0 {
		t.Fatal(got, s.stderr.String())
	}
	tg.untouched(t)
	final := decode(t, filepath.Join(s.dir, "profile.json.gz"))
	windowOf(t, final)
	var updates []live.Update
	for in := bufio.NewScanner(strings.NewReader(s.stdout.String())); in.Scan(); {
		var f live.Update
		if err := json.Unmarshal(in.Bytes(), &f); err != nil {
			t.Fatalf("%v: %s", err, in.Text())
		}
		updates = append(updates, f)
	}
	if len(updates) != 6 || !updates[5].Final {
		t.Fatalf("%d windows", len(updates))
	}
	var work, wall, regions int64
	for _, f := range updates {
		work, wall = work+f.Window.Work, wall+f.Wall
		for _, r := range f.Regions {
			if r.Construct == "PARALLEL" {
				regions += r.Window.Count
			}
		}
	}
	adjusted := analysis.Adjust(final)
	var want int64
	for _, c := range analysis.Costs(adjusted) {
		want += c.Exclusive - c.Overhead.Sum()
	}
	executed := count(final, execC, parallel)
	if uint64(regions) != executed[0]+executed[1] || work != want || wall != adjusted.Meta.Duration {
		t.Errorf("windows: %d executions, %d ns of work, %d ns; the final profile: %d, %d, %d", regions, work, wall, executed[0]+executed[1], want, adjusted.Meta.Duration)
	}
	// The program pays what it pays for attach: as many hits for each execution. A part of an
	// execution may be seen at either end.
	pid := launch(t, bin, aLongTime).pid()
	plain := attachWhile(t, manyRegions, []int{pid}, "--pid", strconv.Itoa(pid)).profile(t)
	per := func(p *profile.Profile, cut uint64) float64 {
		return float64(p.Meta.Hits) / float64(count(p, execC, parallel)[0]+cut)
	}
	if top, attach := per(final, 2), per(plain, 0); top > 1.1*attach {
		t.Errorf("%.2f hits per region with top, %.2f with attach", top, attach)
	}
}

// terminal is a pseudo-terminal with a command on it.
type terminal struct {
	tool   int // process
	pty    *os.File
	screen vt10x.Terminal
	mu     sync.Mutex
	seen   bytes.Buffer // all that was written
	end    chan error
}

func onTerminal(t *testing.T, args ...string) *terminal {
	t.Helper()
	needTool(t)
	const rows, columns = 40, 120
	cmd := exec.Command(tool, args...)
	cmd.Env = append(os.Environ(), "OMP_NUM_THREADS=2", "TERM=xterm-256color")
	f, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: rows, Cols: columns})
	if err != nil {
		t.Fatal(err)
	}
	tm := &terminal{tool: cmd.Process.Pid, pty: f, screen: vt10x.New(vt10x.WithSize(columns, rows)), end: make(chan error, 1)}
	read := make(chan struct{})
	go func() {
		defer close(read)
		b := make([]byte, 4096)
		for {
			n, err := f.Read(b)
			if err != nil {
				return
			}
			tm.mu.Lock()
			tm.seen.Write(b[:n])
			_, _ = tm.screen.Write(b[:n])
			tm.mu.Unlock()
		}
	}()
	go func() {
		err := cmd.Wait()
		<-read
		tm.end <- err
	}()
	t.Cleanup(func() { _ = cmd.Process.Kill(); f.Close() })
	return tm
}

// text is all that was written to the terminal.
func (tm *terminal) text() string {
	tm.mu.Lock()
	defer tm.mu.Unlock()
	return tm.seen.String()
}

// await waits until the terminal shows a text.
func (tm *terminal) await(t *testing.T, want string) {
	t.Helper()
	re := regexp.MustCompile(want)
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the terminal shows\n%s", tm.screen)
		}
	})
	until(t, "the terminal to show "+want, func() bool {
		tm.mu.Lock()
		defer tm.mu.Unlock()
		return re.MatchString(tm.screen.String())
	})
}

func (tm *terminal) press(t *testing.T, keys string) {
	t.Helper()
	if _, err := tm.pty.WriteString(keys); err != nil {
		t.Fatal(err)
	}
}

// On a terminal, top follows its keys, and leaves terminal and program as they were.
func TestTopOnTerminal(t *testing.T) {
	atOnce(t)
	bin := testbin.Build(t, "longrun.c", testbin.Options{Flags: []string{"-O1", "-g"}})
	tg := launch(t, bin, aLongTime)
	dir := filepath.Join(t.TempDir(), "out")
	tm := onTerminal(t, "top", "--interval", "200ms", "-o", dir, "--pid", strconv.Itoa(tg.pid()))
	tm.await(t, `PARALLEL longrun\.c`)
	tm.press(t, "p")
	tm.await(t, `PAUSED`)
	tm.press(t, "p")
	tm.press(t, "t")
	tm.await(t, `own time since the start`)
	tm.press(t, "j\r")
	tm.await(t, `executions, own time`)
	tm.press(t, "\x1b")
	tm.await(t, `MOSTLY`)
	tm.press(t, "s")
	tm.await(t, `snapshot written`)
	if p := decode(t, filepath.Join(dir, "snapshot.1.json.gz")); p.Meta.PID != tg.pid() || regionsOf(p) == 0 {
		t.Errorf("the snapshot is of process %d and has %d regions", p.Meta.PID, regionsOf(p))
	}
	tm.press(t, "q")
	if err := <-tm.end; err != nil {
		t.Errorf("%v\n%s", err, tm.text())
	}
	if !strings.Contains(tm.text(), "\x1b[?1049l") {
		t.Errorf("the terminal was not restored: %q", tm.text())
	}
	tg.untouched(t)
	if p := decode(t, filepath.Join(dir, "profile.json.gz")); regionsOf(p) == 0 || p.Meta.Ended != "detached" {
		t.Errorf("%d regions, ended: %s", regionsOf(p), p.Meta.Ended)
	}
}

// A program that top launches keeps its exit status. Its output appears when the screen is gone.
// After q it goes on without being measured.
func TestTopOfProgram(t *testing.T) {
	atOnce(t)
	bin := testbin.Build(t, "longrun.c", testbin.Options{Flags: []string{"-O1", "-g"}})
	tm := onTerminal(t, "top", "--interval", "200ms", "--", bin, aLongTime)
	tm.await(t, `PARALLEL longrun\.c`)
	program := childOf(t, tm.tool, bin)
	tm.press(t, "q")
	until(t, "the screen is gone", func() bool { return strings.Contains(tm.text(), "\x1b[?1049l") })
	_ = syscall.Kill(program, syscall.SIGUSR1) // enough
	if err := <-tm.end; err != nil {
		t.Errorf("%v\n%s", err, tm.text())
	}
	after := tm.text()[strings.LastIndex(tm.text(), "\x1b[?1049l"):]
	if !regexp.MustCompile(`\n?\d+\r\n`).MatchString(after) {
		t.Errorf("the program's count does not appear after the screen: %q", after)
	}
	sh := exec.Command(tool, "top", "--format", "line", "--", "sh", "-c", "exit 7")
	if err := sh.Run(); sh.ProcessState.ExitCode() != 7 {
		t.Errorf("exit status %d, want the program's: %v", sh.ProcessState.ExitCode(), err)
	}
}

// A program that the user has seen enough of is not measured any more, nor is what it starts later.
func TestTopLeavesAll(t *testing.T) {
	atOnce(t)
	bin := testbin.Build(t, "longrun.c", testbin.Options{Flags: []string{"-O1", "-g"}})
	s := start(t, "top", "--format", "line", "--interval", "1s", "--count", "2", "--", "sh", "-c", bin+" "+aLongTime+"; "+bin+" 1")
	until(t, "top leaves the program", func() bool { return strings.Contains(s.stderr.String(), "goes on without being measured") })
	for _, pid := range processesOf(s.cmd.Process.Pid, bin) {
		_ = syscall.Kill(pid, syscall.SIGUSR1) // the next one starts
	}
	if got := s.wait(t); got != 0 {
		t.Fatal(got, s.stderr.String())
	}
	names, err := filepath.Glob(filepath.Join(s.dir, "profile*.json.gz"))
	if err != nil || len(names) != 1 {
		t.Fatalf("profiles %q, want that of the first process: %v", names, err)
	}
	if p := decode(t, names[0]); regionsOf(p) == 0 || p.Meta.Ended != "still running when measurement ended" {
		t.Errorf("%d regions, ended: %s", regionsOf(p), p.Meta.Ended)
	}
}

// Where somebody measures a process already, top shows that measurement and places no probes. The
// measurement goes on when top ends, and has counted all that the program did.
func TestTopJoins(t *testing.T) {
	atOnce(t)
	bin := testbin.Build(t, "longrun.c", testbin.Options{Flags: []string{"-O1", "-g"}})
	s := start(t, "run", "--", bin, aLongTime)
	pid := 0
	until(t, "the program to be measured", func() bool {
		for _, child := range childrenOf(s.cmd.Process.Pid) {
			if exe, _ := os.Readlink("/proc/" + strconv.Itoa(child) + "/exe"); exe == bin {
				pid = child
			}
		}
		return pid != 0 && exec.Command(tool, "dump", "--pid", strconv.Itoa(pid)).Run() == nil
	})
	dir := filepath.Join(t.TempDir(), "joined")
	joined := exec.Command(tool, "top", "--format", "json", "--interval", "200ms", "--count", "4", "--pid", strconv.Itoa(pid), "-o", dir, "--counters", "none")
	var out, said bytes.Buffer
	joined.Stdout, joined.Stderr = &out, &said
	if err := joined.Start(); err != nil {
		t.Fatal(err)
	}
	links := 0
	until(t, "the first window", func() bool {
		fds, _ := filepath.Glob("/proc/" + strconv.Itoa(joined.Process.Pid) + "/fd/*")
		for _, fd := range fds {
			if to, _ := os.Readlink(fd); to == "anon_inode:bpf_link" || to == "anon_inode:[perf_event]" {
				links++
			}
		}
		b, _ := os.ReadFile(filepath.Join(dir, "profile.json.gz"))
		return len(b) > 0
	})
	if err := joined.Wait(); err != nil || links > 0 {
		t.Errorf("%v: top has opened %d files of probes\n%s", err, links, said.String())
	}
	for _, want := range []string{"another run of ompp-attach measures this already", "flags on what is measured have no effect"} {
		if !strings.Contains(said.String(), want) {
			t.Errorf("stderr %q lacks %q", said.String(), want)
		}
	}
	var first, last live.Update
	lines := bytes.Split(bytes.TrimSpace(out.Bytes()), []byte("\n"))
	if err := json.Unmarshal(lines[0], &first); err != nil || len(lines) != 4 {
		t.Fatalf("%d windows: %v", len(lines), err)
	}
	if err := json.Unmarshal(lines[3], &last); err != nil || last.Final {
		t.Errorf("%v; final %t", err, last.Final)
	}
	var regions int64
	for _, r := range last.Regions {
		if r.Construct == "PARALLEL" {
			regions += r.Total.Count
		}
	}
	p := decode(t, filepath.Join(dir, "profile.json.gz"))
	if executed := count(p, execC, parallel); uint64(regions) != executed[0]+executed[1] || p.Meta.PID != pid || p.Meta.SnapshotAt.IsZero() {
		t.Errorf("the last window ends after %d regions, what was written has %d of process %d", regions, executed[0]+executed[1], p.Meta.PID)
	}
	untilPassed(t, pid, 2)                 // it is still measured
	_ = syscall.Kill(pid, syscall.SIGUSR1) // enough
	if got := s.wait(t); got != 0 {
		t.Fatal(got, s.stderr.String())
	}
	iterations, err := strconv.ParseUint(strings.TrimSpace(s.stdout.String()), 10, 64)
	if got := count(decode(t, filepath.Join(s.dir, "profile.json.gz")), execC, parallel)[0]; err != nil || got != iterations {
		t.Errorf("%d regions, the program executed %d (%v)", got, iterations, err)
	}
}

package e2e

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"ompp-attach/internal/testbin"
)

// kills is how often each loop kills the tool; OMPP_KILLS sets how often all do.
func kills(loops int) int {
	const few = 9
	if n, err := strconv.Atoi(os.Getenv("OMPP_KILLS")); err == nil {
		return (n + loops - 1) / loops
	}
	return few / loops
}

// A tool that is killed at any moment, with whatever else there is of it, harms nobody. The tool
// was about to stop programs, had stopped them, or had placed probes in them. These programs go on
// and end as they would have.
func TestKillLoop(t *testing.T) {
	atOnce(t)
	const loops = 3
	t.Run("run", func(t *testing.T) {
		bin := testbin.Build(t, "constructs.c", testbin.Options{})
		script := `echo begin; : >"$1"; for i in 1 2 3 4 5 6 7 8 9 10; do "$0" 1 8 || echo "bad $?"; /bin/true; done; echo end`
		early := 0
		for n := range kills(loops) {
			begun := filepath.Join(t.TempDir(), "begun")
			s := start(t, "run", "--", "/bin/sh", "-c", script, bin, begun)
			if n%4 != 0 { // else mostly before it begins
				until(t, "the program begins", func() bool {
					_, err := os.Stat(begun)
					return err == nil
				})
			}
			time.Sleep(time.Duration(rand.IntN(600)) * time.Millisecond)
			_ = s.cmd.Process.Kill()
			select {
			case <-s.ended: // when the last who has its stdout, the program, has ended
			case <-time.After(patience):
				t.Fatalf("kill %d: the program has not ended:\n%s", n, s.stdout.String())
			}
			out := s.stdout.String()
			if !strings.HasPrefix(out, "begin") {
				early++ // it had not been started
			} else if !strings.HasSuffix(out, "end\n") || strings.Contains(out, "bad") {
				t.Fatalf("kill %d: the program printed\n%s%s", n, out, s.stderr.String())
			}
		}
		t.Logf("%d kills, %d before the program was started", kills(loops), early)
	})
	t.Run("attach", func(t *testing.T) {
		bin := testbin.Build(t, "longrun.c", testbin.Options{})
		for n := range kills(loops) {
			tg := launch(t, bin, aLongTime)
			s := start(t, "attach", "--pid", strconv.Itoa(tg.pid()))
			time.Sleep(time.Duration(rand.IntN(700)) * time.Millisecond)
			_ = s.cmd.Process.Kill()
			<-s.ended
			untilPassed(t, tg.pid(), manyRegions) // through what the tool has left
			tg.enough(t)
			if t.Failed() {
				t.Fatalf("kill %d", n)
			}
		}
	})
	t.Run("collector", func(t *testing.T) {
		mpirun, err := exec.LookPath("mpirun.openmpi")
		if err != nil {
			t.Skip(err)
		}
		needTool(t)
		bin := testbin.Build(t, "longrun.c", testbin.Options{})
		early := 0
		for n := range kills(loops) {
			dir := filepath.Join(t.TempDir(), "out")
			began := time.Now()
			j := startJob(t, "", wrapped(mpirun, dir, 2, bin, "0.5")...)
			var found []int
			for len(found) == 0 && time.Since(began) < 10*time.Second && j.cmd.ProcessState == nil {
				if found = toolsOf("__collector", dir); len(found) == 0 {
					time.Sleep(5 * time.Millisecond)
				}
			}
			time.Sleep(time.Duration(rand.IntN(900)) * time.Millisecond)
			for _, pid := range found {
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
			j.wait(t)
			// Ranks that were not started yet say so; others end as they would have.
			if out := strings.Fields(j.out.String()); len(out) != 2 {
				if strings.Contains(j.err.String(), "collector") {
					early++
					continue
				}
				t.Fatalf("kill %d of %d collectors: the ranks printed %q; %s", n, len(found), out, j.err.String())
			}
		}
		t.Logf("%d kills, %d before the ranks were started", kills(loops), early)
	})
}

// A tool that is stopped holds up no launch for long: what it could not measure, it
// says, also if all has ended meanwhile.
func TestStoppedToolHoldsUpNobody(t *testing.T) {
	atOnce(t)
	needTool(t)
	bin := testbin.Build(t, "constructs.c", testbin.Options{})
	const work = `echo ready; read x; "$0" 1 8; echo over`
	t.Run("for a while", func(t *testing.T) { stoppedTool(t, true, work+"; read x", bin) })
	t.Run("until the end", func(t *testing.T) { stoppedTool(t, false, work, bin) })
}

// stoppedTool stops a tool before the program that a script runs next, until the script says that
// the program is over. goesOn says that the script then waits.
func stoppedTool(t *testing.T, goesOn bool, script, bin string) {
	dir := filepath.Join(t.TempDir(), "out")
	cmd := exec.Command(tool, "run", "--verbose", "-o", dir, "--", "/bin/sh", "-c", script, bin)
	cmd.Env = append(os.Environ(), threadsEnv(2)...)
	stderr, err := os.Create(filepath.Join(t.TempDir(), "stderr"))
	if err != nil {
		t.Fatal(err)
	}
	defer stderr.Close()
	cmd.Stderr = stderr
	told := func() string {
		b, _ := os.ReadFile(stderr.Name())
		return string(b)
	}
	cmd.WaitDelay = 10 * time.Second // a program that was left stopped keeps stderr open
	in, out := startTalking(t, cmd)
	defer killStopped(cmd)
	said := make(chan string)
	go func() {
		defer close(said)
		b := make([]byte, 1<<12)
		for {
			n, err := out.Read(b)
			if err != nil {
				return
			}
			said <- string(b[:n])
		}
	}()
	hear := func(what string) {
		t.Helper()
		late := time.After(patience)
		for {
			select {
			case s := <-said:
				if strings.Contains(s, what) {
					return
				}
			case <-late:
				t.Fatalf("the program has not said %q: it waits for a tool that is stopped", what)
			}
		}
	}
	hear("ready")
	_ = cmd.Process.Signal(syscall.SIGSTOP)
	fmt.Fprintln(in)
	hear("over")
	const acts = ": stopped for " // says the tool when it has acted on what a stopped program did
	before := strings.Count(told(), acts)
	if !goesOn {
		until(t, "the script ends", func() bool {
			children := childrenOf(cmd.Process.Pid)
			return slices.ContainsFunc(children, zombie)
		})
	}
	_ = cmd.Process.Signal(syscall.SIGCONT)
	if goesOn {
		until(t, "the tool acts on what the program did", func() bool { return strings.Count(told(), acts) > before })
		fmt.Fprintln(in)
	}
	for range said {
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("the tool: %v", err)
	}
	if !strings.Contains(told(), "was let go on after") {
		t.Errorf("nobody is told that a program was not measured: %s", told())
	}
}

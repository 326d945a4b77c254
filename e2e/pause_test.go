package e2e

import (
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"ompp-attach/event"
	"ompp-attach/internal/testbin"
)

// markedLines finds the comments "begin NAME" and "end NAME" of a source.
func markedLines(t *testing.T, path string) (begin, end map[string]int) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	begin, end = map[string]int{}, map[string]int{}
	for n, l := range strings.Split(string(b), "\n") {
		m := regexp.MustCompile(`// (begin|end) (\w+)$`).FindStringSubmatch(l)
		switch {
		case m == nil:
		case m[1] == "begin":
			begin[m[2]] = n + 1
		default:
			end[m[2]] = n + 1
		}
	}
	return begin, end
}

// control runs `ompp-attach pause` or `resume`.
func control(t *testing.T, verb string, pid int) (status int, stderr string) {
	t.Helper()
	cmd := exec.Command(tool, verb, "--pid", strconv.Itoa(pid))
	var b strings.Builder
	cmd.Stderr = &b
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), b.String()
}

// unanswered tells whether a measurement said nothing, which may be that of another test: one stops
// its tool.
func unanswered(text string) bool { return strings.Contains(text, "did not answer") }

// pauseSoon pauses a measurement, which may only just be beginning, after a
// while.
func pauseSoon(t *testing.T, pid int) {
	t.Helper()
	time.Sleep(600 * time.Millisecond)
	until(t, "the measurement begins", func() bool {
		status, text := control(t, "pause", pid)
		if status != 0 && !strings.Contains(text, "no ompp-attach") && !unanswered(text) {
			t.Fatalf("pause: exit status %d, %q", status, text)
		}
		return status == 0
	})
}

// A measurement is paused and resumed from outside, in the midst of regions:
// the target is untouched meanwhile, and counts fit together again afterwards.
func TestPauseAndResume(t *testing.T) {
	atOnce(t)
	needTool(t)
	for _, b := range []build{{"gcc", "-O2 -g"}, {"clang-19", "-O2 -g"}} {
		t.Run(b.String(), func(t *testing.T) {
			tg := launch(t, testbin.Build(t, "longrun.c", b.options()), aLongTime, "regions", "300")
			until(t, "no measurement has the process", func() bool {
				status, text := control(t, "pause", tg.pid())
				if unanswered(text) {
					return false
				}
				if status == 0 || !strings.Contains(text, "measures process") || strings.Count(text, "\n") != 1 {
					t.Fatalf("pause of what nobody measures: exit status %d, %q", status, text)
				}
				return true
			})
			s := start(t, "attach", "--pid", strconv.Itoa(tg.pid()))
			const off = 700 * time.Millisecond
			for range 2 {
				pauseSoon(t, tg.pid())
				tg.untouched(t)
				if status, _ := control(t, "pause", tg.pid()); status == 0 {
					t.Error("paused twice")
				}
				time.Sleep(off)
				if status, text := control(t, "resume", tg.pid()); status != 0 {
					t.Fatalf("resume: exit status %d, %q", status, text)
				}
			}
			if status, _ := control(t, "resume", tg.pid()); status == 0 {
				t.Error("resumed without a pause")
			}
			tg.probed(t)
			if err := s.cmd.Process.Signal(os.Interrupt); err != nil {
				t.Fatal(err)
			}
			p := s.profile(t)
			if p.Meta.Off.C != 2 || p.Meta.Off.T < int64(2*off) || p.Meta.Duration > int64(time.Since(s.began)-2*off) {
				t.Errorf("off %d times, %s; duration %s", p.Meta.Off.C, time.Duration(p.Meta.Off.T), time.Duration(p.Meta.Duration))
			}
			balanced(t, p)
			addsUp(t, p)
			complete := count(p, execC, parallel)
			if complete[0] < 10 {
				t.Errorf("%d executions of the region", complete[0])
			}
			// Three stretches, each of whose ends may cut one execution.
			const cuts = 3 * 2
			for _, c := range []event.Construct{event.Critical, event.Loop, event.Barrier, event.Single} {
				for th, n := range count(p, execC, is(c)) {
					if d := max(n, complete[0]) - min(n, complete[0]); th >= 0 && d > cuts {
						t.Errorf("thread %d: %d of %s in %d executions of the region\n%s", th, n, c, complete[0], dump(p))
					}
				}
			}
			if p.Meta.Unmatched > 3*targetThreads {
				t.Errorf("unmatched %d", p.Meta.Unmatched)
			}
			tg.enough(t)
		})
	}
}

package e2e

import (
	"bufio"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	pprof "github.com/google/pprof/profile"

	"ompp-attach/analysis"
	"ompp-attach/internal/testbin"
	"ompp-attach/profile"
)

// hotlines are the lines of hotlines.c by their marks.
func hotlines(t *testing.T) map[string]int {
	t.Helper()
	lines := lineMarks(t, "hotlines.c")
	if len(lines) != 5 {
		t.Fatalf("hotlines.c marks %v", lines)
	}
	return lines
}

// lineMarks returns the lines of a program that a comment names.
func lineMarks(t *testing.T, name string) map[string]int {
	t.Helper()
	f, err := os.Open(filepath.Join(testbin.Repo(t), "testdata", "programs", name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := map[string]int{}
	s := bufio.NewScanner(f)
	for n := 1; s.Scan(); n++ {
		if _, mark, ok := strings.Cut(s.Text(), " // "); ok {
			lines[mark] = n
		}
	}
	return lines
}

// way is a sampled call stack as text, outermost first.
func way(p *profile.Profile, steps []analysis.Step) (out []string) {
	for _, s := range steps {
		if s.Region >= 0 {
			// Without the source a parallel loop may look like any region.
			out = append(out, strings.TrimSuffix(p.Regions[s.Region].Construct.String(), " LOOP"))
			continue
		}
		// Compilers differ in what they call the outlined function and its parts.
		name, _, found := strings.Cut(p.Frames[s.Frame].Function, "._omp_fn")
		if !found {
			name, _, found = strings.Cut(name, ".omp_outlined")
		}
		if found {
			name += " outlined"
		}
		if len(out) == 0 || out[len(out)-1] != name {
			out = append(out, name)
		}
	}
	return out
}

// checkHotLines compares a run of hotlines.c with what is true by construction:
// complete stacks, and their text for each thread. It returns which shares of
// lines in percent are not, within tolerance.
func checkHotLines(t *testing.T, p *profile.Profile, tolerance float64) (wrong []string) {
	t.Helper()
	marks := hotlines(t)
	if p.Meta.Sampling == nil {
		t.Fatal("not sampled")
	}
	var all, cut, loop uint64
	by := map[int]uint64{}
	want := map[int]string{
		marks["FIVE"]:   "main loop PARALLEL loop outlined all five",
		marks["THREE"]:  "main loop PARALLEL loop outlined all three",
		marks["TWO"]:    "main loop PARALLEL loop outlined all three two",
		marks["INSIDE"]: "main wait PARALLEL wait outlined CRITICAL critical",
		marks["LATE"]:   "main wait PARALLEL wait outlined late",
	}
	threads, seen, odd := map[string]bool{}, uint64(0), uint64(0)
	for i, steps := range analysis.Stacks(p) {
		s := &p.Samples[i]
		all += s.Count
		if s.Cut {
			cut += s.Count
			continue
		}
		if len(s.Stack) == 0 || s.Phase != profile.PhaseBody {
			continue
		}
		line := p.Frames[s.Stack[0]].Line
		if strings.Contains(p.Frames[s.Stack[0]].File, "hotlines.c") && want[line] != "" {
			seen += s.Count
			if got := strings.Join(way(p, steps), " "); got != want[line] {
				odd += s.Count
				t.Logf("thread %d, line %d: %s, want %s", s.Thread, line, got, want[line])
				for _, f := range s.Stack {
					t.Logf("    %+v", p.Frames[f])
				}
			}
			threads[fmt.Sprint(line, " ", s.Thread)] = true
		}
		if r := p.Nodes[s.Node].Region; r >= 0 && p.Regions[r].Construct.IsParallel() && p.Regions[r].Location.Function == "loop" {
			loop += s.Count
			by[line] += s.Count
		}
	}
	// A probed function returns by a system call. For some instructions of that call, the thread
	// has the stack pointer of before the call, and the place of after it. See
	// sys_uretprobe of Linux 6.11 (arch/x86/kernel/uprobes.c): regs->sp -= sizeof(r11_cx_ax).
	// And clang-19 gives the instruction behind the loop of five the loop's line, though that
	// instruction is one of all. A single sample there is more than a thousandth of a few hundred.
	if odd > 1 && float64(odd) > 0.001*float64(seen) {
		t.Errorf("of %d samples, %d have another stack than their line", seen, odd)
	}
	if float64(cut) > 0.02*float64(all) {
		t.Errorf("of %d samples, %d stacks are cut", all, cut)
	}
	for mark, share := range map[string]float64{"FIVE": 50, "THREE": 30, "TWO": 20} {
		// Where a sample is dear, few are taken. A share of few may be off by chance. It may not be
		// off by so much that a line's samples could be those of another one.
		chance := 2 * math.Sqrt(share*(100-share)/float64(max(1, loop)))
		if got := 100 * float64(by[marks[mark]]) / float64(loop); math.Abs(got-share) > max(tolerance, min(chance, 10)) {
			wrong = append(wrong, fmt.Sprintf("%s has %.1f%% of %d samples in the loop, want %.0f%%", mark, got, loop, share))
		}
		for thread := range 2 {
			if !threads[fmt.Sprint(marks[mark], " ", thread)] {
				t.Errorf("%s was not found on thread %d", mark, thread)
			}
		}
	}
	if thread := fmt.Sprint(marks["LATE"], " ", 1); threads[thread] || seen == 0 {
		t.Error("thread 1 is never late")
	}
	t.Logf("%d samples, %d of them cut; %d in the loop: %v", all, cut, loop, by)
	return wrong
}

// TestHotLines: shares of lines and whole call stacks, of code without frame
// pointers, and the profile as others read it.
func TestHotLines(t *testing.T) {
	for _, compiler := range []string{"gcc", "clang-14", "clang-19"} {
		t.Run(compiler, func(t *testing.T) {
			bin := testbin.Build(t, "hotlines.c", testbin.Options{Compiler: compiler, Flags: []string{"-O2", "-g", "-fomit-frame-pointer"}})
			var s *session
			timed(t, func() func(time.Duration) []string {
				s = clean(t, options{env: []string{"OMP_NUM_THREADS=2", "OMP_WAIT_POLICY=passive"}, flags: []string{"--sample", "task-clock:1999"}}, bin, "300")
				wrong := checkHotLines(t, s.main, 3)
				// The tool may have had no core for a while.
				if m := s.main.Meta.Sampling; m.Lost > 0 || m.Throttled > 0 {
					wrong = append(wrong, fmt.Sprintf("lost %d, throttled %d", m.Lost, m.Throttled))
				}
				var weight float64
				for i := range s.main.Samples {
					weight += float64(s.main.Samples[i].Weight)
				}
				cpu := float64(s.main.Meta.UserTime + s.main.Meta.SysTime)
				return func(late time.Duration) []string {
					// The interrupts themselves are time of the samples' clock only, and for a
					// while without its processor a virtual machine gives one.
					if math.Abs(weight-cpu) > 0.1*cpu+float64(late) {
						return append(wrong, fmt.Sprintf("samples stand for %.3f s, the process ran for %.3f s", weight/1e9, cpu/1e9))
					}
					return wrong
				}
			})
			file := filepath.Join(s.dir, "profile.samples.pb.gz")
			checkSamplesFile(t, file)
			for _, view := range []string{"-top", "-traces"} {
				if out, err := exec.Command("go", "tool", "pprof", view, file).CombinedOutput(); err != nil || !strings.Contains(string(out), "three") {
					t.Errorf("go tool pprof %s: %v\n%s", view, err, out)
				}
			}
			text, err := os.ReadFile(filepath.Join(s.dir, "profile.ompp.txt"))
			if line := fmt.Sprintf("hotlines.c:%d five\n", hotlines(t)["FIVE"]); err != nil || !strings.Contains(string(text), line) {
				t.Errorf("the report (%v) lacks %q", err, line)
			}
		})
	}
}

func checkSamplesFile(t *testing.T, file string) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	p, err := pprof.Parse(f)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.CheckValid(); err != nil {
		t.Error(err)
	}
	for _, s := range p.Sample {
		if len(s.Label["process"]) != 1 || s.Value[0] <= 0 || s.Value[1] <= 0 {
			t.Errorf("sample %+v", s)
		}
	}
}

package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ompp-attach/analysis"
	"ompp-attach/event"
	"ompp-attach/internal/testbin"
	"ompp-attach/profile"
)

// processorTime is what a program takes without the tool.
func processorTime(t *testing.T, bin string, env []string, args ...string) time.Duration {
	t.Helper()
	cmd := exec.Command(bin, args...)
	cmd.Env = append(os.Environ(), env...)
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
}

// In a storm the report says that times are rough. What it says of the probes' cost is the
// processor time that they took. It shows no findings that are theirs.
func TestStormsAreTold(t *testing.T) {
	bin := testbin.Build(t, "dense.c", build{"gcc", "-O2 -g"}.options())
	for _, tc := range []struct {
		kind, size string
		threads    int
		finding    string // that is the probes'
	}{
		{"ua", "5", 1, ""}, // nobody waits: the cost can be told from the program's own time
		{"uts", "1500", 2, analysis.WaitAtTaskwait},
	} {
		t.Run(tc.kind, func(t *testing.T) {
			timed(t, func() func(time.Duration) []string {
				env := threadsEnv(tc.threads)
				bare := processorTime(t, bin, env, tc.kind, tc.size)
				s := clean(t, options{env: env}, bin, tc.kind, tc.size)
				p := analysis.Adjust(s.main)
				text, err := os.ReadFile(filepath.Join(s.dir, "profile.ompp.txt"))
				if err != nil {
					t.Fatal(err)
				}
				const rough = "Probes took more than a tenth of the time of the program"
				if !strings.Contains(string(text), rough) {
					t.Errorf("nothing is said of rough times:\n%s", text)
				}
				var wrong []string // a thread without its processor makes the others wait, too
				for _, x := range analysis.Properties(p) {
					if x.Name == tc.finding {
						wrong = append(wrong, fmt.Sprintf("%s is the probes':\n%s", tc.finding, text))
					}
				}
				told, took := time.Duration(analysis.ProbeCost(p)), time.Duration(p.Meta.UserTime+p.Meta.SysTime)-bare
				if most := profile.MostInHits(p.Meta.UserTime + p.Meta.SysTime); int64(told) > most+1 {
					t.Errorf("%s are told of %d ns of user time and %d of system time", told, p.Meta.UserTime, p.Meta.SysTime)
				}
				t.Logf("%s without probes, %s more with them, %s are told", bare, took, told)
				// Where others have the processors, hits seem dearer to calibration than they are.
				return func(late time.Duration) []string {
					if tc.threads == 1 && (float64(told) < 0.65*float64(took) || float64(told) > 1.2*float64(took)+float64(late)) {
						return append(wrong, fmt.Sprintf("probes took %s of processor time, %s are told", took, told))
					}
					return wrong
				}
			})
		})
	}
}

// A program that hardly meets a probe keeps its findings, and nothing is said of rough times.
func TestQuietProgramsKeepTheirFindings(t *testing.T) {
	atOnce(t)
	bin := testbin.Build(t, "imbalance.c", build{"gcc", "-O2 -g"}.options())
	s := clean(t, options{env: threadsEnv(2)}, bin)
	waits := false
	for _, x := range analysis.Properties(analysis.Adjust(s.main)) {
		c := s.main.Regions[x.Region].Construct
		waits = waits || c.IsParallel() || c == event.Loop || c == event.Barrier
	}
	if doubtful := analysis.Disjoint.Findings(s.main).Probe; !waits || len(doubtful) > 0 || len(analysis.MuchProbed(s.main)) > 0 {
		t.Errorf("left out: %+v, much probed: %+v", doubtful, analysis.MuchProbed(s.main))
	}
}

package e2e

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"ompp-attach/analysis"
	"ompp-attach/internal/testbin"
	"ompp-attach/profile"
)

// Samples tell how long atomic operations take, which no probe can: equal to
// the program's own clock around them.
func TestHotAtomics(t *testing.T) {
	marks := lineMarks(t, "hotatomics.c")
	for _, b := range []build{{"gcc", "-O0 -g"}, {"gcc", "-O3 -g"}, {"clang-14", "-O2 -g"}, {"clang-19", "-O3 -g"}} {
		t.Run(b.String(), func(t *testing.T) {
			bin := testbin.Build(t, "hotatomics.c", b.options())
			var s *session
			timed(t, func() func(time.Duration) []string {
				s = clean(t, options{env: threadsEnv(2), flags: []string{"--sample", "task-clock:1999"}}, bin, "1000")
				wrong := wrongAtomics(t, s, marks)
				return func(time.Duration) []string { return wrong }
			})
			text, err := os.ReadFile(filepath.Join(s.dir, "profile.ompp.txt"))
			if err != nil || !strings.Contains(string(text), "; in atomic operations ") || strings.Contains(string(text), " (atomic)\n") != atomicShown(s.main) {
				t.Errorf("the report (%v) does not show them, or others:\n%s", err, text)
			}
		})
	}
}

// atomicShown reports whether one of the lines that the text report shows of a region, the three
// hottest, has atomic operations. Chance decides that: the program's loops are equally hot.
func atomicShown(p *profile.Profile) bool {
	return slices.ContainsFunc(analysis.HotLines(p), func(h analysis.Hot) bool {
		return slices.ContainsFunc(h.Lines[:min(3, len(h.Lines))], func(l analysis.HotLine) bool {
			return l.Frame >= 0 && p.Frames[l.Frame].Atomic
		})
	})
}

// wrongAtomics lists the lines whose share of the samples is not that of the time
// that the program itself printed.
func wrongAtomics(t *testing.T, s *session, marks map[string]int) (wrong []string) {
	t.Helper()
	// Percentage points. There are a thousand samples or more. In a virtual machine, shares of
	// samples by a timer were up to 5 points off, and those of perf up to 3 (docs/reading.md).
	const tolerance = 8
	var want [3]float64
	if _, err := fmt.Sscan(s.stdout, &want[0], &want[1], &want[2]); err != nil {
		t.Fatalf("%q: %v", s.stdout, err)
	}
	var all, other float64
	by := map[int]float64{}
	for i := range s.main.Samples {
		sample := &s.main.Samples[i]
		all += float64(sample.Weight)
		if len(sample.Stack) == 0 {
			continue
		}
		if f := s.main.Frames[sample.Stack[0]]; f.Atomic && f.Function != "" && strings.HasSuffix(f.File, "hotatomics.c") {
			by[f.Line] += float64(sample.Weight)
		} else if f.Atomic {
			other += float64(sample.Weight)
		}
	}
	for i, mark := range []string{"INT", "DOUBLE", "CAPTURE"} {
		// The line of a captured operation is the statement's or the directive's.
		got := by[marks[mark]] + by[marks[mark]-1]
		if share := 100 * got / all; math.Abs(share-want[i]) > tolerance {
			wrong = append(wrong, fmt.Sprintf("%s has %.1f%% of the samples, %.1f%% of the time", mark, share, want[i]))
		}
	}
	if other > 0 {
		t.Errorf("%.1f%% of the samples are in atomic operations elsewhere", 100*other/all)
	}
	return wrong
}

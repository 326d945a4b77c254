package e2e

import (
	"fmt"
	"strings"
	"testing"

	"ompp-attach/event"
	"ompp-attach/internal/testbin"
	"ompp-attach/profile"
)

// A sample may hit while the call by which a critical is entered returns, and before that return is
// told. The thread then stands on the critical's first line, so the sample is no time of the region
// around it. Most of the samples on that line are such, as the return's probe takes longer than
// what stands there.
func TestSampleAtReturn(t *testing.T) {
	inside := lineMarks(t, "turns.c")["INSIDE"]
	for _, compiler := range []string{"gcc", "clang-19"} {
		t.Run(compiler, func(t *testing.T) {
			bin := testbin.Build(t, "turns.c", testbin.Options{Compiler: compiler, Flags: []string{"-O2", "-g"}})
			env := []string{"OMP_NUM_THREADS=2", "OMP_WAIT_POLICY=passive"}
			var all, between, outside uint64
			before := readMachine(t)
			// On a busy machine a run brings few samples there. It brings fewer where a hit takes
			// microseconds, as on some virtual machines.
			seconds := "1"
			for runs := 0; all < 150 && runs < 12; runs++ {
				p := clean(t, options{env: env, flags: []string{"--counters", "none", "--sample", "task-clock:4999"}}, bin, seconds).main
				for i := range p.Samples {
					s := &p.Samples[i]
					if len(s.Stack) == 0 || s.Cut {
						continue
					}
					if f := &p.Frames[s.Stack[0]]; f.Line != inside || !strings.HasSuffix(f.File, "turns.c") {
						continue
					}
					all += s.Count
					r := p.Nodes[s.Node].Region
					switch {
					case r >= 0 && p.Regions[r].Construct == event.Critical:
					case s.Phase == profile.PhaseProbe:
						between += s.Count
					default:
						outside += s.Count
					}
				}
				if all < 25 {
					seconds = "4"
				}
			}
			t.Logf("of %d samples in the critical, %d are charged to a probe around it and %d to what is around it", all, between, outside)
			if all < 100 {
				judged(t, before, fmt.Sprintf("%d samples in the critical: too few to tell", all))
				return
			}
			if outside*100 > all {
				t.Errorf("of %d samples in the critical, %d are charged to what is around it", all, outside)
			}
			if between*5 > all {
				t.Errorf("of %d samples in the critical, %d are charged to a probe around it", all, between)
			}
		})
	}
}

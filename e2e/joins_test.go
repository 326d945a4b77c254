package e2e

import (
	"slices"
	"testing"

	"ompp-attach/internal/testbin"
)

// TestJoins compares regions of libomp that begin and end in all ways with OMPT's counts. It does
// so where all ends are measured, and with --derive-edges. There the ends of workers and of threads
// that forked have places of their own, and returns are left out.
func TestJoins(t *testing.T) {
	atOnce(t)
	env := append(newerEnv(4), "OMP_MAX_ACTIVE_LEVELS=4")
	for _, b := range []build{{"clang-19", "-O2 -g"}, {"clang-19", "-O0 -g"}} {
		t.Run(b.String(), func(t *testing.T) {
			bin := testbin.Build(t, "joins.c", b.options())
			truth := testbin.RunTruth(t, bin, []string{"40"}, append(slices.Clone(env), "TRUTH_BODIES=1"))
			for _, flags := range [][]string{nil, {"--derive-edges"}} {
				flags = append(slices.Clone(flags), "--counters", "none", "--sample", "off")
				p := clean(t, options{env: env, flags: flags}, bin, "40").main
				complete(t, p)
				balanced(t, p)
				// libomp makes two barriers of one that is cancelled.
				compare(t, slices.DeleteFunc(kmpcChecks(p, truth), func(c check) bool { return c.name == "BARRIER" }))
				if p.Meta.Unmatched > 0 || p.Meta.Partial > 0 {
					t.Errorf("%d ends without a beginning, %d regions seen in part", p.Meta.Unmatched, p.Meta.Partial)
				}
				if t.Failed() {
					t.Fatalf("%q: profile:\n%s", flags, dump(p))
				}
			}
		})
	}
}

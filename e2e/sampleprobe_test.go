package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ompp-attach/internal/testbin"
	"ompp-attach/profile"
)

// If a program's probes take a good part of its time, the samples say so. The samples of phase
// probe are about the share that the hits' cost predicts. They lack what comes due while the kernel
// lets no interrupt in, which hits user code right behind the probe.
func TestSamplesOfProbes(t *testing.T) {
	const least, most = 0.5, 1.5 // of what the cost predicts
	for _, c := range []struct {
		build build
		flags []string
	}{
		{build{"gcc", "-O1 -g"}, nil},
		{build{"gcc", "-O2 -g"}, []string{"--trace"}},
		{build{"clang-19", "-O2 -g"}, nil},
	} {
		t.Run(c.build.String()+strings.Join(c.flags, " "), func(t *testing.T) {
			bin := testbin.Build(t, "probeheavy.c", c.build.options())
			var got, want float64
			for range 8 { // of a busy machine, some runs may not tell
				flags := append([]string{"--counters", "none", "--sample", "task-clock:1999"}, c.flags...)
				s := clean(t, options{env: threadsEnv(1), flags: flags}, bin, "30000", "4000")
				var all, probes float64
				for i := range s.main.Samples {
					sample := &s.main.Samples[i]
					all += float64(sample.Weight)
					if sample.Phase == profile.PhaseProbe {
						probes += float64(sample.Weight)
					}
				}
				o := s.main.Meta.Overhead
				if o == nil || o.Failed != "" || all == 0 {
					t.Fatalf("overhead %+v, %.0f ns sampled", o, all)
				}
				got, want = probes/all, float64(o.Total())/all
				t.Logf("%.1f%% of the samples are in probes, whose cost is %.1f%% of the time sampled", 100*got, 100*want)
				if want < 0.1 {
					t.Fatal("too few probes to tell")
				}
				if got > least*want && got < most*want {
					text, err := os.ReadFile(filepath.Join(s.dir, "profile.ompp.txt"))
					if err != nil || !strings.Contains(string(text), "Samples of phase probe are time of the measurement itself") {
						t.Errorf("the report (%v) does not say what they are", err)
					}
					return
				}
			}
			t.Errorf("%.1f%% of the samples are in probes, whose cost is %.1f%% of the time sampled", 100*got, 100*want)
		})
	}
}

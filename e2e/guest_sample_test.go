package e2e

import (
	"bytes"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"ompp-attach/internal/testbin"
	"ompp-attach/profile"
)

// guestSamples: sampling by a hardware unit's cycles, whose number is known from counting them, and
// by the clock.
func guestSamples(t *testing.T, exe, kernel string) guestPart {
	bin := cross(t, beside(exe, "hotlines"), "-O2", "-fomit-frame-pointer", "-g", "-fopenmp", filepath.Join(testbin.Repo(t), "testdata", "programs", "hotlines.c"))
	const period = 2000003
	const tolerance = 10 // percent, of 600 samples by the clock: four standard deviations
	// The emulator runs its processors in turns, from one timer to the next. So samples by the
	// clock may fall in step with rounds of one length, and find a few places only. With at least
	// one of these lengths, the shares must be right. With the first length, a round of the loop
	// takes about as long as from one sample to the next.
	lengths := []string{"280 143000", "440 91000", "170 235000"}
	work := "hotlines " + lengths[0]
	script := "set -e; export OMP_NUM_THREADS=2 OMP_WAIT_POLICY=passive\n" +
		fmt.Sprintf("ompp-attach run -q --sample cycles:u --sample-period %d -o /tmp/c -- %s\n", period, work) +
		fromGuest("/tmp/c/profile.json.gz")
	// While another process has the host's processor, the emulated unit counts on and interrupts
	// once, however often the count comes round. In at least one of these runs, all samples must
	// come.
	const runs = 3
	for i := range runs {
		script += fmt.Sprintf("OMP_NUM_THREADS=1 ompp-attach run -q --counters none --sample cycles --sample-period %d -o /tmp/%d -- hotlines 20 1000000\n", period, i) +
			fromGuest(fmt.Sprintf("/tmp/%d/profile.json.gz", i))
	}
	for i, length := range lengths {
		script += fmt.Sprintf("ompp-attach run -q --sample task-clock -o /tmp/t%d -- hotlines %s\n", i, length) +
			fromGuest(fmt.Sprintf("/tmp/t%d/profile.json.gz", i))
	}
	return guestPart{"samples", script, []string{exe, bin}, func(t *testing.T, out string) {
		read := func(dir string) *profile.Profile {
			p, err := profile.Decode(bytes.NewReader(guestFile(t, out, dir+"/profile.json.gz")))
			if err != nil {
				t.Fatal(err)
			}
			if !strings.HasPrefix(p.Meta.Kernel, kernel+".") {
				t.Errorf("measured on %s", p.Meta.Kernel)
			}
			return p
		}
		for _, w := range checkHotLines(t, read("/tmp/c"), tolerance) {
			t.Errorf("by cycles: %s", w)
		}
		var wrong []string
		right := 0
		for i, length := range lengths {
			w := checkHotLines(t, read(fmt.Sprintf("/tmp/t%d", i)), tolerance)
			if len(w) == 0 {
				right++
			}
			wrong = append(wrong, fmt.Sprintf("hotlines %s: %q", length, w))
		}
		if right == 0 {
			t.Errorf("by the clock, no length of rounds has the right shares:\n%s", strings.Join(wrong, "\n"))
		}
		// A cycle of the emulated unit takes a nanosecond. Both modes: of user mode
		// alone, the kernel drops an overflow that finds the thread in the kernel
		// already (kernel/events/core.c, sample_is_allowed). Without counters: on arm64 a
		// switch of threads that have events of their own forgets an overflow that is
		// pending (arm_pmuv3.c, armv8pmu_disable_intens).
		all := 0
		wrong = nil
		for i := range runs {
			m := &read(fmt.Sprintf("/tmp/%d", i)).Meta
			cycles, n := float64(m.UserTime+m.SysTime), float64(m.Sampling.Taken)
			if math.Abs(n*period-cycles) <= 0.05*cycles {
				all++
			}
			if wrong = append(wrong, fmt.Sprintf("%.0f samples of %.0f cycles", n, cycles)); n*period > 1.05*cycles {
				t.Errorf("more than one sample per %d cycles: %s", period, wrong[i])
			}
		}
		if all == 0 {
			t.Errorf("in no run there is one sample per %d cycles: %s", period, strings.Join(wrong, ", "))
		}
	}}
}

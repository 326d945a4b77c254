package e2e

import (
	"bytes"
	"fmt"
	"math"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"ompp-attach/attribution"
	"ompp-attach/internal/testbin"
)

// TestGuestSamples: sampling by a hardware unit's cycles, whose number is known
// from counting them, and by the clock, on another architecture and older
// kernels.
func TestGuestSamples(t *testing.T) {
	if testing.Short() {
		t.Skip("emulating a machine takes a minute")
	}
	needGuest(t)
	dir, repo := t.TempDir(), testbin.Repo(t)
	bin := cross(t, filepath.Join(dir, "hotlines"), "-O2", "-fomit-frame-pointer", "-g", "-fopenmp", filepath.Join(repo, "testdata", "programs", "hotlines.c"))
	count := cross(t, filepath.Join(dir, "perf_total"), "-O2", filepath.Join(repo, "testdata", "truth", "perf_total.c"))
	const period = 2000003
	const tolerance = 7 // percent, of 600 samples by the clock
	script := "set -e; export OMP_NUM_THREADS=2 OMP_WAIT_POLICY=passive\n" +
		fmt.Sprintf("OMP_NUM_THREADS=1 ompp-attach run -q --sample cycles:u --sample-period %d -o /tmp/1 -- perf_total /tmp/cycles hotlines 20 1000000\n", period) +
		"mv /tmp/1/profile.pid*.json.gz /tmp/1/profile.json.gz\n" + // perf_total's child
		fmt.Sprintf("ompp-attach run -q --sample cycles:u --sample-period %d -o /tmp/c -- hotlines 40 1000000\n", period) +
		"ompp-attach run -q --sample task-clock -o /tmp/t -- hotlines 40 1000000\n" +
		fromGuest("/tmp/1/profile.json.gz") + fromGuest("/tmp/c/profile.json.gz") + fromGuest("/tmp/cycles") + fromGuest("/tmp/t/profile.json.gz")
	exe := guestTool(t, dir)
	for _, kernel := range []string{"6.1", "6.12"} {
		t.Run("kernel "+kernel, func(t *testing.T) {
			out := guest(t, kernel, "cortex-a57", script, exe, bin, count)
			read := func(dir string) *attribution.Profile {
				p, err := attribution.Decode(bytes.NewReader(guestFile(t, out, dir+"/profile.json.gz")))
				if err != nil {
					t.Fatal(err)
				}
				if !strings.HasPrefix(p.Meta.Kernel, kernel+".") {
					t.Errorf("measured on %s", p.Meta.Kernel)
				}
				return p
			}
			checkHotLines(t, read("/tmp/c"), tolerance)
			checkHotLines(t, read("/tmp/t"), tolerance)
			// Of one thread, which hardly enters the kernel: there, an event of user mode
			// that overflowed just before is dropped (kernel/events/core.c, sample_is_allowed).
			cycles, err := strconv.ParseFloat(strings.TrimSpace(string(guestFile(t, out, "/tmp/cycles"))), 64)
			if err != nil {
				t.Fatal(err)
			}
			if n := float64(read("/tmp/1").Meta.Sampling.Taken); math.Abs(n*period-cycles) > 0.01*cycles {
				t.Errorf("%.0f samples, one per %d cycles, of %.0f cycles", n, period, cycles)
			}
		})
	}
}

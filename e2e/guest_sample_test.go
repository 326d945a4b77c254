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
	// The emulated unit's cycles are nanoseconds, also of those in which the host
	// ran something else: what then takes longer than a period loses samples.
	const period = 5000011
	const tolerance = 8 // percent, of 450 samples
	script := "set -e; export OMP_NUM_THREADS=2 OMP_WAIT_POLICY=passive\n" +
		fmt.Sprintf("ompp-attach run -q --sample cycles:u --sample-period %d -o /tmp/c -- perf_total /tmp/cycles hotlines 40 1000000\n", period) +
		"mv /tmp/c/profile.pid*.json.gz /tmp/c/profile.json.gz\n" + // perf_total's child
		"ompp-attach run -q --sample task-clock -o /tmp/t -- hotlines 40 1000000\n" +
		fromGuest("/tmp/c/profile.json.gz") + fromGuest("/tmp/cycles") + fromGuest("/tmp/t/profile.json.gz")
	exe := guestTool(t, dir)
	for _, kernel := range []string{"6.1", "6.12"} {
		t.Run("kernel "+kernel, func(t *testing.T) {
			out := guest(t, kernel, "cortex-a57", script, exe, bin, count)
			for _, by := range []string{"/tmp/c", "/tmp/t"} {
				p, err := attribution.Decode(bytes.NewReader(guestFile(t, out, by+"/profile.json.gz")))
				if err != nil {
					t.Fatal(err)
				}
				if !strings.HasPrefix(p.Meta.Kernel, kernel+".") {
					t.Errorf("measured on %s", p.Meta.Kernel)
				}
				checkHotLines(t, p, tolerance)
				if by != "/tmp/c" {
					continue
				}
				cycles, err := strconv.ParseFloat(strings.TrimSpace(string(guestFile(t, out, "/tmp/cycles"))), 64)
				if err != nil {
					t.Fatal(err)
				}
				if n := float64(p.Meta.Sampling.Taken); math.Abs(n*period-cycles) > 0.03*cycles {
					t.Errorf("%.0f samples, one per %d cycles, of %.0f cycles", n, period, cycles)
				}
			}
		})
	}
}

package e2e

import (
	"bytes"
	"path/filepath"
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
	script := "set -e; export OMP_NUM_THREADS=2 OMP_WAIT_POLICY=passive\n" +
		"ompp-attach run -q --sample cycles:u --sample-period 1000003 -o /tmp/c -- hotlines 40 1000000\n" +
		"ompp-attach run -q --sample task-clock -o /tmp/t -- hotlines 40 1000000\n" +
		fromGuest("/tmp/c/profile.json.gz") + fromGuest("/tmp/t/profile.json.gz")
	exe := guestTool(t, dir)
	for _, kernel := range []string{"6.1", "6.12"} {
		t.Run("kernel "+kernel, func(t *testing.T) {
			out := guest(t, kernel, "cortex-a57", script, exe, bin)
			for _, by := range []string{"/tmp/c", "/tmp/t"} {
				p, err := attribution.Decode(bytes.NewReader(guestFile(t, out, by+"/profile.json.gz")))
				if err != nil {
					t.Fatal(err)
				}
				if !strings.HasPrefix(p.Meta.Kernel, kernel+".") {
					t.Errorf("measured on %s", p.Meta.Kernel)
				}
				t.Logf("%s: %+v", by, *p.Meta.Sampling)
				checkHotLines(t, p, 5)
			}
		})
	}
}

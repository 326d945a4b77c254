package e2e

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"ompp-attach/internal/testbin"
	"ompp-attach/signature"
)

// TestPredictCannon: the signature of Cannon's algorithm has the messages and regions that the
// algorithm has. So their numbers on other ranks can be foretold. predict learns from runs and
// compares with others. Times are the machine's, and not looked at.
func TestPredictCannon(t *testing.T) {
	t.Parallel()
	needTool(t)
	bin := testbin.OpenMPI.Build(t, "demo/cannon.c", testbin.Options{Flags: []string{"-O2", "-lm"}})
	dir := t.TempDir()
	// Long enough that work is left when the time without a core is taken off.
	const size, times = 360, 3
	measure := func(name string, ranks, threads int) string {
		out := filepath.Join(dir, name)
		line := testbin.OpenMPI.Launch(ranks, bin, strconv.Itoa(size), strconv.Itoa(times))
		cmd := exec.Command(tool, append([]string{"run", "--quiet", "-o", out, "--"}, line...)...)
		cmd.Env = append(os.Environ(), append(testbin.OpenMPI.LaunchEnv(t), "OMP_WAIT_POLICY=passive")...)
		cmd.Env = append(cmd.Env, threadsEnv(threads)...)
		if b, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", name, err, b)
		}
		return out
	}
	ask := func(args ...string) []byte {
		var said strings.Builder
		cmd := exec.Command(tool, args...)
		cmd.Stderr = &said
		b, err := cmd.Output()
		if err != nil {
			t.Fatalf("%v: %v: %s", args, err, said.String())
		}
		return b
	}
	runs := []string{measure("1x1", 1, 1), measure("1x2", 1, 2), measure("4x1", 4, 1)}
	for side, run := range map[int]string{2: runs[2], 3: measure("9x2", 9, 2)} {
		s, err := signature.Read(strings.NewReader(string(ask("signature", run))))
		if err != nil {
			t.Fatal(err)
		}
		var sent, bytes, regions float64
		for _, c := range s.Calls {
			sent += c.Sends.Mean
			bytes += c.Sent.Mean
		}
		for _, g := range s.Regions {
			if g.Construct.IsParallel() {
				regions += float64(g.Starts) / float64(s.Ranks)
			}
		}
		block := size / side
		messages := float64(2 * side * times)
		// MPI_Reduce sends an int of each rank but the root.
		reduced := 4 * float64(s.Ranks-1) / float64(s.Ranks)
		if sent != messages || bytes != messages*float64(8*block*block)+reduced || regions != float64(side*times) {
			t.Errorf("%d ranks: %g messages, %g bytes, %g regions; want %g, %g, %d", s.Ranks, sent, bytes, regions,
				messages, messages*float64(8*block*block)+reduced, side*times)
		}
		if p := s.Times; p == nil || p.Ranks != side*side || p.Work <= 0 || p.MPI <= 0 {
			t.Errorf("times: %+v", p)
		}
	}
	app := filepath.Join(dir, "app.json")
	if err := os.WriteFile(app, ask("signature", runs[2]), 0o644); err != nil {
		t.Fatal(err)
	}
	var f struct {
		Cells []struct {
			Ranks, Threads int
			Time           float64   `json:"predicted_s"`
			Measured       []float64 `json:"measured_s"`
			Oversubscribed bool
		}
		Compared []struct{ Ranks, Threads int }
		CPUs     int
	}
	if err := json.Unmarshal(ask("predict", "--format", "json", "--cpus", "2", "--cores", "18", "--against", filepath.Join(dir, "9x2"), runs[0], runs[1], app), &f); err != nil {
		t.Fatal(err)
	}
	if len(f.Compared) != 4 || f.Compared[3].Ranks != 9 || f.CPUs != 2 {
		t.Errorf("%+v", f.Compared)
	}
	for _, c := range f.Cells {
		if c.Time <= 0 || c.Oversubscribed != (c.Ranks*c.Threads > 2) || (c.Ranks == 9 && c.Threads == 2) && len(c.Measured) != 1 {
			t.Errorf("%+v", c)
		}
	}
}

package e2e

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"ompp-attach/internal/testbin"
	"ompp-attach/profile"
)

// The hits at the entries of calls that a level's library makes itself write no record. They are
// counted all the same: the profile has all hits of the probes.
func TestHitsOfInnerCalls(t *testing.T) {
	atOnce(t)
	needTool(t)
	dir, src := t.TempDir(), filepath.Join(testbin.Repo(t), "testdata/programs/innercalls.c")
	bin := filepath.Join(dir, "innercalls")
	for _, line := range [][]string{
		{"-DINNER", "-shared", "-fPIC", "-o", filepath.Join(dir, "libinner.so"), src},
		{"-o", bin, src, "-L" + dir, "-linner", "-Wl,-rpath," + dir},
	} {
		if out, err := exec.Command("gcc", append([]string{"-O1", "-g", "-fno-optimize-sibling-calls"}, line...)...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", line, err, out)
		}
	}
	const n, m = 7, 50
	s := clean(t, options{flags: []string{"--level", "inner=libinner", "--sample", "off"}}, bin, fmt.Sprint(n), fmt.Sprint(m))
	got := map[string]uint64{}
	levelCounts(s.main, got)
	sameCounts(t, got, map[string]uint64{"inner/inner_outer": n, "inner/inner_leaf": 1, "inner/inner_twice": 1})
	const inner, outside = 3*n*m + 1, n + 2
	if unrecorded, all := hitsOf(t, s.main); unrecorded != inner || all != 2*(inner+outside) {
		t.Errorf("%d hits without a record, %d in all; want %d and %d", unrecorded, all, inner, 2*(inner+outside))
	}
}

// hitsOf returns the hits of a profile's probes that wrote no record, and all hits.
func hitsOf(t *testing.T, p *profile.Profile) (unrecorded, all uint64) {
	t.Helper()
	if p.Meta.Overhead == nil || p.Meta.LostHits != 0 {
		t.Fatalf("%+v, %d hits lost", p.Meta.Overhead, p.Meta.LostHits)
	}
	for _, h := range p.Meta.Overhead.Probes {
		all += h.Hits
		if strings.HasSuffix(h.Probe, "unrecorded") {
			if unrecorded += h.Hits; h.Before <= 0 {
				t.Errorf("%+v has no cost", h)
			}
		}
	}
	if p.Meta.Hits != all {
		t.Errorf("%d hits in all, by kind %d", p.Meta.Hits, all)
	}
	return unrecorded, all
}

// For a region of one thread, libomp calls an entry point of its own, whose probe is hit and writes
// no record. These hits are counted.
func TestHitsOfSerializedRegions(t *testing.T) {
	atOnce(t)
	needTool(t)
	const constructs = 1000
	bin := testbin.Build(t, "probeheavy.c", build{"clang-19", "-O2 -g"}.options())
	s := clean(t, options{env: threadsEnv(1), flags: []string{"--only", "lock", "--sample", "off"}}, bin, fmt.Sprint(constructs), "1")
	// One of each other part, and one in front.
	const regions = constructs/2 + 6
	if unrecorded, _ := hitsOf(t, s.main); unrecorded != regions {
		t.Errorf("%d hits without a record, %d regions\n%s", unrecorded, regions, dump(s.main))
	}
}

package e2e

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"ompp-attach/internal/testbin"
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
	o := s.main.Meta.Overhead
	if o == nil || s.main.Meta.LostHits != 0 {
		t.Fatalf("%+v, %d hits lost", o, s.main.Meta.LostHits)
	}
	unrecorded, all := uint64(0), uint64(0)
	for _, h := range o.Probes {
		all += h.Hits
		if strings.HasSuffix(h.Probe, "unrecorded") {
			if unrecorded += h.Hits; h.Before <= 0 {
				t.Errorf("%+v has no cost", h)
			}
		}
	}
	const inner, outside = 3*n*m + 1, n + 2
	if unrecorded != inner || all != 2*(inner+outside) || s.main.Meta.Hits != all {
		t.Errorf("%d hits without a record, %d in all (%d); want %d and %d", unrecorded, all, s.main.Meta.Hits, inner, 2*(inner+outside))
	}
}

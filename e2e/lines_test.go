package e2e

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"ompp-attach/internal/testbin"
	"ompp-attach/profile"
)

// TestLines: counts are at the lines of their constructs, where constructs of one kind follow one
// another. align.c says how often each thread executes each.
func TestLines(t *testing.T) {
	atOnce(t)
	const threads = 3
	src, err := os.ReadFile(filepath.Join(testbin.Repo(t), "testdata", "programs", "align.c"))
	if err != nil {
		t.Fatal(err)
	}
	marked := regexp.MustCompile(`^#pragma omp .* // ([0-9]+)$`)
	want := map[int]uint64{}
	for n, line := range strings.Split(string(src), "\n") {
		if m := marked.FindStringSubmatch(line); m != nil {
			if want[n+1], err = strconv.ParseUint(m[1], 10, 64); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, compiler := range []string{"gcc", "clang-14", "clang-19"} {
		for _, level := range []string{"-O0", "-O2", "-O3"} {
			t.Run(compiler+" "+level, func(t *testing.T) {
				b := build{compiler, level + " -g"}
				bin := testbin.Build(t, "align.c", b.options())
				p := clean(t, options{env: threadsEnv(threads)}, bin).main
				for line, n := range want {
					got := linesCount(p, line)
					for th := range threads {
						if got[th] != n {
							t.Errorf("line %d, thread %d: executed %d times, want %d", line, th, got[th], n)
						}
					}
				}
				for _, r := range p.Regions {
					if want[r.Location.Begin] == 0 || r.Location.Mark != profile.Exact {
						t.Errorf("%s stands at line %d, %v", r.Construct, r.Location.Begin, r.Location.Mark)
					}
				}
				if t.Failed() {
					t.Logf("profile:\n%s", dump(p))
				}
			})
		}
	}
}

// linesCount is how often each thread executed the construct of a line.
func linesCount(p *profile.Profile, line int) map[int]uint64 {
	counts := map[int]uint64{}
	for _, n := range p.Nodes {
		if n.Region < 0 || p.Regions[n.Region].Location.Begin != line {
			continue
		}
		for _, s := range n.Stats {
			counts[p.Threads[s.Thread].Num] += s.Exec.C
		}
	}
	return counts
}

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"ompp-attach/internal/testbin"
	"ompp-attach/profile"
)

// Snapshots that are kept, at intervals and on request, tell what happened between them. The
// windows add up to the final profile, and the profile to the program's own counts.
func TestIncrementalProfiles(t *testing.T) {
	atOnce(t)
	bin := testbin.Build(t, "longrun.c", testbin.Options{Flags: []string{"-O1", "-g"}})
	s := start(t, "run", "--every", "150ms", "--snapshot-rest", "0", "--", bin, aLongTime)
	pid := snapshotOf(t, filepath.Join(s.dir, "profile.json.gz")).Meta.PID
	kept := func(n int) string { return filepath.Join(s.dir, fmt.Sprintf("snapshot.%d.json.gz", n)) }
	asked := strings.TrimSpace(toolSays(t, "dump", "--pid", strconv.Itoa(pid)))
	if p := decode(t, asked); p.Meta.PID != pid || p.Meta.SnapshotAt.IsZero() || filepath.Dir(asked) != s.dir {
		t.Errorf("dump wrote %s: process %d, snapshot at %s", asked, p.Meta.PID, p.Meta.SnapshotAt)
	}
	// A busy machine may give the program no core between two snapshots. The windows that are read
	// below lie between the first snapshot with regions and one with more of them.
	first, later, atFirst := 0, 0, uint64(0)
	until(t, "windows with regions", func() bool {
		for n := first + 1; later == 0; n++ {
			if _, err := os.Stat(kept(n)); err != nil {
				break
			}
			switch executed := count(decode(t, kept(n)), execC, parallel)[0]; {
			case first == 0 && executed > 0:
				first, atFirst = n, executed
			case first > 0 && n > 4 && executed > atFirst:
				later = n
			}
		}
		return later > 0
	})
	_ = syscall.Kill(pid, syscall.SIGUSR1) // enough
	if got := s.wait(t); got != 0 {
		t.Fatal(got, s.stderr.String())
	}
	final := decode(t, filepath.Join(s.dir, "profile.json.gz"))
	iterations, err := strconv.ParseUint(strings.TrimSpace(s.stdout.String()), 10, 64)
	if got := count(final, execC, parallel)[0]; err != nil || got != iterations {
		t.Errorf("%d regions, the program executed %d (%v)", got, iterations, err)
	}
	var regions, windows uint64
	var exec, duration int64
	add := func(p *profile.Profile) {
		regions += count(p, execC, parallel)[0]
		for _, n := range p.Nodes {
			for _, x := range n.Stats {
				exec += x.Exec.T
			}
		}
		duration += p.Meta.Duration
		windows++
	}
	before := decode(t, kept(1))
	add(before)
	for n := 2; ; n++ {
		if _, err := os.Stat(kept(n)); err != nil {
			break
		}
		next := decode(t, kept(n))
		w, err := profile.Window(next, before)
		if err != nil {
			t.Fatal(err)
		}
		add(w)
		before = next
	}
	last, err := profile.Window(final, before)
	if err != nil {
		t.Fatal(err)
	}
	add(last)
	var want int64
	for _, n := range final.Nodes {
		for _, x := range n.Stats {
			want += x.Exec.T
		}
	}
	if regions != iterations || exec != want || duration != final.Meta.Duration {
		t.Errorf("%d windows add up to %d regions, %d ns in %d ns; want %d, %d ns in %d ns", windows, regions, exec, duration, iterations, want, final.Meta.Duration)
	}

	for _, args := range [][]string{{"report", "--delta", fmt.Sprint(first), fmt.Sprint(later), s.dir}, {"report", "--delta", fmt.Sprintf("%d,end", first), s.dir}} {
		if out := toolSays(t, args...); !strings.Contains(out, "PARALLEL") || !strings.Contains(out, "of a longer measurement") {
			t.Errorf("%q says %s", args, out)
		}
	}
	dir := filepath.Join(t.TempDir(), "window")
	toolSays(t, "report", "--delta", fmt.Sprintf("%d,%d", first, later), "-o", dir, "--format", "ompp", s.dir)
	if w := decode(t, filepath.Join(dir, "profile.json.gz")); count(w, execC, parallel)[0] == 0 || count(w, execC, parallel)[0] >= iterations {
		t.Errorf("the window has %d of %d regions", count(w, execC, parallel)[0], iterations)
	}
}

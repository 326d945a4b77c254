package results

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"ompp-attach/collect"
	"ompp-attach/collect/launch"
	"ompp-attach/profile"
)

// Many collectors of a job may come at the same time. One of them removes the files of an older run
// before any of them goes on.
func TestClaim(t *testing.T) {
	dir := t.TempDir()
	put := func(name string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("x"), 0o644); err != nil {
			t.Error(err)
		}
	}
	put("profile.rank0.json.gz")
	put("profile.rank7-2.pb.gz")
	if err := claim(dir, "first", false, nil); err == nil || !strings.Contains(err.Error(), "already holds") {
		t.Fatalf("older files: %v", err)
	}
	if got := namesIn(t, dir); len(got) != 2 {
		t.Errorf("after a refusal there are %q", got)
	}
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			if err := claim(dir, "first", true, nil); err != nil {
				t.Error(err)
			}
			put("profile.rank" + string(rune('0'+i)) + ".json.gz")
		})
	}
	all.Wait()
	if got, _ := filepath.Glob(filepath.Join(dir, "profile.*")); len(got) != 8 {
		t.Errorf("of 8 ranks' files %q are left", got)
	}
	if err := claim(dir, "first", false, nil); err != nil {
		t.Errorf("a late rank of the same job: %v", err)
	}
	if err := claim(dir, "second", false, nil); err == nil {
		t.Error("another job is not refused")
	}
	if err := claim(dir, "second", true, nil); err != nil {
		t.Error(err)
	}
	if got := namesIn(t, dir); len(got) != 1 || !strings.HasPrefix(got[0], claimPrefix) {
		t.Errorf("the second job finds %q", got)
	}
}

// A claim of a collector that was killed while it made the claim does not hold up others for long.
// A claim that is finished meanwhile is respected.
func TestStaleMark(t *testing.T) {
	dir := t.TempDir()
	if err := claim(dir, "j", false, nil); err != nil {
		t.Fatal(err)
	}
	mark := filepath.Join(dir, namesIn(t, dir)[0])
	whole, err := os.ReadFile(mark)
	if err != nil {
		t.Fatal(err)
	}
	release(mark)
	if got, err := os.ReadFile(mark); string(got) != string(whole) {
		t.Errorf("a finished mark was taken away: %v", err)
	}
	for _, age := range []time.Duration{0, 2 * staleAfter} {
		when := time.Now().Add(-age)
		if err := errors.Join(os.Truncate(mark, 0), os.Chtimes(mark, when, when)); err != nil {
			t.Fatal(err)
		}
		limit := claimLimit
		if age == 0 {
			limit = 0
		}
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				if err := claimIn(dir, "j", false, nil, limit); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if got := namesIn(t, dir); len(got) != 1 || got[0] != filepath.Base(mark) {
			t.Errorf("%q are left", got)
		}
	}
}

// A job that has written nothing leaves no traces. A job that has written, or with ranks that may
// be elsewhere, keeps everything. A directory that was made for a job that is refused is removed.
func TestClaimsLeave(t *testing.T) {
	for _, tc := range []struct {
		size        int
		wrote, want bool // is anything left
	}{{2, false, false}, {2, true, true}, {3, false, true}, {0, false, true}} {
		above := t.TempDir()
		c := &Claims{}
		var o *Directory
		for _, rank := range []int{0, 1, 1} { // which runs two programs
			var err error
			if o, err = c.Open("", false, &launch.Rank{Rank: rank, Size: tc.size, Job: "a:b.c/d@1"}, above, 0); err != nil {
				t.Fatal(err)
			}
		}
		dir := filepath.Join(above, "ompp-job-a_b.c_d@1")
		if o.Dir != dir || o.rank == nil || o.rank.Rank != 1 {
			t.Fatalf("%+v, want the directory %s", o, dir)
		}
		if tc.wrote {
			if err := os.WriteFile(filepath.Join(dir, "profile.rank1.json.gz"), nil, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		c.Leave()
		if left, _ := filepath.Glob(filepath.Join(dir, ".*")); (len(left) > 0) != tc.want {
			t.Errorf("%+v: %q are left", tc, left)
		}
		if _, err := os.Stat(dir); (err == nil) != tc.want {
			t.Errorf("%+v: the directory: %v", tc, err)
		}
	}
}

// A program does not lose its profile if somebody removes the directory while it runs.
func TestWriteAgain(t *testing.T) {
	p := profileOf(10)
	p.Nodes = []profile.Node{{Region: -1, Parent: -1}}
	for _, rank := range []*launch.Rank{nil, {Rank: 1}} {
		o := &Directory{Dir: filepath.Join(t.TempDir(), "above", "out"), named: true, rank: rank}
		if err := o.Write(&collect.Result{First: p, Profiles: []*profile.Profile{p}}, &Wanted{Quiet: true}); err != nil {
			t.Error(err)
		}
		if got, _ := filepath.Glob(filepath.Join(o.Dir, RecordStem+"*"+RecordSuffix)); len(got) != 1 {
			t.Errorf("of rank %v there are %q", rank, got)
		}
	}
}

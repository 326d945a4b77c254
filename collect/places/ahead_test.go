package places

import (
	"os"
	"path/filepath"
	"testing"

	"ompp-attach/attribution"
	"ompp-attach/internal/testbin"
	"ompp-attach/symbols"
)

// Questions that the engine asks about programs without lines need no table of regions: none is
// made while the rings are read.
func TestNoTableWithoutLines(t *testing.T) {
	for _, flags := range [][]string{{"-O1"}, {"-O1", "-g"}} {
		home := t.TempDir()
		t.Setenv("XDG_CACHE_HOME", home)
		bin := testbin.Build(t, "ahead.c", testbin.Options{Flags: flags})
		o, err := symbols.OpenObject(bin)
		if err != nil {
			t.Fatal(err)
		}
		if Ahead(o); !o.HasDWARF() {
			const site = 7
			call := o.Branches(o.Targets("GOMP_single_start"))[0]
			r := NewResolver(nil, Wanted{})
			r.bound[site] = place{&symbols.Module{}, o, call + 5}
			if got := r.SingleBarrier(site, site); got != attribution.BarrierImplicit {
				t.Errorf("the single ends with barrier %v", got)
			}
		}
		_, err = os.ReadDir(filepath.Join(home, "ompp-attach", "regions"))
		if made := err == nil; made != o.HasDWARF() {
			t.Errorf("%v: a table of regions was made: %t", flags, made)
		}
	}
}

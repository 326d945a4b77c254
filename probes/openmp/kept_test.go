package openmp

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"ompp-attach/probes"
	"ompp-attach/symbols"
)

// fresh opens a library as another run of the tool would.
func fresh(t *testing.T, path string) *symbols.Object {
	t.Helper()
	o, err := symbols.OpenObject(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		Forget(o)
		o.Close()
	})
	return o
}

// A plan from the cache is the plan that is made, for both runtimes. Another program's imports, and
// another file, get a plan of their own.
func TestKeptPlan(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root keeps plans")
	}
	for i, lib := range libraries(t) {
		t.Setenv("XDG_CACHE_HOME", t.TempDir())
		plans := filepath.Join(os.Getenv("XDG_CACHE_HOME"), "ompp-attach", "plans")
		path := filepath.Join(t.TempDir(), fmt.Sprintf("library%d.so", i))
		if err := os.WriteFile(path, lib, 0o644); err != nil {
			t.Fatal(err)
		}
		for _, imports := range []bool{true, false, true} {
			imported := func(string) bool { return imports }
			want, err := NewPlan(fresh(t, path), imported)
			if err != nil {
				t.Fatal(err)
			}
			for _, how := range []string{"made", "kept"} {
				o := fresh(t, path)
				got, err := KeptPlan(o, imported)
				if err != nil {
					t.Fatal(err)
				}
				if len(want.Placements) < 50 || !same(want, got) {
					t.Errorf("%s, %s: the plan is another one", path, how)
				}
				if got.Object != o {
					t.Error("the plan is of another object")
				}
			}
		}
		files, err := os.ReadDir(plans)
		if err != nil || len(files) != 1 {
			t.Fatalf("%d plans kept: %v", len(files), err)
		}
		other := filepath.Join(t.TempDir(), "other.so")
		// It has the same build id.
		if err := os.WriteFile(other, append(lib, 0), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := KeptPlan(fresh(t, other), func(string) bool { return true }); err != nil {
			t.Fatal(err)
		}
		if files, _ = os.ReadDir(plans); len(files) != 2 {
			t.Errorf("a file with other contents got the first one's plan: %d plans kept", len(files))
		}
	}
}

// same compares plans by what is attached, decoded and reported.
func same(a, b *probes.Plan) bool {
	if a.Runtime != b.Runtime || !reflect.DeepEqual(a.Missing, b.Missing) || len(a.Placements) != len(b.Placements) ||
		(a.NoTasks == nil) != (b.NoTasks == nil) || a.Version() != b.Version() {
		return false
	}
	for i := range a.Placements {
		x, y := &a.Placements[i], &b.Placements[i]
		if !reflect.DeepEqual(x, y) { // follows the pointers to the rows
			return false
		}
	}
	return true
}

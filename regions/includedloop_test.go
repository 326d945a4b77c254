package regions

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"ompp-attach/internal/testbin"
	"ompp-attach/symbols"
)

// TestIncludedDirective: a region has the place of its directive, also if the directive is in an
// included file or a macro. A directive nearby that is not compiled is no region.
func TestIncludedDirective(t *testing.T) {
	for _, compiler := range []string{"gcc", "clang-14", "clang-19"} {
		for _, level := range []string{"-O0", "-O3"} {
			bin := testbin.Build(t, "includedloop.c", testbin.Options{Compiler: compiler, Flags: []string{level, "-g"}})
			o, err := symbols.OpenObject(bin)
			if err != nil {
				t.Fatal(err)
			}
			table, err := Build(o)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for i := range table.Regions {
				r := &table.Regions[i]
				got = append(got, fmt.Sprintf("%s %s:%d", r.Construct, filepath.Base(r.File), r.Begin))
			}
			want := []string{"PARALLEL includedloop.c:16", "LOOP includedloop.c:16", "PARALLEL LOOP includedloop.h:3"}
			if compiler == "gcc" { // makes no call for the loop
				want = slices.Delete(want, 1, 2)
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s %s: regions %q, want %q", compiler, level, got, want)
			}
		}
	}
}

package regions

import (
	"slices"
	"testing"

	"ompp-attach/event"
	"ompp-attach/internal/testbin"
	"ompp-attach/symbols"
)

// TestImpliedFlush: clang calls __kmpc_flush for an atomic directive that is seq_cst. The flush
// directive before it does not get such a call.
func TestImpliedFlush(t *testing.T) {
	for _, compiler := range []string{"clang-14", "clang-19"} {
		for _, level := range []string{"-O0", "-O3"} {
			bin := testbin.Build(t, "impliedflush.c", testbin.Options{Compiler: compiler, Flags: []string{level, "-g"}})
			o, err := symbols.OpenObject(bin)
			if err != nil {
				t.Fatal(err)
			}
			table, err := Build(o)
			if err != nil {
				t.Fatal(err)
			}
			var lines []int
			for i := range table.Regions {
				if r := &table.Regions[i]; r.Construct == event.Flush {
					for range r.Sites {
						lines = append(lines, r.Begin)
					}
				}
			}
			if want := []int{9, 10}; !slices.Equal(lines, want) {
				t.Errorf("%s %s: calls for flushes of the lines %v, want %v", compiler, level, lines, want)
			}
		}
	}
}

package regions

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"ompp-attach/event"
	"ompp-attach/internal/testbin"
	"ompp-attach/symbols"
	"ompp-attach/symbols/directives"
)

// TestSectionsWithALoopsFlag: LLVM may come to give sections the flag of a loop in their ident_t
// (llvm-project pull request 210038). Then the source tells that they are sections.
func TestSectionsWithALoopsFlag(t *testing.T) {
	for _, compiler := range []string{"clang-14", "clang-19"} {
		bin := testbin.Build(t, "constructs.c", testbin.Options{Compiler: compiler, Flags: []string{"-O1", "-g"}})
		b, err := os.ReadFile(bin)
		if err != nil {
			t.Fatal(err)
		}
		// reserved_1, flags (KMP_IDENT_KMPC and KMP_IDENT_WORK_*), reserved_2 of an ident_t.
		old, patched := []byte{0, 0, 0, 0, 2, 4, 0, 0, 0, 0, 0, 0}, []byte{0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 0, 0}
		if bytes.Count(b, old) == 0 {
			t.Fatalf("%s: no sections", compiler)
		}
		newer := filepath.Join(t.TempDir(), "constructs")
		if err := os.WriteFile(newer, bytes.ReplaceAll(b, old, patched), 0o755); err != nil {
			t.Fatal(err)
		}
		var kinds [2][]event.Construct
		for i, path := range []string{bin, newer} {
			o, err := symbols.OpenObject(path)
			if err != nil {
				t.Fatal(err)
			}
			table, err := Build(o)
			if err != nil {
				t.Fatal(err)
			}
			for k := range table.Regions {
				r := &table.Regions[k]
				kinds[i] = append(kinds[i], r.Construct)
				ds, _ := o.Directives(r.File)
				if r.Construct == event.Sections && !directives.DivideSections(ds, r.Begin) {
					t.Errorf("%s, line %d: sections are not found by their line", compiler, r.Begin)
				}
			}
		}
		if len(kinds[0]) != len(kinds[1]) {
			t.Fatalf("%s: %d regions, with the other flag %d", compiler, len(kinds[0]), len(kinds[1]))
		}
		for k := range kinds[0] {
			if kinds[0][k] != kinds[1][k] {
				t.Errorf("%s: region %d is a %s, with the other flag a %s", compiler, k, kinds[0][k], kinds[1][k])
			}
		}
	}
}

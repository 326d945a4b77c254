package symbols

import (
	"debug/elf"
	"maps"
	"path/filepath"
	"slices"
	"testing"
)

// TestDynamicNames: reading in the way of the loader gives the same answers as reading the whole
// tables.
func TestDynamicNames(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	build := func(name string, args ...string) string {
		out := filepath.Join(dir, name)
		run(t, "gcc", append([]string{"-w", "-o", out}, args...)...)
		return out
	}
	for _, tc := range []struct {
		name, path string
	}{
		{"library", build("a.so", "-shared", "-fPIC", "-fopenmp", "testdata/regions.c")},
		{"sysv hash", build("b.so", "-shared", "-fPIC", "-fopenmp", "-Wl,--hash-style=sysv", "testdata/regions.c")},
		{"stripped program", build("c", "-s", "testdata/data.c")},
		{"program that exports", build("d", "-rdynamic", "testdata/data.c")},
		{"gold", build("e.so", "-fuse-ld=gold", "-shared", "-fPIC", "-fopenmp", "testdata/regions.c")},
		{"static program", build("f", "-static", "testdata/data.c")},
		{"static-pie", build("g", "-static-pie", "testdata/data.c")},
	} {
		o, err := OpenObject(tc.path)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { o.Close() })
		tables := o.symbols()
		defined, imports := 0, map[string]bool{}
		for _, s := range tables.dynamic {
			if s.undef && s.name != "" {
				imports[s.name] = true
			}
			if !s.undef && s.name != "" {
				defined++
				if !o.Exports(s.name) {
					t.Errorf("%s: exports %q, but that is not found", tc.name, s.name)
				}
			}
		}
		for name := range imports {
			if !slices.ContainsFunc(tables.dynamic, func(s dynSymbol) bool { return s.name == name && !s.undef }) && o.Exports(name) {
				t.Errorf("%s: exports %q, which it imports", tc.name, name)
			}
		}
		if o.Exports("no_such_function") || o.Exports("") {
			t.Errorf("%s: exports what nobody wrote", tc.name)
		}
		if got := o.imports(); !slices.Equal(slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(imports))) {
			t.Errorf("%s: imports %v, want %v", tc.name, slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(imports)))
		}
		f, err := elf.Open(tc.path)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		all, _ := f.DynamicSymbols() // a static program has none
		for _, s := range all {
			if s.Section == elf.SHN_UNDEF && o.Requires(s.Name) != (elf.ST_BIND(s.Info) != elf.STB_WEAK) {
				t.Errorf("%s: requires %s: %t", tc.name, s.Name, o.Requires(s.Name))
			}
		}
		t.Logf("%s: %d exported, %d imported", tc.name, defined, len(imports))
	}
}

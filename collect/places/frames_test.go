package places

import (
	"errors"
	"testing"

	"ompp-attach/internal/testbin"
	"ompp-attach/symbols"
)

// Functions of the C library have names, and no lines.
func TestCode(t *testing.T) {
	bin := testbin.Build(t, "plain.c", testbin.Options{Flags: []string{"-g", "-O0"}})
	o, err := symbols.OpenObject(bin)
	if err != nil {
		t.Fatal(err)
	}
	main := o.Symbol("main")
	if len(main) != 1 {
		t.Fatalf("main: %v", main)
	}
	for file, lines := range map[string]bool{
		bin: true, "/usr/lib/libc-client.so.2007e": true, "/opt/lib/libmkl_core.so.2": true,
		"/lib/x86_64-linux-gnu/libc.so.6": false, "/lib64/ld-linux-x86-64.so.2": false, "/opt/libm-2.31.so": false,
		"/lib/x86_64-linux-gnu/libmvec.so.1": false,
	} {
		r := &Resolver{bound: map[uint64]place{1: {&symbols.Module{Path: file}, o, main[0]}, 2: {&symbols.Module{Path: file}, o, 1}}}
		if f := r.Code(1); len(f) != 1 || f[0].Function != "main" || (f[0].Line > 0) != lines || (f[0].File != "") != lines || f[0].Offset != main[0] {
			t.Errorf("in %s: %+v, lines are wanted: %t", file, f, lines)
		}
		if f := r.Code(2); len(f) != 1 || f[0].Function != "" || f[0].Line != 0 {
			t.Errorf("in %s, outside of all functions: %+v", file, f)
		}
		if d := describeObject(file, o); d.Lines != lines || !d.Symbols {
			t.Errorf("%+v", d)
		}
	}
}

// The debug file of the C library is fetched for names, not for lines.
func TestFetchFor(t *testing.T) {
	open := func(flags ...string) *symbols.Object {
		o, err := symbols.OpenObject(testbin.Build(t, "plain.c", testbin.Options{Flags: append(flags, "-O0", "-Wl,--build-id")}))
		if err != nil {
			t.Fatal(err)
		}
		return o
	}
	named, stripped := open(), open("-s")
	for _, c := range []struct {
		file   string
		object *symbols.Object
		wanted bool
	}{{"/lib/libx.so", named, true}, {"/lib/libx.so", stripped, true}, {"/lib/libc.so.6", named, false}, {"/lib/libc.so.6", stripped, true}} {
		fetched := 0
		d := NewDebugFiles(func(string) error { fetched++; return errors.New("none") })
		d.FetchFor(&Resolver{bound: map[uint64]place{1: {&symbols.Module{Path: c.file}, c.object, 1}}}, t.Logf)
		if (fetched > 0) != c.wanted {
			t.Errorf("%s, stripped: %t: fetched %d times", c.file, c.object.Stripped(), fetched)
		}
	}
}

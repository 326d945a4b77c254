package places

import (
	"testing"

	"ompp-attach/internal/testbin"
	"ompp-attach/symbols"
)

// Of the C library, functions have names, and no lines.
func TestPlacesIn(t *testing.T) {
	bin := testbin.Build(t, "plain.c", testbin.Options{Flags: []string{"-g", "-O0"}})
	o, err := symbols.OpenObject(bin)
	if err != nil {
		t.Fatal(err)
	}
	at := o.Symbol("main")
	if len(at) != 1 {
		t.Fatalf("main: %v", at)
	}
	main := at[0]
	for _, file := range []string{bin, "/usr/lib/libc-client.so.2007e", "/opt/lib/libmkl_core.so.2"} {
		if at := placesIn(o, file, main); len(at) != 1 || at[0].Function != "main" || at[0].Line == 0 {
			t.Errorf("in %s: %+v", file, at)
		}
	}
	for _, library := range []string{"/lib/x86_64-linux-gnu/libc.so.6", "/lib64/ld-linux-x86-64.so.2", "/opt/libm-2.31.so"} {
		if at := placesIn(o, library, main); len(at) != 1 || at[0].Function != "main" || at[0].Line != 0 || at[0].File != "" {
			t.Errorf("in %s: %+v", library, at)
		}
	}
	if at := placesIn(o, bin, 1); len(at) != 1 || at[0] != (symbols.Place{}) {
		t.Errorf("outside of all functions: %+v", at)
	}
}

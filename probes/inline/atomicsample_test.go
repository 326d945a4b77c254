package inline

import (
	"testing"

	"ompp-attach/internal/testbin"
	"ompp-attach/symbols"
)

// A sample that hits no atomic instruction needs no debug information: after the file is closed,
// none is known. Samples on an atomic operation and behind it are told.
func TestAtomicAt(t *testing.T) {
	bin := testbin.Build(t, "atomics.c", testbin.Options{Flags: []string{"-O2", "-g"}})
	open := func() *symbols.Object {
		o, err := symbols.OpenObject(bin)
		if err != nil {
			t.Fatal(err)
		}
		return o
	}
	o := open()
	main := o.Symbol("main")[0]
	if _, ok := AtomicAt(o, main); ok {
		t.Error("main begins with an atomic operation")
	}
	o.Close()
	if _, ok := o.Definition(main); ok {
		t.Error("debug information was read for a sample that hits no atomic instruction")
	}
	o = open()
	defer o.Close()
	all := Atomics(o).Constructs
	if len(all) == 0 {
		t.Fatal("no atomics")
	}
	told := 0
	for _, c := range all {
		if at, ok := AtomicAt(o, c.Identity); ok && at == c.Identity {
			told++
		}
	}
	if told == 0 {
		t.Errorf("of %d atomics and flushes none is told", len(all))
	}
}

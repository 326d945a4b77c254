package openmp

import (
	"bytes"
	"testing"

	"ompp-attach/event"
	"ompp-attach/probes/probestest"
	"ompp-attach/symbols"
)

func libraries(t testing.TB) [][]byte {
	return probestest.Libraries(t, map[string]string{"gcc": "libgomp.so.1", "clang-14": "libomp.so.5"})
}

// examine does with a mapped library what a measurement does before it places a probe.
func examine(b []byte) {
	o, err := symbols.NewObject(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		return
	}
	defer Forget(o) // what is kept of each file would be too much of all
	if Identify(o) != event.NoRuntime {
		_, _ = NewPlan(o, func(string) bool { return true })
	}
}

// FuzzLibrary damages libraries that a process maps.
func FuzzLibrary(f *testing.F) { probestest.Fuzz(f, libraries(f), examine) }

// TestDamagedLibraries does a little of the fuzzing in every run.
func TestDamagedLibraries(t *testing.T) { probestest.Damage(libraries(t), examine) }

// Undamaged, each library has a plan: else the tests above would examine nothing.
func TestLibraries(t *testing.T) {
	for _, b := range libraries(t) {
		o, err := symbols.NewObject(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			t.Fatal(err)
		}
		p, err := NewPlan(o, func(string) bool { return true })
		if err != nil || len(p.Placements) == 0 || p.NoTasks != nil {
			t.Errorf("%v: %+v, %v", Identify(o), p, err)
		}
		Forget(o)
	}
}

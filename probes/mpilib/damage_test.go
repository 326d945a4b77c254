package mpilib

import (
	"bytes"
	"testing"

	"ompp-attach/probes/callgraph"
	"ompp-attach/probes/probestest"
	"ompp-attach/symbols"
)

func libraries(t testing.TB) [][]byte {
	return probestest.Libraries(t, map[string]string{"mpicc": "libmpi.so", "mpicc.mpich": "libmpich.so"})
}

// examine does with a mapped library what a measurement does before it places a probe.
func examine(b []byte) {
	o, err := symbols.NewObject(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		return
	}
	defer callgraph.Forget(o)
	if Is(o) {
		_, _ = NewPlan(o, true)
		IsBinding(o)
		IsOpenMPI(o)
	}
}

// FuzzLibrary damages libraries that a process maps.
func FuzzLibrary(f *testing.F) { probestest.Fuzz(f, libraries(f), examine) }

// TestDamagedLibraries does a little of the fuzzing in every run.
func TestDamagedLibraries(t *testing.T) { probestest.Damage(libraries(t), examine) }

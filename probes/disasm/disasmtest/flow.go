package disasmtest

import (
	"testing"

	"ompp-attach/probes/disasm"
	"ompp-attach/probes/disasm/graph"
	"ompp-attach/probes/disasm/values"
)

// Graph returns the flow of control of a function. At offset cut is a call with which a segment of
// the function ends; 0: there is none.
func Graph(t testing.TB, b Bytes, cut uint64) *graph.Graph {
	t.Helper()
	parts, err := disasm.Parts(b, b.At)
	if err != nil {
		t.Fatal(err)
	}
	return graph.New(b, parts, func(i disasm.Inst) graph.Effect {
		if i.Addr-b.At == cut && cut != 0 {
			return graph.CallCuts
		}
		return graph.CallReturns
	})
}

// Flow returns the values in a function of which hexadecimal digits spell the code, and the
// function's address.
func Flow(t testing.TB, arch, digits string) (*values.Flow, uint64) {
	t.Helper()
	b := Code(t, arch, digits)
	parts, err := disasm.Parts(b, b.At)
	if err != nil {
		t.Fatal(err)
	}
	f, err := values.NewFlow(b, parts)
	if err != nil {
		t.Fatal(err)
	}
	return f, b.At
}

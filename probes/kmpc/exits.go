package kmpc

import (
	"fmt"

	"ompp-attach/probes/callgraph"
	"ompp-attach/probes/disasm"
	"ompp-attach/probes/disasm/points"
	"ompp-attach/symbols"
)

// regionExits are the places where a parallel region ends in libomp, found by disassembly. Return
// probes on __kmp_invoke_microtask and __kmpc_fork_call would be pending while user code runs. The
// kernel drops return probes beyond 64 per thread. A program that switches stacks (swapcontext)
// makes the kernel forget them, and dies of the return.
type regionExits struct {
	// BodyEnd are the instructions behind the library's calls of __kmp_invoke_microtask, one for
	// each call.
	BodyEnd []disasm.Inst
	// Skipped are the addresses of what may be further calls, behind which there is no probe.
	Skipped []uint64
	// Join are the instructions through which __kmpc_fork_call returns. Each call hits one of them.
	Join []points.Approach
}

func locateExits(o *symbols.Object) (regionExits, error) {
	var x regionExits
	calls, skipped, err := callgraph.CallsOf(o, microtask)
	if err != nil {
		return x, err
	}
	x.Skipped = skipped
	for _, call := range calls {
		at, err := callgraph.Behind(o, call)
		if err != nil {
			return x, fmt.Errorf("after the call of __kmp_invoke_microtask at %#x: %w", call.Addr, err)
		}
		x.BodyEnd = append(x.BodyEnd, at)
	}
	if x.Join, err = callgraph.Returns(o, "__kmpc_fork_call"); err != nil {
		return x, err
	}
	for _, a := range x.Join {
		if !a.Inst.Emulated {
			return x, fmt.Errorf("__kmpc_fork_call returns without an instruction that a probe may sit on cheaply")
		}
	}
	return x, nil
}

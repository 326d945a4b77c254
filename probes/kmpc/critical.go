package kmpc

import (
	"slices"

	"ompp-attach/probes"
	"ompp-attach/probes/callgraph"
	"ompp-attach/probes/disasm"
	"ompp-attach/probes/disasm/graph"
	"ompp-attach/probes/disasm/values"
	"ompp-attach/symbols"
)

// __kmpc_critical hands its arguments on to __kmpc_critical_with_hint: by a jump or, where an OMPT
// tool is at work, by a call. So one probe in the second function serves both entry points, also in
// programs that import only the first one.
const (
	critical         = "__kmpc_critical"
	criticalWithHint = "__kmpc_critical_with_hint"
)

// forwarded is a function that passes all of its calls on to another function.
type forwarded struct {
	entry, size uint64
}

// forwards reports whether the function from passes all of its calls on to the function to, with
// the first args arguments unchanged. Each way through it must lead over one call of the other
// function, or end in a jump to it.
func forwards(o *symbols.Object, from, to string, args int) (f forwarded, ok bool) {
	entry, err := disasm.OneSymbol(o, from)
	targets := o.Symbol(to)
	if err != nil || len(targets) != 1 {
		return f, false
	}
	_, hi, known := o.FuncRange(entry)
	body, err := disasm.Func(callgraph.CodeOf(o), entry)
	if err != nil || !known {
		return f, false
	}
	parts := [][]disasm.Inst{body} // the functions that it jumps to are not part of it
	flow, err := values.NewFlow(o, parts)
	if err != nil {
		return f, false
	}
	g := graph.New(o, parts, func(disasm.Inst) graph.Effect { return graph.CallReturns })
	leads := func(i disasm.Inst) bool {
		name, plt := o.PLT(i.Target)
		if i.Target != targets[0] && !(plt && name == to) {
			return false
		}
		s, ok := flow.At(i.Addr)
		for n := range args {
			ok = ok && s.Arg(n).Is(values.AnArgument, uint64(n))
		}
		return ok
	}
	var calls []int // blocks
	for _, i := range flow.Reached() {
		if i.Control == disasm.Call && leads(i) {
			b, _ := g.BlockOf(i.Addr)
			calls = append(calls, b)
		}
	}
	over := g.Dominators()
	ways := 0
	for _, i := range flow.Reached() {
		switch {
		case i.Control == disasm.Ret:
			b, _ := g.BlockOf(i.Addr)
			if n := slices.IndexFunc(calls, func(c int) bool { return over.Covers(c, b) }); n < 0 {
				return f, false
			}
		case flow.Leaves(i) && (i.Control != disasm.Jump || !leads(i)):
			return f, false
		case flow.Leaves(i):
			ways++
		}
	}
	return forwarded{entry, hi - entry}, !g.Unknown && ways+len(calls) > 0 && len(calls) <= 1
}

// comesFrom lets a probe that wants calls from outside only take also the calls that a function of
// the library forwards. The return address is the library's then, so the program's call site is not
// known.
func comesFrom(p *probes.Planner, symbol string, f forwarded) {
	for i := range p.Placements {
		if pl := &p.Placements[i]; pl.Symbol == symbol {
			pl.Kernel.BodyLo, pl.Kernel.BodySize = f.entry-pl.VAddr, f.size
		}
	}
}

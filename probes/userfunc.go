package probes

import (
	"fmt"
	"strings"

	"ompp-attach/event"
	"ompp-attach/probes/insn"
	"ompp-attach/symbols"
)

// FunctionProbes are the probes of a function as a user region.
type FunctionProbes struct {
	Points []CodePoint
	Dear   int // of these, how many the kernel single-steps
	Unseen int // exits whose condition no probe can repeat: they are seen late
}

// ProbeFunction finds where executions of a function begin and end. No return
// probe will do: one that is pending stops exceptions, and a program that
// switches stacks dies of it.
func ProbeFunction(o *symbols.Object, name string, entry uint64) (f FunctionProbes, err error) {
	isPart := func(target uint64) bool {
		symbol, start, ok := o.FuncAt(target)
		return ok && start == target && strings.Contains(symbol, ".cold")
	}
	exits, unseen, err := insn.Exits(o, entry, isPart)
	if err != nil {
		return f, fmt.Errorf("its ends cannot be found: %w", err)
	}
	f.Unseen = unseen
	point := func(p CodePoint, cost insn.Cost) {
		p.Name, p.Identity, p.Construct = name, entry, event.UserRegion
		f.Points = append(f.Points, p)
		if cost == insn.SingleStep {
			f.Dear++
		}
	}
	// Which of two probes at one place is served first, nobody says.
	need := insn.Need{Dear: true}
	for _, x := range exits {
		need.Avoid = append(need.Avoid, x.Inst.Addr)
	}
	begin, err := insn.SafePoint(o, entry, need)
	if err != nil && len(exits) == 1 && exits[0].When == insn.Always {
		// All that it does is to jump to another one.
		only, err := insn.SafePoint(o, entry, insn.Need{Dear: true})
		if err == nil && only.VAddr == exits[0].Inst.Addr {
			point(CodePoint{VAddr: only.VAddr, Edge: event.Enter, Marks: event.FreeAtOnce}, only.Cost)
			return f, nil
		}
	}
	if err != nil {
		return f, err
	}
	point(CodePoint{VAddr: begin.VAddr, Edge: event.Enter}, begin.Cost)
	for _, x := range exits {
		p := CodePoint{VAddr: x.Inst.Addr, When: x.When, Edge: event.Release}
		if x.Unsure {
			p.Value = event.UserJump
		}
		point(p, insn.CostOf(x.Inst))
	}
	return f, nil
}

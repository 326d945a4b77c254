package probes

import (
	"fmt"
	"strings"

	"ompp-attach/event"
	"ompp-attach/probes/disasm/points"
	"ompp-attach/symbols"
)

// FunctionProbes holds the probes of a function that is measured as a user region.
type FunctionProbes struct {
	Points []CodePoint
	Dear   int // how many of them the kernel single-steps
	Unseen int // exits whose condition no probe can repeat: leaving through them is noticed late
}

// ProbeFunction finds where executions of a function begin and end. Return probes are not used: one
// that is pending stops exceptions, and kills a program that switches stacks.
func ProbeFunction(o *symbols.Object, name string, entry uint64) (f FunctionProbes, err error) {
	isPart := func(target uint64) bool {
		symbol, start, ok := o.FuncAt(target)
		return ok && start == target && strings.Contains(symbol, ".cold")
	}
	exits, unseen, err := points.Exits(o, entry, isPart)
	if err != nil {
		return f, fmt.Errorf("its ends cannot be found: %w", err)
	}
	f.Unseen = unseen
	point := func(p CodePoint, cost points.Cost) {
		p.Name, p.Identity, p.Construct = name, entry, event.UserRegion
		f.Points = append(f.Points, p)
		if cost == points.SingleStep {
			f.Dear++
		}
	}
	// If two probes share a place, their order is not defined.
	need := points.Need{Dear: true}
	for _, x := range exits {
		need.Avoid = append(need.Avoid, x.Inst.Addr)
	}
	begin, err := points.SafePoint(o, entry, need)
	if err != nil && len(exits) == 1 && exits[0].When == points.Always {
		// The function only jumps to another one.
		only, err := points.SafePoint(o, entry, points.Need{Dear: true})
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
		point(p, points.CostOf(x.Inst))
	}
	return f, nil
}

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
	begin, err := insn.SafePoint(o, entry, insn.Need{})
	if err != nil {
		return f, err
	}
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
	if len(exits) == 1 && exits[0].Inst.Addr == begin.VAddr && exits[0].When == insn.Always {
		// A function that only jumps to another one.
		point(CodePoint{VAddr: begin.VAddr, Edge: event.Enter, Marks: event.FreeAtOnce}, begin.Cost)
		return f, nil
	}
	for _, x := range exits {
		if x.Inst.Addr == begin.VAddr {
			// Which of two probes at one place is served first, nobody says.
			if begin, err = beginElsewhere(o, entry, exits); err != nil {
				return f, err
			}
			break
		}
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

// beginElsewhere chooses the entry itself, where an exit has the cheaper place.
func beginElsewhere(o *symbols.Object, entry uint64, exits []insn.Exit) (insn.Point, error) {
	for _, x := range exits {
		if x.Inst.Addr == entry {
			return insn.Point{}, fmt.Errorf("its first instruction, %s, is also its end", x.Inst)
		}
	}
	i, err := insn.Decode(o, entry)
	if err == nil && i.Refused {
		err = fmt.Errorf("the kernel refuses a probe at %s", i)
	}
	return insn.Point{VAddr: entry, Cost: insn.CostOf(i)}, err
}

package gomp

import (
	"errors"
	"fmt"

	"ompp-attach/bpf"
	"ompp-attach/event"
	"ompp-attach/probes"
	"ompp-attach/probes/disasm"
	"ompp-attach/probes/disasm/graph"
	"ompp-attach/probes/disasm/points"
)

// GOMP_sections_next ends a section and returns the number of the next one, 0 if there is none. The
// kernel emulates no instruction of its straight line. So a probe there costs a single step for
// each section, plus the return. Instead the probe sits where the function looks at the answer of
// the function that takes the next section. One cheap hit there says both that the section is over
// and whether another one begins. The time to take the next section, some ten nanoseconds, then
// counts to the section before.
var sectionNext = probes.Row{Construct: event.Sections, Entry: event.Result, ZeroIfFree: true,
	Flags: bpf.RowFreeIfZF | bpf.RowNoSite}

// placeSectionsNext places that probe if a probe at the entry point itself would be expensive. It
// returns the entry point, which then needs no other probe.
func placeSectionsNext(p *probes.Planner) (done map[uint64]bool) {
	const name = "GOMP_sections_next"
	entry, err := disasm.OneSymbol(p.Object, name)
	if err != nil {
		return nil
	}
	if sp, err := points.SafePoint(p.Code, entry, points.Need{}); err == nil && sp.Cost != points.SingleStep {
		return nil
	}
	at, err := locateSectionNext(p.Code, entry)
	if err != nil {
		return nil // code of another compiler: probed as the table says
	}
	p.At("["+name+": next or none]", &sectionNext, at.Addr, points.CostOf(at), points.Always)
	return map[uint64]bool{entry: true}
}

// locateSectionNext finds the jump by which GOMP_sections_next decides whether there is a section.
// The function makes one call, which takes a section, tests whether the answer is 0, and returns.
func locateSectionNext(code disasm.Code, entry uint64) (at disasm.Inst, err error) {
	parts, err := disasm.Parts(code, entry)
	if err != nil {
		return at, err
	}
	g := graph.New(code, parts, func(disasm.Inst) graph.Effect { return graph.CallReturns })
	first := &g.Blocks[0]
	calls, jumps := 0, 0
	for _, b := range g.Blocks {
		for _, i := range b.Insts {
			switch i.Control {
			case disasm.Call, disasm.CallIndirect:
				calls++
			case disasm.Jcc:
				jumps++
			}
		}
	}
	at = first.Last()
	_, _, tests := first.TestBefore()
	switch {
	case g.Unknown || calls != 1 || jumps != 1:
		return at, fmt.Errorf("it has %d calls and %d conditional jumps", calls, jumps)
	case !tests || !at.Emulated || at.Refused:
		return at, errors.New("it tests its call's answer by no jump that a probe may sit on cheaply")
	case len(first.Preds) > 0:
		return at, errors.New("it has a loop")
	}
	for _, i := range first.Insts {
		if i.Control == disasm.Call {
			return at, nil
		}
	}
	return at, errors.New("its call does not precede the jump")
}

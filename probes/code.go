package probes

import (
	"errors"
	"fmt"
	"slices"

	"ompp-attach/bpf"
	"ompp-attach/event"
	"ompp-attach/probes/disasm"
	"ompp-attach/probes/disasm/points"
	"ompp-attach/symbols"
)

// CodePoint is a probe in the program's own code, where a construct that calls
// no runtime, or a user's function, begins or ends.
type CodePoint struct {
	Name      string // for messages
	VAddr     uint64 // probed instruction
	When      points.When
	Identity  uint64 // virtual address that names the construct: the Site of its events
	Construct event.Construct
	Edge      event.Edge
	Runtime   event.Runtime // whose construct it is; NoRuntime for a user's own
	Marks     event.Flag    // flags set on its events
	Value     int64         // the Value of its events
	// Of a function of a library's level, Fn names it in its events. The Site of these events is
	// where the call returns to. Lift is what the stack pointer at the probe is below that at the
	// function's entry. Outside: the calls that the library makes itself are left out; the ends
	// tell how many hits that were (event.LeftOut).
	Fn      uint64
	Lift    int64
	Outside bool
	A, B    uint8 // sources (bpf.Arg, bpf.Reg) of the events' Fn and Key; 0: none
}

// NewCodePlan makes the plan of the given probes in a program's or library's own code.
func NewCodePlan(o *symbols.Object, all []CodePoint) *Plan {
	p := &Plan{Object: o}
	for _, c := range all {
		i, err := disasm.Decode(o, c.VAddr)
		if err == nil && i.Refused {
			err = errors.New(i.Refusal())
		}
		if err != nil {
			p.Missing = append(p.Missing, fmt.Sprintf("%s: %v", c.Name, err))
			continue
		}
		k := bpf.Row{A: c.A, B: c.B, Flags: bpf.RowEntry | bpf.RowSiteHere | onlyIf(c.When), Here: int32(c.Identity - c.VAddr)}
		switch c.Edge {
		case event.Off:
			k.Flags |= bpf.RowOff
		case event.On:
			k.Flags |= bpf.RowOn
		}
		r := &Row{Construct: c.Construct, Entry: c.Edge, Marks: c.Marks, Runtime: c.Runtime, Value: c.Value}
		if c.Fn != 0 {
			k, r.Fn, r.Lift = levelRow(o, &c), c.Fn, c.Lift
		}
		if c.A != 0 {
			r.A, r.B = Elsewhere(ToFn), Elsewhere(ToKey)
		}
		if k.Flags&bpf.RowOutsideOnly != 0 {
			k.LeftOut = uint32(ProbeOf(points.CostOf(i)))
		}
		p.add(c.Name, r, c.VAddr, points.CostOf(i), k)
	}
	p.sort()
	return p
}

// Continue marks the beginnings of some functions of levels by event.UserContinues, because another
// function of the library may end in a jump to them. fns names the functions by the Fn of their
// events.
func (p *Plan) Continue(fns []uint64) {
	for i := range p.Placements {
		if r := p.Placements[i].Row; r.Entry == event.Enter && r.Fn != 0 && slices.Contains(fns, r.Fn) {
			r.Value |= event.UserContinues
		}
	}
}

// levelRow is the row of a probe of a function of a library's level.
func levelRow(o *symbols.Object, c *CodePoint) bpf.Row {
	lo, hi, _ := o.CodeSegment()
	k := bpf.Row{Flags: bpf.RowEntry | onlyIf(c.When), TextLo: lo - c.VAddr, TextHi: hi - c.VAddr}
	switch {
	case c.Edge != event.Enter:
		k.Flags |= bpf.RowNoSite
		if c.Outside {
			k.Flags |= bpf.RowTellsLeftOut
		}
	case c.Outside:
		k.Flags |= bpf.RowOutsideOnly
	}
	return k
}

package probes

import (
	"ompp-attach/bpf"
	"ompp-attach/event"
	"ompp-attach/probes/disasm"
	"ompp-attach/probes/disasm/points"
	"ompp-attach/symbols"
)

// Site is a call of a runtime's entry point in the code of a program or library. A jump to the
// entry point at the end of a function is such a call, too.
type Site struct {
	disasm.Inst
	Symbol string // the entry point
	Row    *Row   // of the entry point
}

// NewSitePlan makes the plan of probes at calls. A hit tells the same as one at the entry point.
func NewSitePlan(o *symbols.Object, r event.Runtime, at []Site) *Plan {
	p := &Plan{Runtime: r, Object: o}
	for i := range at {
		s := &at[i]
		k := s.Row.kernel(s.Addr, s.Addr, s.Addr) // the runtime's own code is elsewhere
		if s.Control == disasm.Call && k.Flags&bpf.RowNoSite == 0 {
			k.Flags, k.Here = k.Flags|bpf.RowSiteHere, int32(s.Len)
		}
		p.add("[call of "+s.Symbol+"]", s.Row, s.Addr, points.CostOf(s.Inst), k)
	}
	p.sort()
	return p
}

// Divide divides a plan's probes by their symbols: into the probes with a symbol that belongs
// accepts, and the others.
func (a *Attached) Divide(belongs func(symbol string) bool) (those, others []bpf.Point) {
	for i, p := range a.points {
		if belongs(a.Plan.Placements[i].Symbol) {
			those = append(those, p)
		} else {
			others = append(others, p)
		}
	}
	return those, others
}

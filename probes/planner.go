package probes

import (
	"fmt"
	"maps"
	"slices"

	"ompp-attach/bpf"
	"ompp-attach/event"
	"ompp-attach/probes/callgraph"
	"ompp-attach/probes/disasm"
	"ompp-attach/probes/disasm/points"
	"ompp-attach/symbols"
)

// Planner makes the plan of one runtime library. Runtime.Place uses it.
type Planner struct {
	*Plan
	Code     *disasm.Decoded // the object's code
	imported func(string) bool
	lo, hi   uint64 // the runtime's own code
}

// Plan finds the cheapest safe place for every probe in a library of the runtime. imported reports
// whether the program's modules import a symbol.
func (r *Runtime) Plan(o *symbols.Object, imported func(string) bool) (*Plan, error) {
	p := &Planner{Plan: &Plan{Runtime: r.Name, Object: o, runtime: r}, Code: callgraph.CodeOf(o), imported: imported}
	defer callgraph.Forget(o)
	p.lo, p.hi = r.ownText(o)
	if err := r.Place(p); err != nil {
		return nil, err
	}
	p.sort()
	return p.Plan, nil
}

// Entries places the probes of a table's entry points. An address gets one probe only. libgomp's
// names are often aliases: GOMP_loop_dynamic_start is also GOMP_loop_nonmonotonic_dynamic_start.
// And one name may have two addresses (symbol versions). Addresses in done get no probe.
func (p *Planner) Entries(t *Table, done map[uint64]bool) {
	placed := map[uint64]bool{}
	maps.Copy(placed, done)
	p.Object.Symbols(func(name string, vaddr, _ uint64) {
		r := t.Find(name)
		if r == nil || placed[vaddr] || r.Imported && !p.imported(name) || r.Construct.IsTasking() && p.NoTasks != nil {
			return
		}
		placed[vaddr] = true
		if _, err := p.Entry(name, vaddr, r); err != nil {
			p.Missing = append(p.Missing, fmt.Sprintf("%s: %v", name, err))
		}
	})
}

// Entry places the probe of one function's entry. The caller may complete the probe that is
// returned until another one is placed.
func (p *Planner) Entry(name string, vaddr uint64, r *Row) (*Placement, error) {
	sp, err := points.SafePoint(p.Code, vaddr, points.Need{Args: r.args()})
	if err != nil {
		return nil, err
	}
	k := r.kernel(sp.VAddr, p.lo, p.hi)
	if r.Fast && sp.AfterCAS {
		switch r.Entry {
		case event.Enter:
			k.Flags |= bpf.RowFreeIfZF
		case event.Release:
			k.Flags |= bpf.RowFreeIfNotSF
		}
	}
	return p.add(name, r, sp.VAddr, sp.Cost, k), nil
}

// At places a probe at an instruction inside the runtime. when says which hits count. The caller
// may complete the probe that is returned until another one is placed.
func (p *Planner) At(name string, r *Row, vaddr uint64, cost points.Cost, when points.When) *Placement {
	k := r.kernel(vaddr, p.lo, p.hi)
	k.Flags |= onlyIf(when)
	return p.add(name, r, vaddr, cost, k)
}

// WhereDerived adds the probes that place places, but only for measurements in which ends of calls
// may be derived (Plan.DeriveEnds). There they stand for those that replaced accepts. If one of the
// want probes cannot be placed, nothing changes.
func (p *Planner) WhereDerived(want int, place func() error, replaced func(*Placement) bool) {
	before, missing := len(p.Placements), len(p.Missing)
	err := place()
	added := slices.Clone(p.Placements[before:])
	p.Placements, p.Missing = p.Placements[:before], p.Missing[:missing]
	if err != nil || len(added) != want {
		return
	}
	p.derived = append(p.derived, added...)
	for i := range p.Placements {
		if replaced(&p.Placements[i]) {
			p.Placements[i].replaced = true
		}
	}
}

// onlyIf returns the flags of a row that counts some hits only.
func onlyIf(when points.When) uint32 {
	switch when {
	case points.ZeroSet:
		return bpf.RowOnlyIfZF
	case points.ZeroClear:
		return bpf.RowOnlyIfNotZF
	}
	return 0
}

// Enclosing is an entry point that runs user code before it returns. No return probe may be pending
// meanwhile, so its exits are found by disassembly.
type Enclosing struct {
	Symbol      string
	Entry, Exit Row
}

// Enclosing places the probes of the functions in list that this library has. If a function's exits
// are not found, the function gets no probe and is added to Missing.
func (p *Planner) Enclosing(list []Enclosing) {
	for i := range list {
		f := &list[i]
		if len(p.Object.Symbol(f.Symbol)) == 0 {
			continue
		}
		out, err := callgraph.Returns(p.Object, f.Symbol)
		if err == nil {
			_, err = p.Entry(f.Symbol, p.Object.Symbol(f.Symbol)[0], &f.Entry)
		}
		if err != nil {
			p.Missing = append(p.Missing, fmt.Sprintf("%s: %v", f.Symbol, err))
			continue
		}
		for _, a := range out {
			p.At("[return of "+f.Symbol+"]", &f.Exit, a.Inst.Addr, points.CostOf(a.Inst), a.When)
		}
	}
}

package probes

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"ompp-attach/bpf"
	"ompp-attach/event"
	"ompp-attach/probes/disasm/points"
	"ompp-attach/symbols"
)

// Placement is one probe, ready to attach.
type Placement struct {
	Symbol string      // entry point, or the name of a place in brackets
	VAddr  uint64      // probed instruction
	Offset uint64      // offset of that instruction in the file
	Cost   points.Cost // what the kernel does to execute that instruction
	Return bool

	Row     *Row
	Kernel  bpf.Row // the row in the form that the kernel side takes
	onAMD64 bool
	// replaced: it has no place where ends may be derived (Plan.DeriveEnds).
	replaced bool
}

// Plan says how one runtime library is probed.
type Plan struct {
	Runtime    event.Runtime
	Object     *symbols.Object
	Placements []Placement
	Missing    []string // entry points without a probe, each with the reason
	NoTasks    error    // why tasks cannot be measured; nil if they are

	runtime *Runtime // nil: the probes are in the program's own code
	// Probes that stand for the replaced ones where ends may be derived.
	derived []Placement
}

// DeriveEnds makes the plan that of a measurement in which ends of calls may be derived. There
// other probes may do with fewer hits. It comes before anything else is done with the plan.
func (p *Plan) DeriveEnds() {
	if len(p.derived) == 0 {
		return
	}
	p.Placements = slices.DeleteFunc(p.Placements, func(pl Placement) bool { return pl.replaced })
	p.Placements = append(p.Placements, p.derived...)
	p.derived = nil
	p.sort()
}

// Probed returns the virtual addresses of the probed instructions. Some have several probes.
func (p *Plan) Probed() (vaddrs []uint64) {
	for i := range p.Placements {
		vaddrs = append(vaddrs, p.Placements[i].VAddr)
	}
	return vaddrs
}

// Version returns the library's version and, if the distribution left it in the file, the
// compiler's own note; "" if nothing tells it.
func (p *Plan) Version() string {
	var found []string
	if p.runtime != nil && p.runtime.Version != nil {
		if v := p.runtime.Version(p.Object); v != "" {
			found = append(found, v)
		}
	}
	if c := p.Object.Producers(); len(c) > 0 {
		found = append(found, "built by "+c[0])
	}
	return strings.Join(found, ", ")
}

// Keep removes the probes of constructs that are not wanted.
func (p *Plan) Keep(wanted func(event.Construct) bool) {
	unwanted := func(pl Placement) bool { return !wanted(pl.Row.Construct) }
	p.Placements, p.derived = slices.DeleteFunc(p.Placements, unwanted), slices.DeleteFunc(p.derived, unwanted)
}

// add adds a probe at vaddr, and returns it. What is returned is good until the next probe is
// added.
func (p *Plan) add(symbol string, r *Row, vaddr uint64, cost points.Cost, kernel bpf.Row) *Placement {
	pl := Placement{Symbol: symbol, VAddr: vaddr, Cost: cost, Return: r.Return != event.NoEdge,
		Row: r, Kernel: kernel, onAMD64: p.Object.Arch() == "amd64"}
	var ok bool
	if pl.Offset, ok = p.Object.FileOffset(vaddr); !ok {
		p.Missing = append(p.Missing, fmt.Sprintf("%s: its address %#x is not in the file", symbol, vaddr))
		return &pl
	}
	p.Placements = append(p.Placements, pl)
	return &p.Placements[len(p.Placements)-1]
}

func (p *Plan) sort() {
	slices.SortFunc(p.Placements, func(a, b Placement) int { return cmp.Compare(a.VAddr, b.VAddr) })
}

// RowOf returns the row by which an entry point is probed, nil if it has no probe. Names of one
// function have one probe.
func (p *Plan) RowOf(symbol string) *Row {
	at := p.Object.Symbol(symbol)
	for i := range p.Placements {
		pl := &p.Placements[i]
		if pl.Symbol == symbol || len(at) > 0 && slices.Equal(p.Object.Symbol(pl.Symbol), at) {
			return pl.Row
		}
	}
	return nil
}

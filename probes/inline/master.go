package inline

import (
	"ompp-attach/event"
	"ompp-attach/probes/insn"
	"ompp-attach/symbols"
)

// masters finds the bodies of master and masked constructs: what a thread
// executes whose number is zero, by a test in the directive's line. Without the
// source, a test that the user wrote looks the same.
func (f *function) masters(x *Inlined) {
	cycles := f.g.Cycles(nil, -1)
	l := f.level(nil, cycles)
	for n := range f.g.Blocks {
		i := f.g.Blocks[n].Last()
		if i.Kind != insn.Jcc || i.Cond != insn.Equal && i.Cond != insn.NotEqual || f.flow.Zero[i.Addr] != byThread {
			continue
		}
		d, ok := f.master(f.line(i.Addr))
		if !ok {
			continue
		}
		c := Construct{Kind: event.Master, Fn: f.fn, Identity: i.Addr, File: f.file, Begin: d.Begin, Last: d.End, Exact: true,
			Enter: []Point{{VAddr: i.Addr, When: insn.ZeroSet, Cost: insn.CostOf(i)}}}
		if d.Matches("masked") {
			c.Kind = event.Masked
		}
		any := func(k int) bool { return l.acyclic(k) || !l.acyclic(n) }
		c.Leave, c.End = f.leave(n, any)
		x.Constructs = append(x.Constructs, c)
	}
}

func (f *function) master(line int) (symbols.Directive, bool) {
	for _, d := range f.ds {
		if line > 0 && d.Begin <= line && line <= d.Last && (d.Matches("master") || d.Matches("masked")) {
			return d, true
		}
	}
	return symbols.Directive{}, false
}

package inline

import (
	"ompp-attach/event"
	"ompp-attach/probes/disasm"
	"ompp-attach/probes/disasm/points"
	"ompp-attach/symbols/directives"
)

// masters finds the bodies of master and masked constructs: code that only a thread with number
// zero executes, by a test in the directive's line. Without the source, a test that the user wrote
// looks the same.
func (f *function) masters(x *Inlined) {
	l := f.level(nil, f.g.Cycles(nil, -1))
	tests := map[directives.Directive][]int{}
	for n := range f.g.Blocks {
		i := f.g.Blocks[n].Last()
		if i.Control != disasm.Jcc || i.Cond != disasm.Equal && i.Cond != disasm.NotEqual || f.flow.Zero[i.Addr] != byThread {
			continue
		}
		if d, ok := f.master(f.line(i.Addr)); ok {
			tests[d] = append(tests[d], n)
		}
	}
	for _, d := range f.ds.masters {
		at := tests[*d]
		if len(at) > 0 {
			f.seen = append(f.seen, *d)
		}
		switch {
		case len(at) == 0 && !f.within(d):
		case len(at) == 0, f.besides(d, at):
			x.Unseen = append(x.Unseen, Unseen{f.fn, nameOf(d),
				"GCC left out the test for the primary thread where it knows its outcome"})
		default:
			for _, n := range at {
				i := f.g.Blocks[n].Last()
				c := Construct{Construct: event.Master, Fn: f.fn, Identity: i.Addr, File: f.file, Begin: d.Begin, Last: d.End, Exact: true,
					Enter: []Point{{VAddr: i.Addr, When: points.ZeroSet, Cost: points.CostOf(i)}}}
				if d.Matches("masked") {
					c.Construct = event.Masked
				}
				c.Leave, c.End = f.leave(n, func(k int) bool { return l.acyclic(k) || !l.acyclic(n) })
				x.Constructs = append(x.Constructs, c)
			}
		}
	}
}

// besides reports whether control can also reach the body of a master without any of its tests.
func (f *function) besides(d *directives.Directive, tests []int) bool {
	for n := range f.avoiding(tests) {
		own, started := 0, false
		b := &f.g.Blocks[n]
		for _, i := range b.Insts {
			if line := f.line(i.Addr); d.Last < line && line <= d.End {
				own++
				_, _, exact, _ := f.o.Line(i.Addr)
				started = started || exact // else the line may be left from the code before
			}
		}
		if started && own == len(b.Insts) {
			return true
		}
	}
	return false
}

func (f *function) master(line int) (directives.Directive, bool) {
	for _, d := range f.ds.masters {
		if line > 0 && d.Begin <= line && line <= d.Last {
			return *d, true
		}
	}
	return directives.Directive{}, false
}

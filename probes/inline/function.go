package inline

import (
	"cmp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"ompp-attach/event"
	"ompp-attach/probes/disasm"
	"ompp-attach/probes/disasm/graph"
	"ompp-attach/probes/disasm/points"
	"ompp-attach/probes/disasm/taint"
	"ompp-attach/symbols"
	"ompp-attach/symbols/directives"
)

// The origins to which values are traced.
const (
	byThread taint.Set = 1 << iota // omp_get_thread_num
	bySize                         // omp_get_num_threads
)

// maxBlocks bounds the time that one function takes. The largest functions of real programs have a
// fifth of it.
const maxBlocks = 20000

// function is a function that may contain inline constructs.
type function struct {
	o         *symbols.Object
	fn        uint64
	region    bool // an outlined function
	g         *graph.Graph
	dom, post graph.Order
	flow      *taint.Dependence
	calls     map[uint64]string      // the callee of each call or tail jump
	file      string                 // the source file in which its directives stand
	ds        *listing               // the directives of that file
	source    bool                   // the directives are known
	made      *directives.Directive  // the directive that made it; nil: not looked for, empty: none
	seen      []directives.Directive // directives of which code was found
	sync      *syncs
	shared    []bool // blocks of loops that are shared out
}

// analyse finds the constructs in all functions of a file.
func analyse(o *symbols.Object) *Inlined {
	x := &Inlined{}
	if o.Arch() != "amd64" {
		return x
	}
	files := map[string]*account{}
	regions := outlined(o)
	fns := callers(o, telling)
	functions, in := make([]*function, len(fns)), make([]Inlined, len(fns))
	sources := &listings{of: map[string]*listing{}}
	atOnce(len(fns), func(n int) {
		name, _, _ := o.FuncAt(fns[n])
		if ofRuntime(name) {
			return
		}
		f := newFunction(o, fns[n], strings.Contains(name, "._omp_fn.") || regions[fns[n]], sources)
		if f == nil {
			in[n].Unseen = []Unseen{{Fn: fns[n], What: "constructs without calls", Reason: "the function's flow of control cannot be followed"}}
			return
		}
		f.loops(&in[n])
		f.masters(&in[n])
		f.singles(&in[n])
		in[n].dropCrossed()
		functions[n] = f
	})
	for n, f := range functions {
		x.Constructs = append(x.Constructs, in[n].Constructs...)
		x.Unseen = append(x.Unseen, in[n].Unseen...)
		x.Loops = append(x.Loops, in[n].Loops...)
		if f == nil {
			continue
		}
		a := files[f.file]
		if a == nil {
			a = &account{f: f}
			files[f.file] = a
		}
		a.seen = append(a.seen, f.seen...)
	}
	for _, a := range files {
		a.orphans(x)
	}
	slices.SortFunc(x.Unseen, func(a, b Unseen) int { return cmp.Or(cmp.Compare(a.Fn, b.Fn), strings.Compare(a.What, b.What)) })
	return x
}

// atOnce calls a function for all numbers below n, several at a time.
func atOnce(n int, call func(int)) {
	var next atomic.Int64
	var done sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), n) {
		done.Go(func() {
			for k := int(next.Add(1)) - 1; k < n; k = int(next.Add(1)) - 1 {
				call(k)
			}
		})
	}
	done.Wait()
}

// account records which directives of a source file were found.
type account struct {
	f    *function // a function that was compiled from it
	seen []directives.Directive
}

// orphans adds the directives of a file that stand outside all parallel regions, and of which no
// code was found in any function.
func (a *account) orphans(x *Inlined) {
	for _, d := range a.f.ds.all {
		findable := isLoop(&d) && !d.HandsOut() || d.Matches("master") || d.Matches("masked")
		if !findable {
			continue
		}
		around := slices.ContainsFunc(a.f.ds.regions, func(o *directives.Directive) bool {
			return o.Begin <= d.Begin && d.Begin <= o.End && o.Matches("parallel")
		})
		if !around && !slices.Contains(a.seen, d) {
			x.Unseen = append(x.Unseen, Unseen{Fn: a.f.fn, What: nameOf(&d),
				Reason: "no machine code of the construct was found in any function"})
		}
	}
}

// ofRuntime reports whether a name is one of libgomp's own functions, which static programs
// contain.
func ofRuntime(name string) bool {
	return strings.HasPrefix(name, "GOMP_") || strings.HasPrefix(name, "gomp_") || strings.HasPrefix(name, "omp_") || strings.HasPrefix(name, "goacc")
}

func newFunction(o *symbols.Object, fn uint64, region bool, sources *listings) *function {
	parts, err := disasm.Parts(o, fn)
	if err != nil {
		return nil
	}
	f := &function{o: o, fn: fn, region: region, calls: map[uint64]string{}, ds: &listing{}}
	parts = ownParts(o, fn, parts)
	for _, p := range parts {
		lo, hi := p[0].Addr, p[len(p)-1].Next()
		for _, i := range p {
			if (i.Control == disasm.Call || i.Control == disasm.CallIndirect || i.Control == disasm.JumpIndirect && i.Ref != 0) ||
				i.Control == disasm.Jump && (i.Target < lo || i.Target >= hi) {
				f.calls[i.Addr] = callee(o, i)
			}
		}
	}
	f.g = graph.New(o, parts, func(i disasm.Inst) graph.Effect {
		switch name := f.calls[i.Addr]; {
		case divides(name):
			return graph.CallCuts
		case name != "" && noReturn.MatchString(name):
			return graph.CallEnds
		}
		return graph.CallReturns
	})
	if f.g.Unknown || len(f.g.Blocks) > maxBlocks {
		return nil
	}
	f.dom, f.post = f.g.Dominators(), f.g.PostDominators()
	f.flow = taint.Trace(f.g, func(i disasm.Inst) taint.Set {
		switch f.calls[i.Addr] {
		case "omp_get_thread_num":
			return byThread
		case "omp_get_num_threads":
			return bySize
		}
		return 0
	})
	f.sync = f.syncs()
	if e, ok := o.Outlined(fn); ok {
		f.file = e.File
	} else if file, _, _, ok := o.Line(fn); ok {
		f.file = file
	}
	if f.file != "" {
		f.ds, f.source = sources.get(o, f.file)
	}
	return f
}

// ownParts leaves out parts that are functions of their own, reached by a tail call.
func ownParts(o *symbols.Object, fn uint64, parts [][]disasm.Inst) [][]disasm.Inst {
	return slices.DeleteFunc(parts, func(p []disasm.Inst) bool {
		n, start, ok := o.FuncAt(p[0].Addr)
		return p[0].Addr != fn && (!ok || start != p[0].Addr || !strings.Contains(n, ".cold"))
	})
}

// line returns the line of an instruction in the function's own file, 0 if it
// has none.
func (f *function) line(addr uint64) int {
	if f.file == "" {
		return 0
	}
	file, line, _, ok := f.o.Line(addr)
	if !ok || file != f.file {
		return 0
	}
	return line
}

// isLoop reports whether a directive shares out a loop, alone or as part of a combined one.
func isLoop(d *directives.Directive) bool {
	w := strings.Fields(d.Words)
	if w[0] == "parallel" {
		w = w[1:]
	}
	return len(w) > 0 && (w[0] == "for" || w[0] == "do" || w[0] == "loop")
}

// around returns the innermost loop directive in whose block a line lies.
func (f *function) around(line int) (best directives.Directive, ok bool) {
	for _, d := range f.ds.loops {
		if d.Last < line && line <= d.End && (!ok || d.Begin >= best.Begin) {
			best, ok = *d, true
		}
	}
	return best, ok
}

// point makes a point of an instruction.
func point(i disasm.Inst) Point { return Point{VAddr: i.Addr, Cost: points.CostOf(i)} }

// leave finds where every thread that comes through block from has left the construct. The last
// instruction of that block decides about the construct. The point is the first cheap instruction
// on the way that all threads share. If there is none, it is the end of the region, or else an
// instruction that the kernel must single-step. If there is no such point, end says how the
// construct ends.
func (f *function) leave(from int, acyclic func(int) bool) (p []Point, end event.InlineEnd) {
	var stepped *disasm.Inst
	for j := f.post.Over(from); j >= 0; j = f.post.Over(j) {
		if !acyclic(j) {
			continue
		}
		b := &f.g.Blocks[j]
		for n := range b.Insts {
			i := b.Insts[n]
			if i.Emulated && !i.Refused && i.Control != disasm.Nop {
				return []Point{point(i)}, event.EndPoint
			}
			if !i.Refused && stepped == nil {
				stepped = &i
			}
		}
		if b.Last().Transfers() {
			break
		}
	}
	switch {
	case f.last(from):
		return nil, event.EndRegion
	case stepped != nil:
		return []Point{point(*stepped)}, event.EndPoint
	}
	return nil, event.EndNext
}

// last reports whether a region has no barrier, and no construct that a team divides, behind a
// block.
func (f *function) last(from int) bool {
	if !f.region {
		return false
	}
	for n := range f.reach(f.g.Blocks[from].Succs) {
		if divides(f.calls[f.g.Blocks[n].Last().Addr]) {
			return false
		}
	}
	return true
}

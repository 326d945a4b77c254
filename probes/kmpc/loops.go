package kmpc

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"ompp-attach/probes"
	"ompp-attach/probes/callgraph"
	"ompp-attach/probes/disasm"
	"ompp-attach/probes/disasm/graph"
	"ompp-attach/probes/disasm/points"
	"ompp-attach/probes/disasm/values"
	"ompp-attach/symbols"
)

// A thread asks libomp for each chunk of a dynamic loop by __kmpc_dispatch_next_*. The answer 0
// ends the thread's share. A probe of the function's return would cost an entry and a return for
// each chunk. A probe where the function finds that no chunk is left costs one hit for each loop.

// placeLoopsOver places the probes where the shares of dynamic loops end. It returns the entry
// points that need no other probe for it. A function that is not understood, or that has no cheap
// place, keeps its return probe.
func placeLoopsOver(p *probes.Planner) (done map[uint64]bool) {
	type entry struct {
		name  string
		vaddr uint64
		found []disasm.Inst
	}
	var entries []*entry
	var ready sync.WaitGroup
	for _, name := range []string{"__kmpc_dispatch_next_4", "__kmpc_dispatch_next_4u", "__kmpc_dispatch_next_8", "__kmpc_dispatch_next_8u"} {
		for _, vaddr := range p.Object.Symbol(name) {
			e := &entry{name: name, vaddr: vaddr}
			entries = append(entries, e)
			ready.Go(func() { e.found, _ = locateLoopOver(p.Object, e.vaddr) })
		}
	}
	ready.Wait()
	done = map[uint64]bool{}
	for _, e := range entries {
		for _, i := range e.found {
			p.At("["+e.name+": no chunk left]", &loopOver, i.Addr, points.CostOf(i), points.Always)
			done[e.vaddr] = true
		}
	}
	return done
}

// upperBound is the argument of __kmpc_dispatch_next_* (loc, gtid, p_last, p_lb, p_ub, p_st) by
// which the function returns a chunk's last iteration.
const upperBound = 4

// locateLoopOver finds the instructions through which __kmpc_dispatch_next_* at entry goes when it
// will answer 0. Each such call hits exactly one of them; no other call hits any. In a team the
// function counts the thread as finished, by the only atomic instruction of its own. That comes
// after the call that takes a chunk has answered 0. In a serialised region the function clears the
// bounds. The error says that the function has another form.
func locateLoopOver(o *symbols.Object, entry uint64) ([]disasm.Inst, error) {
	parts, err := disasm.Parts(callgraph.CodeOf(o), entry)
	if err != nil {
		return nil, err
	}
	flow, err := values.NewFlow(o, parts)
	if err != nil {
		return nil, err
	}
	g := graph.New(o, parts, func(disasm.Inst) graph.Effect { return graph.CallReturns })
	if g.Unknown {
		return nil, errors.New("it has a jump table")
	}
	var counts, clears []disasm.Inst
	for i, s := range flow.States() {
		if i.Locked {
			counts = append(counts, i)
		}
		for _, w := range s.Stores(i) {
			if n, ok := w.Value.Const(); ok && n == 0 && w.At.Is(values.AnArgument, upperBound) {
				clears = append(clears, i)
			}
		}
	}
	if len(counts) != 1 || len(clears) == 0 {
		return nil, fmt.Errorf("it has %d atomic instructions and clears its upper bound at %d places", len(counts), len(clears))
	}
	if !afterRefusal(flow, g, counts[0]) {
		return nil, fmt.Errorf("%s does not depend on a call that takes a chunk", counts[0])
	}
	anchors := append(counts, clears...)
	if err := apart(g, anchors); err != nil {
		return nil, err
	}
	var found []disasm.Inst
	for _, a := range anchors {
		i, ok := cheapestBehind(g, a)
		if !ok {
			return nil, fmt.Errorf("no cheap place for a probe behind %s", a)
		}
		found = append(found, i)
	}
	return found, nil
}

// afterRefusal reports whether the only way to an instruction leads over a jump that tests a call's
// result for 0.
func afterRefusal(flow *values.Flow, g *graph.Graph, at disasm.Inst) bool {
	b, ok := g.BlockOf(at.Addr)
	if !ok || len(g.Blocks[b].Preds) != 1 {
		return false
	}
	from := &g.Blocks[g.Blocks[b].Preds[0]]
	test, r, ok := from.TestBefore()
	if !ok || r != 0 { // the register of results
		return false
	}
	jump := from.Last()
	if ifZero := jump.Cond == disasm.Equal; ifZero != (jump.Target == g.Blocks[b].Insts[0].Addr) {
		return false
	}
	s, ok := flow.At(test.Addr)
	if !ok {
		return false
	}
	v := s.Result()
	return len(v.Atoms) == 1 && v.Off == 0 && v.Atoms[0].Origin == values.AResult
}

// apart returns an error if one call may execute two of the instructions, or one of them twice.
func apart(g *graph.Graph, list []disasm.Inst) error {
	blocks := map[int]bool{}
	for _, i := range list {
		b, ok := g.BlockOf(i.Addr)
		if !ok || blocks[b] {
			return fmt.Errorf("%s is one of two in its block", i)
		}
		blocks[b] = true
	}
	for from := range blocks {
		seen := map[int]bool{}
		for todo := g.Blocks[from].Succs; len(todo) > 0; {
			n := todo[0]
			todo = slices.Clone(todo[1:]) // not the graph's own
			if blocks[n] {
				return fmt.Errorf("code at %#x may follow that at %#x", g.Blocks[n].Insts[0].Addr, g.Blocks[from].Insts[0].Addr)
			}
			if !seen[n] {
				seen[n] = true
				todo = append(todo, g.Blocks[n].Succs...)
			}
		}
	}
	return nil
}

// cheapestBehind finds the cheapest instruction that the kernel emulates and that is executed
// exactly when the given one has been executed.
func cheapestBehind(g *graph.Graph, at disasm.Inst) (best disasm.Inst, ok bool) {
	b, found := g.BlockOf(at.Addr)
	if !found {
		return best, false
	}
	for _, i := range g.Blocks[b].Insts {
		if i.Addr > at.Addr && i.Emulated && !i.Refused && (!ok || points.CostOf(i) < points.CostOf(best)) {
			best, ok = i, true
		}
	}
	return best, ok
}

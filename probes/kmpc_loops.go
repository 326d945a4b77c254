package probes

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"ompp-attach/event"
	"ompp-attach/probes/insn"
	"ompp-attach/symbols"
)

// A thread asks libomp for each chunk of a dynamic loop by
// __kmpc_dispatch_next_*, and has done its share when that answers 0. Probed at
// its return, that costs an entry and a return for each chunk; probed where the
// function finds that nothing is left, one hit for each loop.

// pointLoopOver is where __kmpc_dispatch_next_* has found that no chunk is left.
var pointLoopOver = point{construct: event.Loop, entry: event.Close}

// loopsOver places the probes where the shares of dynamic loops are done, and
// returns the entry points that need none of their own for it. One that is not
// understood, or has no cheap place, keeps its return probe.
func (p *Plan) loopsOver(lo, hi uint64) (done map[uint64]bool) {
	type entry struct {
		name  string
		vaddr uint64
		found []insn.Inst
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
			p.add("["+e.name+": no chunk left]", &pointLoopOver, i.Addr, insn.CostOf(i), newRow(&pointLoopOver, i.Addr, lo, hi))
			done[e.vaddr] = true
		}
	}
	return done
}

// upperBound is the argument of __kmpc_dispatch_next_* in which it returns a
// chunk's last iteration: (loc, gtid, p_last, p_lb, p_ub, p_st).
const upperBound = 4

// locateLoopOver finds the instructions through which __kmpc_dispatch_next_* at
// entry goes when it will answer 0, together hit once by such a call and never by
// another. In a team it then counts the thread as one that has finished: the only
// atomic instruction that it has itself, after the call that would have taken a
// chunk has answered 0. In a serialised region it clears the bounds. The error
// tells that the function takes another form.
func locateLoopOver(o *symbols.Object, entry uint64) ([]insn.Inst, error) {
	parts, err := insn.Parts(codeOf(o), entry)
	if err != nil {
		return nil, err
	}
	flow, err := insn.NewFlow(o, parts)
	if err != nil {
		return nil, err
	}
	graph := insn.NewGraph(o, parts, func(insn.Inst) insn.Effect { return insn.CallReturns })
	if graph.Unknown {
		return nil, errors.New("it has a jump table")
	}
	var counts, clears []insn.Inst
	for i, s := range flow.States() {
		if i.Locked {
			counts = append(counts, i)
		}
		for _, w := range s.Stores(i) {
			if n, ok := w.Value.Const(); ok && n == 0 && w.At.Is(insn.AnArgument, upperBound) {
				clears = append(clears, i)
			}
		}
	}
	if len(counts) != 1 || len(clears) == 0 {
		return nil, fmt.Errorf("it has %d atomic instructions and clears its upper bound at %d places", len(counts), len(clears))
	}
	if !afterRefusal(flow, graph, counts[0]) {
		return nil, fmt.Errorf("%s does not depend on a call that takes a chunk", counts[0])
	}
	anchors := append(counts, clears...)
	if err := apart(graph, anchors); err != nil {
		return nil, err
	}
	var found []insn.Inst
	for _, a := range anchors {
		i, ok := cheapestBehind(graph, a)
		if !ok {
			return nil, fmt.Errorf("no cheap place for a probe behind %s", a)
		}
		found = append(found, i)
	}
	return found, nil
}

// afterRefusal tells whether the only way to an instruction is over a jump that
// tests the result of a call for 0.
func afterRefusal(flow *insn.Flow, graph *insn.Graph, at insn.Inst) bool {
	b, ok := graph.BlockOf(at.Addr)
	if !ok || len(graph.Blocks[b].Preds) != 1 {
		return false
	}
	from := &graph.Blocks[graph.Blocks[b].Preds[0]]
	test, r, ok := from.TestBefore()
	if !ok || r != 0 { // the register of results
		return false
	}
	jump := from.Last()
	if ifZero := jump.Cond == insn.Equal; ifZero != (jump.Target == graph.Blocks[b].Insts[0].Addr) {
		return false
	}
	s, ok := flow.At(test.Addr)
	if !ok {
		return false
	}
	v := s.Result()
	return len(v.Atoms) == 1 && v.Off == 0 && v.Atoms[0].Kind == insn.AResult
}

// apart reports an error if one of the instructions may be executed after
// another one, or again, in one call.
func apart(graph *insn.Graph, list []insn.Inst) error {
	blocks := map[int]bool{}
	for _, i := range list {
		b, ok := graph.BlockOf(i.Addr)
		if !ok || blocks[b] {
			return fmt.Errorf("%s is one of two in its block", i)
		}
		blocks[b] = true
	}
	for from := range blocks {
		seen := map[int]bool{}
		for todo := graph.Blocks[from].Succs; len(todo) > 0; {
			n := todo[0]
			todo = slices.Clone(todo[1:]) // not the graph's own
			if blocks[n] {
				return fmt.Errorf("code at %#x may follow that at %#x", graph.Blocks[n].Insts[0].Addr, graph.Blocks[from].Insts[0].Addr)
			}
			if !seen[n] {
				seen[n] = true
				todo = append(todo, graph.Blocks[n].Succs...)
			}
		}
	}
	return nil
}

// cheapestBehind finds the cheapest instruction that is executed when, and only
// when, the given one has been: one that the kernel emulates.
func cheapestBehind(graph *insn.Graph, at insn.Inst) (best insn.Inst, ok bool) {
	b, found := graph.BlockOf(at.Addr)
	if !found {
		return best, false
	}
	for _, i := range graph.Blocks[b].Insts {
		if i.Addr > at.Addr && i.Emulated && !i.Refused && (!ok || insn.CostOf(i) < insn.CostOf(best)) {
			best, ok = i, true
		}
	}
	return best, ok
}

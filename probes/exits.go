package probes

import (
	"encoding/binary"
	"fmt"
	"slices"
	"sync"

	"ompp-attach/probes/insn"
	"ompp-attach/symbols"
)

// How many calls above the functions that call task bodies a function still counts as running
// tasks. By the code alone any function may: even libomp's debugging output can end in an abort
// that cleans up. Where it matters whether a jump leads to user code, the way is short:
// __kmpc_omp_taskwait's template, __kmp_execute_tasks, its template, __kmp_invoke_task.
const (
	anyDepth  = 1 << 30
	nearDepth = 3
)

// callGraph says which functions may reach which others by direct calls and jumps. It is kept
// backwards, from callee to callers, and is made from the code's bytes. Bytes that only look like a
// call make the graph larger, never smaller.
type callGraph struct {
	o      *symbols.Object
	code   *insn.Decoded       // the same code, of which each function is decoded once
	from   map[uint64][]uint64 // callers, by the function that they call or jump to
	bodies map[uint64]*function
}

// function is one decoded function of a library.
type function struct {
	parts [][]insn.Inst
	flow  *insn.Flow
}

func newCallGraph(o *symbols.Object) *callGraph {
	g := &callGraph{o: o, code: codeOf(o), from: map[uint64][]uint64{}, bodies: map[uint64]*function{}}
	for _, r := range o.TextRanges() {
		b := o.Read(r.Lo, int(r.Hi-r.Lo))
		branchSites(o.Arch(), b, r.Lo, func(at, target uint64) {
			if target = g.resolve(target); target == 0 {
				return
			}
			if lo, _, ok := o.FuncRange(at); ok && lo != target && !slices.Contains(g.from[target], lo) {
				g.from[target] = append(g.from[target], lo)
			}
		})
	}
	return g
}

// resolve returns the start of the function that an address leads to. An address in the procedure
// linkage table is followed; the result is 0 for another library's function.
func (g *callGraph) resolve(target uint64) uint64 {
	if name, ok := g.o.PLT(target); ok {
		if own := g.o.Symbol(name); len(own) > 0 {
			return own[0]
		}
		return 0
	}
	lo, _, ok := g.o.FuncRange(target)
	if !ok {
		return 0
	}
	return lo
}

// branchSites visits all bytes that look like a direct call or jump.
func branchSites(arch string, b []byte, base uint64, visit func(at, target uint64)) {
	if arch == "arm64" {
		for i := 0; i+4 <= len(b); i += 4 {
			w := binary.LittleEndian.Uint32(b[i:])
			switch at := base + uint64(i); {
			case w>>26&31 == 5: // b, bl
				visit(at, at+uint64(int64(int32(w<<6)>>4)))
			case w>>24 == 0x54, w>>25&63 == 0x1a: // b.cond, cbz
				visit(at, at+uint64(int64(int32(w<<8)>>13<<2)))
			}
		}
		return
	}
	for i := 0; i+5 <= len(b); i++ {
		if b[i]&0xfe == 0xe8 || b[i]&0xf0 == 0x80 && i > 0 && b[i-1] == 0x0f {
			visit(base+uint64(i), base+uint64(i)+5+uint64(int64(int32(binary.LittleEndian.Uint32(b[i+1:])))))
		}
	}
}

// reaching returns the functions from which at most depth calls in a row may lead to one of the
// targets, and the targets themselves.
func (g *callGraph) reaching(targets []uint64, depth int) map[uint64]bool {
	all := map[uint64]bool{}
	for level := targets; depth >= 0 && len(level) > 0; depth-- {
		var next []uint64
		for _, f := range level {
			if !all[f] {
				all[f] = true
				next = append(next, g.from[f]...)
			}
		}
		level = next
	}
	return all
}

// read decodes the function at entry and follows its values, once for all callers.
func (g *callGraph) read(entry uint64) (*function, error) {
	if f := g.bodies[entry]; f != nil {
		return f, nil
	}
	parts, err := insn.Parts(g.code, entry)
	if err != nil {
		return nil, err
	}
	flow, err := insn.NewFlow(g.o, parts)
	if err != nil {
		return nil, err
	}
	f := &function{parts, flow}
	g.bodies[entry] = f
	return f, nil
}

// readAll reads functions ahead of their use, several at a time. Following their values takes most
// of the time that a plan takes.
func (g *callGraph) readAll(entries []uint64) {
	var ready sync.WaitGroup
	var mu sync.Mutex
	for _, entry := range entries {
		parts, err := insn.Parts(g.code, entry)
		if err != nil {
			continue // read will report the error
		}
		ready.Go(func() {
			if flow, err := insn.NewFlow(g.o, parts); err == nil {
				mu.Lock()
				defer mu.Unlock()
				g.bodies[entry] = &function{parts, flow}
			}
		})
	}
	ready.Wait()
}

// exits finds the instructions through which the function at entry returns to its caller. Each call
// hits exactly one of them, after the last of the user's code that runs inside the call. So no call
// of a busy function, which may run user code, comes behind them. If the function ends in a jump to
// one of follow, that function's exits are taken; these are hit for its other callers, too. Any
// other such jump is an exit itself.
func (g *callGraph) exits(entry uint64, busy, follow map[uint64]bool) ([]taskPoint, error) {
	var out []taskPoint
	seen := map[uint64]bool{}
	for todo := []uint64{entry}; len(todo) > 0; todo = todo[1:] {
		at := todo[0]
		if seen[at] {
			continue
		}
		seen[at] = true
		f, err := g.read(at)
		if err != nil {
			return nil, err
		}
		var ends []uint64
		for _, i := range f.flow.Reached() {
			switch {
			case i.Kind != insn.Ret && !f.flow.Leaves(i):
			case i.Kind == insn.Jcc:
				return nil, fmt.Errorf("it ends in a conditional jump, %s", i)
			case i.Kind == insn.Jump && follow[g.resolve(i.Target)]:
				todo = append(todo, g.resolve(i.Target))
			default:
				ends = append(ends, i.Addr)
			}
		}
		if len(ends) == 0 {
			continue
		}
		quiet := func(call insn.Inst) bool { return !busy[g.resolve(call.Target)] }
		found, err := f.flow.Cut(ends, quiet, func(insn.Inst) bool { return true })
		if err != nil {
			return nil, err
		}
		for _, a := range found {
			p := pointAt(a.Inst, a.When)
			p.In = g.nameOf(at)
			out = append(out, p)
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("it has no return")
	}
	return out, nil
}

func pointAt(i insn.Inst, when insn.When) taskPoint {
	return taskPoint{VAddr: i.Addr, Cost: insn.CostOf(i), When: when, Reg: insn.NoReg}
}

// reachable returns the functions to which at most depth direct calls and jumps in a row lead from
// the given ones.
func (g *callGraph) reachable(from []uint64, depth int) []uint64 {
	found := slices.Clone(from)
	for level := from; depth > 0 && len(level) > 0; depth-- {
		var next []uint64
		for _, entry := range level {
			// the instructions before an undecodable byte are enough
			body, _ := insn.Func(g.code, entry)
			for _, i := range body {
				if i.Kind != insn.Call && i.Kind != insn.Jump && i.Kind != insn.Jcc {
					continue
				}
				if f := g.resolve(i.Target); f != 0 && !slices.Contains(found, f) {
					found, next = append(found, f), append(next, f)
				}
			}
		}
		level = next
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// callers returns those of the given functions that make calls as indirect finds them, decoded.
func (g *callGraph) callers(entries []uint64) []uint64 {
	found := slices.DeleteFunc(entries, func(entry uint64) bool { return len(g.indirect(entry)) == 0 })
	g.readAll(found)
	return found
}

// indirect returns a function's calls through a register or computed memory.
func (g *callGraph) indirect(entry uint64) (calls []insn.Inst) {
	body, _ := insn.Func(g.code, entry) // the instructions before an undecodable byte are enough
	for _, i := range body {
		if callsRegion(i) {
			calls = append(calls, i)
		}
	}
	return calls
}

// nameOf returns a function's name for messages.
func (g *callGraph) nameOf(entry uint64) string {
	if name, start, ok := g.o.FuncAt(entry); ok && start == entry {
		return name
	}
	return fmt.Sprintf("function at %#x", entry)
}

package kmpc

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"ompp-attach/probes"
	"ompp-attach/probes/callgraph"
	"ompp-attach/probes/disasm"
	"ompp-attach/probes/disasm/graph"
	"ompp-attach/probes/disasm/points"
	"ompp-attach/probes/disasm/values"
	"ompp-attach/symbols"
)

// apartEnds are the places that tell the ends of bodies by thread: one for workers, and one for the
// thread that forked. They serve where the join may be derived. Behind __kmp_invoke_microtask both
// kinds of threads pass, and the join takes a hit of its own.
type apartEnds struct {
	// Join is the entry of __kmp_join_call: the body of the thread that forked is over, in teams of
	// any size. Its return is the join.
	Join uint64
	// Worker is the instruction behind the call in __kmp_launch_thread by which a worker executes
	// its part of a region.
	Worker disasm.Inst
	// Covered are the calls of __kmp_invoke_microtask that one of the two stands for.
	Covered []disasm.Inst
}

// forkCalls are the two functions that do __kmpc_fork_call's work.
type forkCalls struct {
	fork uint64 // __kmp_fork_call: the thread that forks executes its part of the region inside
	join uint64 // __kmp_join_call
	// __kmp_invoke_task_func: each thread of a team calls __kmp_invoke_microtask by it
	invoker uint64
}

// locateApart finds these places (kmp_runtime.cpp, LLVM 13 to 19). begins are all calls of
// __kmp_invoke_microtask. The error says what looks otherwise in this build.
func locateApart(o *symbols.Object, begins []bodyCall) (a apartEnds, err error) {
	if o.Arch() != "amd64" {
		return a, errors.New("workers' calls are known on x86-64 only")
	}
	g := callgraph.New(o)
	c, err := locateForkCalls(g)
	if err != nil {
		return a, err
	}
	a.Join = c.join
	invoke, err := a.cover(g, &c, begins)
	if err != nil {
		return a, err
	}
	call, err := workersCall(g, &c, invoke)
	if err != nil {
		return a, err
	}
	if a.Worker, err = callgraph.Behind(o, call); err != nil {
		return a, fmt.Errorf("after a worker's %s: %w", call, err)
	}
	return a, nil
}

// locateForkCalls finds the calls of __kmpc_fork_call(loc, argc, microtask, ...) that have the
// arguments (loc, gtid, fork_context_intel, ...). There are two, and each execution makes both:
//
//	__kmp_fork_call(loc, gtid, fork_context_intel, argc, microtask, __kmp_invoke_task_func, ap)
//	__kmp_join_call(loc, gtid, fork_context_intel, exit_teams = 0)
func locateForkCalls(g *callgraph.Graph) (c forkCalls, err error) {
	const intel = 1
	entry, err := disasm.OneSymbol(g.Code, "__kmpc_fork_call")
	if err != nil {
		return c, err
	}
	f, err := g.Read(entry)
	if err != nil {
		return c, err
	}
	var calls []disasm.Inst
	for i, s := range f.Flow.States() {
		context, known := s.Arg(2).Const()
		if i.Control != disasm.Call || !s.Arg(0).Is(values.AnArgument, 0) || !known || context != intel {
			continue
		}
		calls = append(calls, i)
		last, known := s.Arg(3).Const()
		switch at, isConst := s.Arg(5).Const(); {
		case len(calls) == 1 && s.Arg(4).Is(values.AnArgument, 2) && isConst:
			c.fork, c.invoker = i.Target, at
		case len(calls) == 2 && known && last == 0:
			c.join = i.Target
		default:
			return c, fmt.Errorf("__kmpc_fork_call has other arguments for %s", i)
		}
	}
	if len(calls) != 2 {
		return c, fmt.Errorf("%d calls of __kmpc_fork_call pass on what it was called with", len(calls))
	}
	if !eachOnce(g.Code, f.Parts, calls) {
		return c, errors.New("not each execution of __kmpc_fork_call forks and joins once")
	}
	if c.fork, c.join = g.Resolve(c.fork), g.Resolve(c.join); c.fork == 0 || c.join == 0 || c.fork == c.join {
		return c, errors.New("where __kmpc_fork_call forks and joins is not known")
	}
	return c, endsSerialised(g, c.join)
}

// endsSerialised returns an error unless __kmp_join_call ends teams of one thread by a call of
// __kmpc_end_serialized_parallel. The engine takes that call's return for the join where
// __kmp_join_call's own return is not reported.
func endsSerialised(g *callgraph.Graph, join uint64) error {
	const callee = "__kmpc_end_serialized_parallel"
	end, err := disasm.OneSymbol(g.Code, callee)
	if err != nil {
		return err
	}
	if !slices.Contains(g.Reachable([]uint64{join}, 1), end) {
		return fmt.Errorf("__kmp_join_call does not call %s", callee)
	}
	return nil
}

// eachOnce tells whether each way through a function to its return makes all of the calls, each
// once and in this order.
func eachOnce(code disasm.Code, parts [][]disasm.Inst, calls []disasm.Inst) bool {
	g := graph.New(code, parts, func(disasm.Inst) graph.Effect { return graph.CallReturns })
	if g.Unknown {
		return false
	}
	var at []int
	for _, i := range calls {
		n, ok := g.BlockOf(i.Addr)
		if !ok {
			return false
		}
		at = append(at, n)
	}
	for _, cycle := range g.Cycles(nil, -1) {
		if slices.ContainsFunc(at, func(n int) bool { return slices.Contains(cycle, n) }) {
			return false
		}
	}
	over := g.Dominators()
	for k := 1; k < len(calls); k++ {
		if at[k-1] == at[k] && calls[k-1].Addr > calls[k].Addr || !over.Covers(at[k-1], at[k]) {
			return false
		}
	}
	returns := 0
	for n := range g.Blocks {
		last := g.Blocks[n].Last()
		if !over.Reached(n) || last.Control != disasm.Ret {
			if over.Reached(n) && (last.Control == disasm.Jump || last.Control == disasm.Jcc) && g.Blocks[n].Leaves {
				return false // the function ends elsewhere
			}
			continue
		}
		returns++
		if !over.Covers(at[len(at)-1], n) {
			return false
		}
	}
	return returns > 0
}

// cover finds the calls of __kmp_invoke_microtask that the new places stand for: those that
// __kmp_fork_call makes, and the one that threads of teams make. It returns where a team holds the
// function that its threads execute, t_invoke: the field behind t_pkfn, which is what the threads
// hand to __kmp_invoke_microtask.
func (a *apartEnds) cover(g *callgraph.Graph, c *forkCalls, begins []bodyCall) (invoke uint32, err error) {
	for _, b := range begins {
		lo, _, _ := g.Object.FuncRange(b.Addr)
		switch name, _, _ := g.Object.FuncAt(b.Addr); {
		case lo == c.invoker && invoke != 0:
			return 0, fmt.Errorf("__kmp_invoke_task_func calls %s twice", microtask)
		case lo == c.invoker:
			if invoke, err = invokeField(g, lo, b); err != nil {
				return 0, err
			}
		case lo == c.fork, onlyFrom(g, lo, c.fork):
		case name == "__kmpc_fork_call_if":
			continue // it makes a region of one thread without __kmp_fork_call
		default:
			return 0, fmt.Errorf("which threads make the call of %s at %#x is not known", microtask, b.Addr)
		}
		a.Covered = append(a.Covered, b.Inst)
	}
	if invoke == 0 {
		return 0, fmt.Errorf("__kmp_invoke_task_func does not call %s", microtask)
	}
	return invoke, nil
}

// onlyFrom tells whether a function is a part of another one: only that calls it.
func onlyFrom(g *callgraph.Graph, part, of uint64) bool {
	callers := g.From[part]
	return len(callers) == 1 && callers[0] == of
}

// invokeField returns the offset in a team of t_invoke, from a call of __kmp_invoke_microtask whose
// team is known.
func invokeField(g *callgraph.Graph, entry uint64, b bodyCall) (offset uint32, err error) {
	const pointer = 8 // bytes; kmp.h: microtask_t t_pkfn; launch_t t_invoke;
	if b.Team == disasm.NoReg {
		return 0, fmt.Errorf("no register holds the team at %s", b.Inst)
	}
	f, err := g.Read(entry)
	if err != nil {
		return 0, err
	}
	s, ok := f.Flow.At(b.Addr)
	if !ok {
		return 0, fmt.Errorf("what leads to %s is not known", b.Inst)
	}
	field, ok := s.Arg(0).Loaded(8)
	if team := (values.Value{Atoms: field.Atoms}); !ok || s.Holder(team) != b.Team || field.Off <= 0 || field.Off >= maxField {
		return 0, fmt.Errorf("%s does not take its function from the team", b.Inst)
	}
	return uint32(field.Off) + pointer, nil
}

// workersCall finds the call of t_invoke that workers make: in __kmp_launch_thread, the function to
// which the start of a new thread (pthread_create) leads. All other such calls must be
// __kmp_fork_call's.
func workersCall(g *callgraph.Graph, c *forkCalls, invoke uint32) (call disasm.Inst, err error) {
	launched, err := launchedFunctions(g)
	if err != nil {
		return call, err
	}
	var found []disasm.Inst
	for _, lo := range callersOfField(g.Object, invoke) {
		if lo == c.fork || onlyFrom(g, lo, c.fork) {
			continue
		}
		calls, err := callsOfField(g, lo, invoke)
		switch {
		case err != nil:
			return call, err
		case len(calls) > 0 && !launched[lo]:
			return call, fmt.Errorf("which threads make %s is not known", calls[0])
		}
		found = append(found, calls...)
	}
	if len(found) != 1 {
		return call, fmt.Errorf("workers execute regions by %d calls", len(found))
	}
	return found[0], nil
}

// launchedFunctions returns the functions to which callers of pthread_create refer, and the
// functions that these call. __kmp_launch_worker and __kmp_launch_thread are among them.
func launchedFunctions(g *callgraph.Graph) (map[uint64]bool, error) {
	creates, _, err := callgraph.CallsOf(g.Object, "pthread_create")
	if err != nil {
		return nil, err
	}
	launched := map[uint64]bool{}
	for _, i := range creates {
		lo, _, _ := g.Object.FuncRange(i.Addr)
		body, err := disasm.Func(g.Code, lo)
		if err != nil {
			return nil, err
		}
		for _, at := range values.Addresses(body) {
			if lo, _, ok := g.Object.FuncRange(at); ok && lo == at {
				for _, f := range g.Reachable([]uint64{at}, 1) {
					launched[f] = true
				}
			}
		}
	}
	return launched, nil
}

// callersOfField returns the functions whose code has bytes of a call through a field of a
// structure (call *field(register)), in ascending order.
func callersOfField(o *symbols.Object, field uint32) (entries []uint64) {
	const call, byDisp32, sib = 0xff, 0x90, 0x94 // modrm: /2 with 32 bits of distance
	for _, r := range o.TextRanges() {
		b := o.Read(r.Lo, int(r.Hi-r.Lo))
		for i := 0; i+7 <= len(b); i++ {
			at := i + 2
			switch {
			case b[i] != call || b[i+1]&^7 != byDisp32:
				continue
			case b[i+1] == sib:
				at++
			}
			if binary.LittleEndian.Uint32(b[at:]) != field {
				continue
			}
			if lo, _, ok := o.FuncRange(r.Lo + uint64(i)); ok && !slices.Contains(entries, lo) {
				entries = append(entries, lo)
			}
		}
	}
	slices.Sort(entries)
	return entries
}

// callsOfField returns a function's calls through a field of a structure that the caller finds
// through a pointer, also where a register holds the field.
func callsOfField(g *callgraph.Graph, entry uint64, field uint32) (calls []disasm.Inst, err error) {
	f, err := g.Read(entry)
	if err != nil {
		return nil, err
	}
	for i, s := range f.Flow.States() {
		if !i.CallsPointer() {
			continue
		}
		if _, ok := s.Callee(i).FieldOf(int64(field)); ok {
			calls = append(calls, i)
		}
	}
	return calls, nil
}

// placeApart places the probes that tell ends by thread. Where ends may be derived, they stand for
// those behind __kmp_invoke_microtask and at the return of __kmpc_fork_call. A build that looks
// otherwise keeps these.
func placeApart(p *probes.Planner) {
	in, err := locate(p.Code)
	if err != nil {
		return
	}
	begins, err := locateBegins(p, in)
	if err != nil {
		return
	}
	a, err := locateApart(p.Object, begins)
	if err != nil {
		return
	}
	behind := map[uint64]bool{}
	for _, call := range a.Covered {
		at, err := callgraph.Behind(p.Object, call)
		if err != nil {
			return
		}
		behind[at.Addr] = true
	}
	p.WhereDerived(2, func() error {
		p.At("[after a worker's body]", &workerEnd, a.Worker.Addr, points.CostOf(a.Worker), points.Always)
		_, err := p.Entry("[__kmp_join_call]", a.Join, &joinCall)
		return err
	}, func(pl *probes.Placement) bool {
		return pl.Row == &join || pl.Row == &bodyEnd && behind[pl.VAddr]
	})
}

package probes

import (
	"fmt"

	"ompp-attach/bpf"
	"ompp-attach/event"
	"ompp-attach/probes/insn"
)

// This file has the entry points of constructs that came with OpenMP 4.0 and later, except for
// tasks.

// libgomp: scope.c, cancel (parallel.c), ordered.c, target.c, task.c.
var gompNewer = []point{
	// Only a scope with a task reduction makes a call; its barrier ends it.
	{symbols: `GOMP_scope_start`, construct: event.Scope, entry: event.Open, flags: bpf.RowOutsideOnly},
	// A construct with a task reduction starts by GOMP_loop_start, GOMP_sections2_start or
	// GOMP_scope_start. There the first thread makes the copies and the others wait for it, which
	// counts to the body. After the construct's barrier the threads wait once more, until all have
	// stopped using the copies.
	{symbols: `GOMP_workshare_task_reduction_unregister`, construct: event.Reduction, entry: event.Enter, ret: event.Acquired, marks: event.Whole},

	{symbols: `GOMP_cancel`, construct: event.Cancel, entry: event.Enter, ret: event.Result},
	{symbols: `GOMP_cancellation_point`, construct: event.CancellationPoint, entry: event.Enter, ret: event.Result},

	{symbols: `GOMP_doacross(_ull)?_wait`, construct: event.Ordered, entry: event.Enter, ret: event.Acquired, marks: event.Whole},
	{symbols: `GOMP_doacross(_ull)?_post`, construct: event.Ordered, entry: event.Enter, ret: event.Released, marks: event.Whole},

	// No user code runs in these, unless a `depend` clause makes the thread
	// execute tasks while it waits.
	{symbols: `GOMP_target_data(_ext)?`, construct: event.TargetData, entry: event.Enter, ret: event.Acquired},
	{symbols: `GOMP_target_end_data`, construct: event.TargetData, entry: event.Release, ret: event.Released},
	{symbols: `GOMP_target_update(_ext)?`, construct: event.TargetUpdate, entry: event.Enter, ret: event.Released, marks: event.Whole},
	{symbols: `GOMP_target_enter_exit_data`, construct: event.TargetEnterData, entry: event.Enter, ret: event.Released, a: take{5, toValue}, marks: event.Whole},
	// The loop over the teams of a target region that the host executes:
	// while (GOMP_teams4 (lower, upper, limit, first)) body.
	{symbols: `GOMP_teams4`, construct: event.Teams, entry: event.Open, ret: event.Result, num: 4},
}

// libomp: kmp_csupport.cpp, kmp_cancel.cpp.
var kmpcNewer = []point{
	{symbols: `__kmpc_scope`, construct: event.Scope, entry: event.Open, a: take{0, toLoc}},
	{symbols: `__kmpc_end_scope`, construct: event.Scope, entry: event.Close},
	{symbols: `__kmpc_distribute_static_init_4u?`, construct: event.Distribute, entry: event.Open, a: take{0, toLoc}, b: take{to: toValue}, flags: bpf.RowTrip32},
	{symbols: `__kmpc_distribute_static_init_8u?`, construct: event.Distribute, entry: event.Open, a: take{0, toLoc}, b: take{to: toValue}, flags: bpf.RowTrip64},
	{symbols: `__kmpc_distribute_static_fini`, construct: event.Distribute, entry: event.Close},
	{symbols: `__kmpc_dist_dispatch_init_(4|8)u?`, construct: event.Loop, entry: event.Open, a: take{0, toLoc}, flags: bpf.RowOutsideOnly},

	// 1: combine, then __kmpc_end_reduce_nowait; 2: combine by atomics, no
	// further call; 0: another thread has done it.
	{symbols: `__kmpc_reduce_nowait`, construct: event.Reduction, entry: event.Enter, ret: event.Result, a: take{0, toLoc}},
	{symbols: `__kmpc_end_reduce_nowait`, construct: event.Reduction, entry: event.Release, ret: event.Released},

	{symbols: `__kmpc_cancel`, construct: event.Cancel, entry: event.Enter, ret: event.Result, a: take{0, toLoc}},
	{symbols: `__kmpc_cancellationpoint`, construct: event.CancellationPoint, entry: event.Enter, ret: event.Result, a: take{0, toLoc}},

	{symbols: `__kmpc_doacross_wait`, construct: event.Ordered, entry: event.Enter, ret: event.Acquired, a: take{0, toLoc}, marks: event.Whole},
	{symbols: `__kmpc_doacross_post`, construct: event.Ordered, entry: event.Enter, ret: event.Released, a: take{0, toLoc}, marks: event.Whole},

	// __kmpc_fork_call_if(loc, argc, microtask, cond, args) calls
	// __kmpc_fork_call if cond holds, else it serialises the region itself.
	{symbols: `__kmpc_fork_call_if`, construct: event.Parallel, entry: event.Fork, a: take{0, toLoc}, b: take{2, toFn}, num: 4,
		flags: bpf.RowNoSite, marks: event.AtOnce | event.IfSerial},
}

// enclosing is an entry point that runs user code before it returns. No return probe may be pending
// meanwhile, so its exits are found by disassembly.
type enclosing struct {
	symbol      string
	entry, exit point
}

var gompEnclosing = []enclosing{
	// GOMP_teams_reg(fn, data, num_teams, thread_limit, flags) executes the
	// teams one after another.
	{"GOMP_teams_reg", point{construct: event.Teams, entry: event.Fork, a: take{0, toFn}, marks: event.AtOnce},
		point{construct: event.Teams, entry: event.Join, flags: bpf.RowNoSite}},
	{"GOMP_target_ext", point{construct: event.Target, entry: event.Enter},
		point{construct: event.Target, entry: event.Release}},
}

var kmpcEnclosing = []enclosing{
	// __kmpc_fork_teams(loc, argc, microtask, ...)
	{"__kmpc_fork_teams", point{construct: event.Teams, entry: event.Fork, a: take{0, toLoc}, b: take{2, toFn}, flags: bpf.RowNoSite},
		point{construct: event.Teams, entry: event.Join, flags: bpf.RowNoSite}},
}

// pointTeamDone is where GOMP_teams_reg has executed one team.
var pointTeamDone = point{construct: event.Teams, entry: event.Close}

// gompNewer places the probes around and in functions that run user code.
func (p *Plan) gompNewer(lo, hi uint64) {
	p.enclosing(gompEnclosing, lo, hi)
	const teams = "GOMP_teams_reg"
	entry, err := oneSymbol(p.Object, teams)
	if err != nil {
		return // before GCC 9
	}
	at, err := p.afterIndirectCall(entry)
	if err != nil {
		p.Missing = append(p.Missing, fmt.Sprintf("the end of each team in %s: %v", teams, err))
		return
	}
	p.add("["+teams+": team done]", &pointTeamDone, at.Addr, insn.CostOf(at), newRow(&pointTeamDone, at.Addr, lo, hi))
}

// afterIndirectCall finds where to probe behind a function's only call through a register.
func (p *Plan) afterIndirectCall(entry uint64) (at insn.Inst, err error) {
	body, err := insn.Func(p.code, entry)
	if err != nil {
		return at, err
	}
	var calls []insn.Inst
	for _, i := range body {
		if i.Kind == insn.CallIndirect && i.Ref == 0 {
			calls = append(calls, i)
		}
	}
	if len(calls) != 1 {
		return at, fmt.Errorf("%d calls through a register", len(calls))
	}
	return departure(p.Object, calls[0])
}

// enclosing places the probes of the functions in list that this library has. If a function's exits
// are not found, the function gets no probe and is added to Missing.
func (p *Plan) enclosing(list []enclosing, lo, hi uint64) {
	for i := range list {
		f := &list[i]
		if len(p.Object.Symbol(f.symbol)) == 0 {
			continue
		}
		out, err := exits(p.Object, f.symbol)
		var sp insn.Point
		if err == nil {
			sp, err = insn.SafePoint(p.code, p.Object.Symbol(f.symbol)[0], insn.Need{Args: f.entry.args()})
		}
		if err != nil {
			p.Missing = append(p.Missing, fmt.Sprintf("%s: %v", f.symbol, err))
			continue
		}
		p.add(f.symbol, &f.entry, sp.VAddr, sp.Cost, newRow(&f.entry, sp.VAddr, lo, hi))
		for _, a := range out {
			p.add("[return of "+f.symbol+"]", &f.exit, a.Inst.Addr, insn.CostOf(a.Inst), exitRow(&f.exit, a, lo, hi))
		}
	}
}

// exitRow makes the row of an instruction through which a function returns.
func exitRow(pt *point, a insn.Approach, lo, hi uint64) bpf.Row {
	r := newRow(pt, a.Inst.Addr, lo, hi)
	switch a.When {
	case insn.ZeroSet:
		r.Flags |= bpf.RowOnlyIfZF
	case insn.ZeroClear:
		r.Flags |= bpf.RowOnlyIfNotZF
	}
	return r
}

package kmpc

import (
	"fmt"

	"ompp-attach/bpf"
	"ompp-attach/probes"
	"ompp-attach/probes/callgraph"
	"ompp-attach/probes/disasm"
	"ompp-attach/probes/disasm/points"
	"ompp-attach/probes/disasm/values"
)

// bodyCall is one of the library's calls of __kmp_invoke_microtask.
type bodyCall struct {
	disasm.Inst
	// Team is the register that holds the team there, or NoReg if none is known to. Then the size
	// of the team takes three reads more.
	Team disasm.Reg
}

// locateBegins finds the calls by which threads enter the bodies of regions. Where a call takes its
// arguments from a structure, and __kmpc_bound_num_threads finds the team at the same place, that
// structure is the team. The error says that a call is no place for a probe, or that there may be
// calls which disassembly does not confirm.
func locateBegins(p *probes.Planner, in internals) (calls []bodyCall, err error) {
	at, skipped, err := callgraph.CallsOf(p.Object, microtask)
	if err != nil {
		return nil, err
	}
	if len(skipped) > 0 {
		return nil, fmt.Errorf("what looks like a call of %s at %#x is in no function that can be read", microtask, skipped[0])
	}
	for _, i := range at {
		if !i.Emulated || i.Refused {
			return nil, fmt.Errorf("no probe may sit cheaply on %s", i)
		}
		calls = append(calls, bodyCall{i, teamAt(p, i, in)})
	}
	return calls, nil
}

// teamAt returns the register that holds the team at a call of __kmp_invoke_microtask.
func teamAt(p *probes.Planner, call disasm.Inst, in internals) disasm.Reg {
	// The function that calls the bodies of all teams is small. The large functions call the bodies
	// of teams of one thread. To follow the values of the large ones takes 20 ms.
	const most = 1000
	const arguments = 4 // of __kmp_invoke_microtask(fn, gtid, tid, argc, argv)
	parts, err := disasm.Parts(p.Code, call.Addr)
	if err != nil {
		return disasm.NoReg
	}
	n := 0
	for _, part := range parts {
		n += len(part)
	}
	if n > most {
		return disasm.NoReg
	}
	flow, err := values.NewFlow(p.Object, parts)
	if err != nil {
		return disasm.NoReg
	}
	s, ok := flow.At(call.Addr)
	if !ok {
		return disasm.NoReg
	}
	field, ok := s.Arg(arguments).Loaded(8)
	if !ok {
		return disasm.NoReg
	}
	team := values.Value{Atoms: field.Atoms} // without the field's offset
	if found, ok := teamOf(team); !ok || found.Threads != in.Threads || found.Team != in.Team {
		return disasm.NoReg
	}
	return s.Holder(team)
}

// placeBegins places the probes where threads enter the bodies of regions: at the calls of
// __kmp_invoke_microtask. If they are not found, the function's entry is probed, and false is
// returned.
func placeBegins(p *probes.Planner) bool {
	in, err := locate(p.Code)
	if err != nil {
		return false
	}
	calls, err := locateBegins(p, in)
	if err != nil {
		return false
	}
	row := table().Find(microtask)
	for _, c := range calls {
		pl := p.At("[call of "+microtask+"]", row, c.Addr, points.CostOf(c.Inst), points.Always)
		if c.Team == disasm.NoReg {
			continue
		}
		// setSize completes the others.
		pl.Kernel.KmpTeam, pl.Kernel.KmpNproc = uint32(bpf.Reg(int(c.Team))), in.NProc
	}
	return true
}

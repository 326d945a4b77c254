package gomp

import (
	"fmt"

	"ompp-attach/bpf"
	"ompp-attach/probes"
	"ompp-attach/probes/callgraph"
	"ompp-attach/probes/disasm"
	"ompp-attach/probes/disasm/points"
)

// placeTeams places the probes inside libgomp that see teams.
func placeTeams(p *probes.Planner) error {
	in, err := locate(p.Code)
	if err != nil {
		return fmt.Errorf("find libgomp's team functions: %w", err)
	}
	tls := func(k *bpf.Row, vaddr uint64) {
		base := int32(0)
		if in.TLS.Slot != 0 {
			k.TlsSlot = int64(in.TLS.Slot - vaddr)
		} else {
			base = int32(in.TLS.Offset)
		}
		k.TlsTeam, k.TlsTeamId, k.TlsLevel = base+int32(in.TLS.Team), base+int32(in.TLS.TeamID), base+int32(in.TLS.Level)
	}
	for _, f := range []struct {
		name  string
		entry uint64
		row   *probes.Row
	}{{"[gomp_team_start]", in.TeamStart, &teamStart}, {"[gomp_team_end]", in.TeamEnd, &teamEnd}} {
		pl, err := p.Entry(f.name, f.entry, f.row)
		if err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
		tls(&pl.Kernel, pl.VAddr)
	}
	for _, b := range in.WorkerBegin {
		pl := p.At("[gomp_thread_start: begin]", &workerBegin, b.VAddr, b.Cost, b.Cond)
		tls(&pl.Kernel, pl.VAddr)
	}
	for _, vaddr := range in.WorkerEnd {
		p.At("[gomp_thread_start: end]", &workerEnd, vaddr, points.CallCost, points.Always)
	}
	return nil
}

// placeTeamDone places the probe behind the call by which GOMP_teams_reg executes a team.
func placeTeamDone(p *probes.Planner) {
	const teams = "GOMP_teams_reg"
	entry, err := disasm.OneSymbol(p.Object, teams)
	if err != nil {
		return // before GCC 9
	}
	at, err := behindPointerCall(p, entry)
	if err != nil {
		p.Missing = append(p.Missing, fmt.Sprintf("the end of each team in %s: %v", teams, err))
		return
	}
	p.At("["+teams+": team done]", &teamDone, at.Addr, points.CostOf(at), points.Always)
}

// behindPointerCall finds where to probe behind a function's only call of a function pointer.
func behindPointerCall(p *probes.Planner, entry uint64) (at disasm.Inst, err error) {
	body, err := disasm.Func(p.Code, entry)
	if err != nil {
		return at, err
	}
	var calls []disasm.Inst
	for _, i := range body {
		if i.CallsPointer() {
			calls = append(calls, i)
		}
	}
	if len(calls) != 1 {
		return at, fmt.Errorf("%d calls through a register", len(calls))
	}
	return callgraph.Behind(p.Object, calls[0])
}

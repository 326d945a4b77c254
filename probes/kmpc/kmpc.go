package kmpc

import (
	"fmt"

	"ompp-attach/bpf"
	"ompp-attach/event"
	"ompp-attach/probes"
	"ompp-attach/probes/disasm/points"
	"ompp-attach/symbols"
)

// Runtime describes libomp and libiomp5.
var Runtime = probes.Runtime{
	Name:    event.Kmpc,
	Defines: [][]string{{"__kmpc_fork_call", "__kmp_invoke_microtask"}},
	Exports: "__kmpc_fork_call",
	Files:   []string{"libomp", "libiomp"},
	Prefix:  "__kmp",
	Tasks:   locateTasks,
	Place:   place,
	Version: version,
}

// microtask is the function that calls the bodies of regions.
const microtask = "__kmp_invoke_microtask"

var table = probes.NewTable(basic, newer)

func place(p *probes.Planner) error {
	p.Tasks(table(), &taskSubmitted)
	done := placeLoopsOver(p)
	from, forwarded := forwards(p.Object, critical, criticalWithHint, 3)
	if forwarded {
		done[from.entry] = true
	}
	if placeBegins(p) {
		for _, entry := range p.Object.Symbol(microtask) {
			done[entry] = true
		}
	}
	p.Entries(table(), done)
	setBody(p)
	if forwarded {
		comesFrom(p, criticalWithHint, from)
	}
	countOwnCalls(p)
	setSize(p)
	if err := placeExits(p); err != nil {
		return err
	}
	placeApart(p)
	p.Enclosing(enclosing)
	return nil
}

// setBody tells the entry points' probes where __kmp_invoke_microtask is. A compiler may make the
// barrier that ends a region's body a jump, so that the barrier returns there.
func setBody(p *probes.Planner) {
	p.Object.Symbols(func(name string, vaddr, size uint64) {
		if name != microtask {
			return
		}
		for i := range p.Placements {
			pl := &p.Placements[i]
			pl.Kernel.BodyLo, pl.Kernel.BodySize = vaddr-pl.VAddr, size
		}
	})
}

// countOwnCalls makes the kernel side count the hits of calls that libomp makes itself. For a team
// of one thread, libomp calls __kmpc_serialized_parallel right before the body. The probe at the
// call of such a body tells the count.
func countOwnCalls(p *probes.Planner) {
	for i := range p.Placements {
		pl := &p.Placements[i]
		switch {
		case pl.Kernel.Flags&bpf.RowOutsideOnly != 0:
			pl.Kernel.LeftOut = uint32(probes.ProbeOf(pl.Cost))
		// Not the call of which placeBegins knows the team: larger teams come by it.
		case pl.Kernel.Flags&bpf.RowSizeFromKmp != 0 && pl.Kernel.KmpTeam == 0:
			pl.Kernel.Flags |= bpf.RowTellsLeftOut
		}
	}
}

// setSize makes the probe read the team's size where a thread enters the body. The engine works
// without the size, too.
func setSize(p *probes.Planner) {
	in, err := locate(p.Code)
	for i := range p.Placements {
		pl := &p.Placements[i]
		if pl.Kernel.Flags&bpf.RowSizeFromKmp == 0 || pl.Kernel.KmpTeam != 0 { // placeBegins knew
			continue
		}
		if err != nil {
			pl.Kernel.Flags &^= bpf.RowSizeFromKmp
			continue
		}
		pl.Kernel.KmpThreads = int64(in.Threads - pl.VAddr)
		pl.Kernel.KmpTeam, pl.Kernel.KmpNproc = in.Team, in.NProc
	}
}

// placeExits places the probes at which regions end.
func placeExits(p *probes.Planner) error {
	x, err := locateExits(p.Object)
	if err != nil {
		return fmt.Errorf("find where libomp's regions end: %w", err)
	}
	if n := len(x.Skipped); n > 0 {
		p.Missing = append(p.Missing, fmt.Sprintf("[after %s]: %d more of its calls are in no function that can be read, the first at %#x", microtask, n, x.Skipped[0]))
	}
	for _, i := range x.BodyEnd {
		p.At("[after "+microtask+"]", &bodyEnd, i.Addr, points.CostOf(i), points.Always)
	}
	for _, a := range x.Join {
		p.At("[return of __kmpc_fork_call]", &join, a.Inst.Addr, points.CostOf(a.Inst), a.When)
	}
	return nil
}

// version tells the release that brought the library's newest entry point. libomp states no
// version.
func version(o *symbols.Object) string {
	for _, brought := range []struct{ symbol, releases string }{
		{"__kmpc_dispatch_deinit", "LLVM 19 or newer"},
		{"__kmpc_fork_call_if", "LLVM 16 to 18"},
		{"__kmpc_sections_init", "LLVM 15"},
	} {
		if len(o.Symbol(brought.symbol)) > 0 {
			return brought.releases
		}
	}
	return "LLVM 14 or older"
}

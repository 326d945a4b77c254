package probes

import (
	"fmt"

	"ompp-attach/bpf"
	"ompp-attach/event"
	"ompp-attach/probes/callgraph"
	"ompp-attach/probes/disasm"
)

// TaskPoints are the places inside a runtime where tasks are created, start and
// end, and where the calls that contain tasks return.
type TaskPoints struct {
	// Created are the points where libgomp has allocated a deferred task, and where libomp's
	// taskloop submits a task that it has made. A task that is cancelled is created but does not
	// begin.
	Created []callgraph.Point
	// Begin and End lie around the calls of tasks' functions; in libomp such a call may be a part
	// of an untied task. An End with a register is also hit by tasks that have no Begin: libgomp's
	// offloaded tasks, and libomp's tasks without a routine. So it ends a task only if the register
	// holds the task that began last.
	Begin, End []callgraph.Point
	// Exits are, for each runtime entry point, the points through which it returns to its caller.
	// Each call hits exactly one of them. A point may lie in another function (Point.In). Other
	// calls of that function hit the point, too: then no call of the entry point is open, or
	// another one is. Releases, wake-ups and frees may follow an exit.
	Exits map[string][]callgraph.Point
}

// The rows of the places inside the runtimes at which tasks begin and end.
var (
	TaskBegin = Row{Construct: event.TaskExec, Entry: event.Begin, A: Elsewhere(ToKey), Flags: bpf.RowNoSite}
	TaskEnd   = Row{Construct: event.TaskExec, Entry: event.End, A: Elsewhere(ToKey), Flags: bpf.RowNoSite}
)

// Tasks places the probes of tasks. created is the row of the places where tasks are created. If a
// place is not found, it places none of them: some alone would give wrong figures.
func (p *Planner) Tasks(t *Table, created *Row) {
	found, err := p.runtime.Locate(p.Object)
	if err != nil {
		p.NoTasks = fmt.Errorf("find where tasks run: %w", err)
		p.Missing = append(p.Missing, "tasks: "+p.NoTasks.Error())
		return
	}
	p.inside("created", created, found.Created)
	p.inside("begin", &TaskBegin, found.Begin)
	p.inside("end", &TaskEnd, found.End)
	placed := map[uint64]bool{} // entry points that end in a common function share its exits
	for name, exits := range found.Exits {
		r := t.Find(name)
		if r == nil || r.Exit == event.NoEdge {
			continue
		}
		var own []callgraph.Point
		for _, x := range exits {
			if !placed[x.VAddr] {
				placed[x.VAddr] = true
				own = append(own, x)
			}
		}
		p.inside("return", r.exit(), own)
	}
}

// exit returns the row of the instructions through which the row's calls return.
func (r *Row) exit() *Row {
	return &Row{Construct: r.Construct, Entry: r.Exit, Flags: bpf.RowNoSite}
}

func (p *Planner) inside(what string, r *Row, at []callgraph.Point) {
	for _, x := range at {
		pl := p.At(fmt.Sprintf("[%s: %s]", x.In, what), r, x.VAddr, x.Cost, x.When)
		pl.Kernel.A = 0
		if x.Reg != disasm.NoReg {
			pl.Kernel.A = bpf.Reg(int(x.Reg))
		}
	}
}

package probes

import (
	"fmt"
	"sync"

	"ompp-attach/bpf"
	"ompp-attach/event"
	"ompp-attach/probes/insn"
	"ompp-attach/symbols"
)

// The points inside the runtimes at which tasks are created, begin and end.
var (
	pointTaskCreated = point{construct: event.Task, entry: event.Result, a: take{to: toKey}, flags: bpf.RowNoSite}
	pointTaskBegin   = point{construct: event.TaskExec, entry: event.Begin, a: take{to: toKey}, flags: bpf.RowNoSite}
	pointTaskEnd     = point{construct: event.TaskExec, entry: event.End, a: take{to: toKey}, flags: bpf.RowNoSite}
	// libomp: tasks that the runtime makes itself, which split a taskloop, are recognised by their
	// routine.
	pointTaskSubmitted = point{construct: event.Task, entry: event.Result, a: take{to: toKey}, b: take{to: toFn}, flags: bpf.RowNoSite | bpf.RowBFromA}
)

// located keeps the results of locateTasks, which takes most of the time that a plan takes.
var located sync.Map

func locateTasks(o *symbols.Object) (taskPoints, error) {
	locate := locateGompTasks
	if Identify(o) == event.Kmpc {
		locate = locateKmpcTasks
	}
	find, _ := located.LoadOrStore(o, sync.OnceValues(func() (taskPoints, error) { return locate(o) }))
	return find.(func() (taskPoints, error))()
}

// decodings keeps the decoded code of files until their plans are made.
var decodings sync.Map

// codeOf returns a file's code. Each function of the code is decoded once.
func codeOf(o *symbols.Object) *insn.Decoded {
	d, _ := decodings.LoadOrStore(o, insn.NewDecoded(o))
	return d.(*insn.Decoded)
}

// LookAhead finds in advance what a plan of the file will need, if the file is a runtime.
func LookAhead(o *symbols.Object) {
	if r := Identify(o); r == event.Gomp || r == event.Kmpc {
		_, _ = locateTasks(o) // the plan will report the error
	}
}

// tasks places the probes of tasks. If a place is not found, it places none of them: some alone
// would give wrong figures.
func (p *Plan) tasks(t *table, lo, hi uint64) {
	found, err := locateTasks(p.Object)
	if err != nil {
		p.NoTasks = fmt.Errorf("find where tasks run: %w", err)
		p.Missing = append(p.Missing, "tasks: "+p.NoTasks.Error())
		return
	}
	created := &pointTaskCreated
	if p.Runtime == event.Kmpc {
		created = &pointTaskSubmitted
	}
	p.inside("created", created, found.Created, lo, hi)
	p.inside("begin", &pointTaskBegin, found.Begin, lo, hi)
	p.inside("end", &pointTaskEnd, found.End, lo, hi)
	placed := map[uint64]bool{} // entry points that end in a common function share its exits
	for name, exits := range found.Exits {
		pt := t.find(name)
		if pt == nil || pt.exit == event.NoEdge {
			continue
		}
		var own []taskPoint
		for _, x := range exits {
			if !placed[x.VAddr] {
				placed[x.VAddr] = true
				own = append(own, x)
			}
		}
		p.inside("return", &point{construct: pt.construct, entry: pt.exit, flags: bpf.RowNoSite}, own, lo, hi)
	}
}

func (p *Plan) inside(what string, pt *point, at []taskPoint, lo, hi uint64) {
	for _, x := range at {
		r := newRow(pt, x.VAddr, lo, hi)
		if x.Reg != insn.NoReg {
			r.A = bpf.Reg(int(x.Reg))
		} else {
			r.A = 0
		}
		switch x.When {
		case insn.ZeroSet:
			r.Flags |= bpf.RowOnlyIfZF
		case insn.ZeroClear:
			r.Flags |= bpf.RowOnlyIfNotZF
		}
		p.add(fmt.Sprintf("[%s: %s]", x.In, what), pt, x.VAddr, x.Cost, r)
	}
}

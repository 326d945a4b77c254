package gomp

import (
	"errors"
	"fmt"
	"slices"

	"ompp-attach/probes"
	"ompp-attach/probes/callgraph"
	"ompp-attach/probes/disasm"
	"ompp-attach/probes/disasm/values"
	"ompp-attach/symbols"
)

// taskEntries are libgomp's functions that create tasks or run some.
var taskEntries = []string{"GOMP_task", "GOMP_taskloop", "GOMP_taskloop_ull", "GOMP_taskwait",
	"GOMP_taskwait_depend", "GOMP_taskgroup_end"}

// taskDepth bounds the calls from an entry point down to the function that
// runs tasks: GOMP_barrier, gomp_team_barrier_wait, gomp_team_barrier_wait_end,
// gomp_barrier_handle_tasks.
const taskDepth = 4

// locateTasks finds where libgomp creates, starts and ends tasks. GOMP_task allocates a
// deferred task and stores the task's function in it. An indirect call elsewhere takes function and
// data from the same offset of a task.
func locateTasks(o *symbols.Object) (probes.TaskPoints, error) {
	t := taskFinder{TaskFinder: probes.NewTaskFinder(o)}
	return t.Locate("libgomp",
		probes.TaskStep{What: "where tasks are created", Find: t.findCreated},
		probes.TaskStep{What: "where tasks run", Find: t.findRuns},
		probes.TaskStep{What: "where tasks are run at once", Find: t.findUndeferred},
		probes.TaskStep{What: "where calls that run tasks return", Find: t.findExits})
}

type taskFinder struct {
	probes.TaskFinder
	fn int64 // offset of fn in struct gomp_task; fn_data follows
}

// creators visits the entry points that have a task's function as an argument.
func (t *taskFinder) creators(visit func(name string, f *callgraph.Function) error) error {
	for _, name := range taskEntries[:3] {
		entry, err := disasm.OneSymbol(t.Object, name)
		if err != nil {
			if name == "GOMP_task" {
				return err
			}
			continue // GOMP_taskloop came with GCC 6
		}
		f, err := t.Read(entry)
		if err == nil {
			err = visit(name, f)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// findCreated finds the calls whose result becomes a task: the function that the entry point was
// given is stored into it.
func (t *taskFinder) findCreated() error {
	return t.creators(func(name string, f *callgraph.Function) error {
		var calls []uint64
		for i, s := range f.Flow.States() {
			for _, w := range s.Stores(i) {
				if !w.Value.Is(values.AnArgument, 0) || len(w.At.Atoms) != 1 || w.At.Atoms[0].Origin != values.AResult {
					continue
				}
				switch {
				case t.fn == 0 && w.At.Off > 0 && w.At.Off < maxField:
					t.fn = w.At.Off
				case t.fn != w.At.Off:
					return fmt.Errorf("the function is stored at offset %d, not %d", w.At.Off, t.fn)
				}
				if call := w.At.Atoms[0].N; !slices.Contains(calls, call) {
					calls = append(calls, call)
				}
			}
		}
		if len(calls) == 0 {
			return errors.New("it stores its function in nothing that it allocates")
		}
		for _, addr := range calls {
			call, err := disasm.Decode(t.Object, addr)
			if err != nil {
				return err
			}
			if !t.allocates(call) {
				return fmt.Errorf("%s, which returns the task, does not call malloc", call)
			}
			task := values.Value{Atoms: []values.Atom{{Origin: values.AResult, N: addr}}}
			points, err := f.After([]disasm.Inst{call}, func(disasm.Inst) *values.Value { return &task })
			if err != nil {
				return err
			}
			t.Points.Created = append(t.Points.Created, callgraph.In(name, points)...)
		}
		return nil
	})
}

// allocates reports whether a call is of a function that calls malloc.
func (t *taskFinder) allocates(call disasm.Inst) bool {
	// the instructions before an undecodable byte are enough
	body, _ := disasm.Func(t.Code, t.Resolve(call.Target))
	malloc := t.Object.Symbol("malloc")
	return slices.ContainsFunc(body, func(i disasm.Inst) bool {
		if i.Control != disasm.Call && i.Control != disasm.CallIndirect {
			return false
		}
		name, _ := t.Object.PLT(i.Target)
		if i.Control == disasm.CallIndirect {
			name, _ = t.Object.GOT(i.Ref)
		}
		return name == "malloc" || slices.Contains(malloc, i.Target)
	})
}

// findRuns finds the calls of deferred tasks' functions.
func (t *taskFinder) findRuns() error {
	err := t.FindRuns(append([]string{"GOMP_barrier"}, taskEntries...), taskDepth, func(s *values.State, call disasm.Inst) (values.Value, bool) {
		task, ok := s.Callee(call).FieldOf(t.fn)
		if !ok {
			return task, false
		}
		same, ok := s.Arg(0).FieldOf(t.fn + 8)
		return task, ok && same.Same(task)
	})
	if err != nil {
		return err
	}
	// Each of the entry points must run tasks, itself or through others.
	busy := t.Reaching(t.Runners, callgraph.AnyDepth)
	for _, name := range append([]string{"GOMP_barrier"}, taskEntries[3:]...) {
		for _, entry := range t.Object.Symbol(name) {
			if !busy[entry] {
				return fmt.Errorf("%s runs no task's function from offset %d", name, t.fn)
			}
		}
	}
	return nil
}

// findUndeferred finds where entry points call their own argument, the function of a task that runs
// at once. The entry point's third argument is another function, which copies the task's data.
func (t *taskFinder) findUndeferred() error {
	return t.creators(func(name string, f *callgraph.Function) error {
		var runs []disasm.Inst
		for i, s := range f.Flow.States() {
			if !i.CallsPointer() {
				continue
			}
			callee := s.Callee(i)
			_, deferred := callee.FieldOf(t.fn)
			switch {
			case callee.Is(values.AnArgument, 0):
				runs = append(runs, i)
			case !callee.Is(values.AnArgument, 2) && !deferred:
				return fmt.Errorf("%s calls neither the task's function nor the copying one", i)
			}
		}
		if len(runs) == 0 {
			return errors.New("it does not call its function")
		}
		t.Runners = append(t.Runners, t.Object.Symbol(name)...)
		return t.AddRuns(f, runs, func(disasm.Inst) *values.Value { return nil }, name)
	})
}

func (t *taskFinder) findExits() error {
	near := t.Reaching(t.Runners, callgraph.NearDepth)
	return t.FindExits(taskEntries, func(name string) map[uint64]bool {
		if name == "GOMP_taskgroup_end" {
			// It ends in a team's barrier, which all barriers use, only for offloaded tasks outside
			// of parallel regions.
			return nil
		}
		return near
	})
}

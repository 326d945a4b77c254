package kmpc

import (
	"fmt"
	"slices"
	"strings"

	"ompp-attach/probes"
	"ompp-attach/probes/callgraph"
	"ompp-attach/probes/disasm"
	"ompp-attach/symbols"
)

// taskEntries are libomp's functions that run tasks, the oldest first.
var taskEntries = []string{"__kmpc_omp_task", "__kmpc_omp_task_with_deps", "__kmpc_omp_taskwait",
	"__kmpc_omp_wait_deps", "__kmpc_omp_taskyield", "__kmpc_end_taskgroup", "__kmpc_taskloop",
	"__kmpc_taskloop_5", "__kmpc_omp_taskwait_deps_51"}

// routineAt is the offset of routine in kmp_task_t, which compilers fill. The pointer to the task's
// shared variables comes before it.
const routineAt = 8

// taskDepth bounds the calls from an entry point down to the function that invokes tasks:
// __kmpc_barrier, __kmp_barrier, its template, a gathering, its wait, __kmp_execute_tasks, its
// template, __kmp_invoke_task.
const taskDepth = 8

// loopDepth bounds the calls from __kmpc_taskloop down to the function that hands in the loop's
// tasks: __kmp_taskloop, __kmp_taskloop_recur or __kmp_taskloop_linear.
const loopDepth = 4

// locateTasks finds where libomp starts and ends tasks, and where taskloop hands in the tasks that
// it makes. The tasks of other constructs are the results of __kmpc_omp_task_alloc.
func locateTasks(o *symbols.Object) (probes.TaskPoints, error) {
	t := taskFinder{Graph: callgraph.New(o), points: probes.TaskPoints{Exits: map[string][]callgraph.Point{}}}
	for _, step := range []struct {
		what string
		find func() error
	}{
		{"where tasks run", t.findRuns},
		{"where taskloop creates tasks", t.findCreated},
		{"where calls that run tasks return", t.findExits},
	} {
		if err := step.find(); err != nil {
			return probes.TaskPoints{}, fmt.Errorf("locating in libomp %s: %w", step.what, err)
		}
	}
	return t.points, nil
}

type taskFinder struct {
	*callgraph.Graph
	points probes.TaskPoints
	runs   []uint64 // the functions that call a task's routine
	busy   map[uint64]bool
}

// findRuns finds the calls task->routine(gtid, task), and for tasks that GCC compiled the calls
// task->routine(task->shareds).
func (t *taskFinder) findRuns() error {
	var from []uint64
	for _, name := range append([]string{"__kmpc_barrier"}, taskEntries...) {
		from = append(from, t.Object.Symbol(name)...)
	}
	for _, entry := range t.PointerCallers(t.Reachable(from, taskDepth)) {
		f, err := t.Read(entry)
		if err != nil {
			return fmt.Errorf("function at %#x: %w", entry, err)
		}
		tasks := map[uint64]*disasm.Value{}
		var runs []disasm.Inst
		for _, c := range t.PointerCalls(entry) {
			if s, ok := f.Flow.At(c.Addr); ok {
				if task, ok := routineOf(s, c); ok {
					tasks[c.Addr] = &task
					runs = append(runs, c)
				}
			}
		}
		if len(runs) == 0 {
			continue
		}
		t.runs = append(t.runs, entry)
		begin, end, err := f.Around(runs, func(c disasm.Inst) *disasm.Value { return tasks[c.Addr] })
		if err != nil {
			return fmt.Errorf("function at %#x: %w", entry, err)
		}
		t.points.Begin = append(t.points.Begin, callgraph.In(t.NameOf(entry), begin)...)
		t.points.End = append(t.points.End, callgraph.In(t.NameOf(entry), end)...)
	}
	t.busy = t.Reaching(t.runs, callgraph.AnyDepth)
	for _, name := range []string{"__kmpc_omp_task", "__kmpc_omp_taskwait", "__kmpc_barrier"} {
		entry, err := disasm.OneSymbol(t.Object, name)
		if err != nil {
			return err
		}
		if !t.busy[entry] {
			return fmt.Errorf("%s leads to no call of a task's routine", name)
		}
	}
	return nil
}

// routineOf returns the task whose routine is called.
func routineOf(s *disasm.State, call disasm.Inst) (task disasm.Value, ok bool) {
	task, ok = s.Callee(call).FieldOf(routineAt)
	if !ok {
		return task, false
	}
	if s.Arg(1).Same(task) {
		return task, true
	}
	shareds, ok := s.Arg(0).FieldOf(0)
	return task, ok && shareds.Same(task)
}

// findCreated finds __kmp_omp_taskloop_task(loc, gtid, task, codeptr). By it taskloop hands in each
// of its tasks, also a task that only makes the tasks of a part of the loop. The function is like
// __kmpc_omp_task, which programs call. Both pass their third argument on as the second one of
// __kmp_omp_task, or of __kmp_push_task where that is inlined (LLVM 14).
func (t *taskFinder) findCreated() error {
	loops := t.Object.Symbol("__kmpc_taskloop")
	if len(loops) == 0 {
		return nil // older than LLVM 4
	}
	entry, err := disasm.OneSymbol(t.Object, "__kmpc_omp_task")
	if err != nil {
		return err
	}
	takers, err := t.passOn(entry)
	if err != nil {
		return err
	}
	if len(takers) != 1 {
		return fmt.Errorf("__kmpc_omp_task passes its task on to %d functions that do not run it", len(takers))
	}
	serves := t.Reachable(loops, loopDepth)
	for _, f := range t.From[takers[0]] {
		if !slices.Contains(serves, f) || strings.HasPrefix(t.NameOf(f), "__kmpc_") {
			continue
		}
		if to, err := t.passOn(f); err != nil || !slices.Equal(to, takers) {
			continue // __kmp_release_deps hands in tasks again
		}
		p, err := disasm.SafePoint(t.Object, f, disasm.Need{Args: disasm.Args(2)})
		if err != nil {
			return err
		}
		// The third argument is in rdx, 2 as well, or x2.
		t.points.Created = append(t.points.Created, callgraph.Point{VAddr: p.VAddr, Cost: p.Cost, Reg: 2, In: t.NameOf(f)})
	}
	if len(t.points.Created) != 1 {
		return fmt.Errorf("%d functions that __kmpc_taskloop calls pass a task on to that at %#x", len(t.points.Created), takers[0])
	}
	return nil
}

// passOn returns the functions to which the function at entry passes its third argument as their
// second one. Functions that call the task's routine are left out.
func (t *taskFinder) passOn(entry uint64) (to []uint64, err error) {
	f, err := t.Read(entry)
	if err != nil {
		return nil, err
	}
	for i, s := range f.Flow.States() {
		if i.Control != disasm.Call && i.Control != disasm.Jump {
			continue
		}
		if !s.Arg(1).Is(disasm.AnArgument, 2) || i.Control == disasm.Jump && !f.Flow.Leaves(i) {
			continue
		}
		if target := t.Resolve(i.Target); target != 0 && !slices.Contains(t.runs, target) && !slices.Contains(to, target) {
			to = append(to, target)
		}
	}
	return to, nil
}

func (t *taskFinder) findExits() error {
	near, entries := t.Reaching(t.runs, callgraph.NearDepth), map[uint64]bool{}
	for _, name := range taskEntries {
		for _, entry := range t.Object.Symbol(name) {
			entries[entry] = true
		}
	}
	for _, name := range taskEntries {
		follow := near
		if strings.HasPrefix(name, "__kmpc_taskloop") {
			// A loop without iterations ends in __kmp_task_finish, which all tasks use, and runs
			// nothing there (LLVM 11).
			follow = entries
		}
		for _, entry := range t.Object.Symbol(name) {
			points, err := t.Exits(entry, t.busy, follow)
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			t.points.Exits[name] = points
		}
	}
	return nil
}

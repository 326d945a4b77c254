package probes

import (
	"fmt"
	"slices"
	"strings"

	"ompp-attach/probes/insn"
	"ompp-attach/symbols"
)

// kmpcTaskEntries are libomp's functions that run tasks, by their age.
var kmpcTaskEntries = []string{"__kmpc_omp_task", "__kmpc_omp_task_with_deps", "__kmpc_omp_taskwait",
	"__kmpc_omp_wait_deps", "__kmpc_omp_taskyield", "__kmpc_end_taskgroup", "__kmpc_taskloop",
	"__kmpc_taskloop_5", "__kmpc_omp_taskwait_deps_51"}

// kmpRoutine is the offset of routine in kmp_task_t, which compilers fill; the
// task's shared variables come before it.
const kmpRoutine = 8

// kmpcTaskDepth bounds the calls from an entry point down to the function that
// invokes tasks: __kmpc_barrier, __kmp_barrier, its template, a gathering, its
// wait, __kmp_execute_tasks, its template, __kmp_invoke_task.
const kmpcTaskDepth = 8

// kmpcLoopDepth bounds those from __kmpc_taskloop to the function that hands in
// its tasks: __kmp_taskloop, __kmp_taskloop_recur or __kmp_taskloop_linear.
const kmpcLoopDepth = 4

// locateKmpcTasks finds where libomp starts and ends tasks, and where taskloop
// hands in the tasks that it makes; those of other constructs are what
// __kmpc_omp_task_alloc returns.
func locateKmpcTasks(o *symbols.Object) (taskPoints, error) {
	t := kmpcTasks{callGraph: newCallGraph(o), points: taskPoints{Exits: map[string][]taskPoint{}}}
	for _, step := range []struct {
		what string
		find func() error
	}{
		{"where tasks run", t.findRuns},
		{"where taskloop creates tasks", t.findCreated},
		{"where calls that run tasks return", t.findExits},
	} {
		if err := step.find(); err != nil {
			return taskPoints{}, fmt.Errorf("locating in libomp %s: %w", step.what, err)
		}
	}
	return t.points, nil
}

type kmpcTasks struct {
	*callGraph
	points taskPoints
	runs   []uint64 // the functions that call a task's routine
	busy   map[uint64]bool
}

// findRuns finds the calls task->routine(gtid, task), and those of tasks that
// GCC compiled, task->routine(task->shareds).
func (t *kmpcTasks) findRuns() error {
	var from []uint64
	for _, name := range append([]string{"__kmpc_barrier"}, kmpcTaskEntries...) {
		from = append(from, t.o.Symbol(name)...)
	}
	for _, entry := range t.callers(t.reachable(from, kmpcTaskDepth)) {
		f, err := t.read(entry)
		if err != nil {
			return fmt.Errorf("function at %#x: %w", entry, err)
		}
		tasks := map[uint64]*insn.Value{}
		var runs []insn.Inst
		for _, c := range t.indirect(entry) {
			if s, ok := f.flow.At(c.Addr); ok {
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
		begin, end, err := f.around(runs, func(c insn.Inst) *insn.Value { return tasks[c.Addr] })
		if err != nil {
			return fmt.Errorf("function at %#x: %w", entry, err)
		}
		t.points.Begin = append(t.points.Begin, in(t.nameOf(entry), begin)...)
		t.points.End = append(t.points.End, in(t.nameOf(entry), end)...)
	}
	t.busy = t.reaching(t.runs, anyDepth)
	for _, name := range []string{"__kmpc_omp_task", "__kmpc_omp_taskwait", "__kmpc_barrier"} {
		entry, err := oneSymbol(t.o, name)
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
func routineOf(s *insn.State, call insn.Inst) (task insn.Value, ok bool) {
	task, ok = fieldOf(s.Callee(call), kmpRoutine)
	if !ok {
		return task, false
	}
	if s.Arg(1).Same(task) {
		return task, true
	}
	shareds, ok := fieldOf(s.Arg(0), 0)
	return task, ok && shareds.Same(task)
}

// findCreated finds __kmp_omp_taskloop_task(loc, gtid, task, codeptr), through
// which taskloop hands in each of its tasks, those included that only make
// tasks of a part of the loop. It is like __kmpc_omp_task, which programs call:
// both pass their third argument on as the second of __kmp_omp_task, or of
// __kmp_push_task where that is inlined (LLVM 14).
func (t *kmpcTasks) findCreated() error {
	loops := t.o.Symbol("__kmpc_taskloop")
	if len(loops) == 0 {
		return nil // older than LLVM 4
	}
	entry, err := oneSymbol(t.o, "__kmpc_omp_task")
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
	serves := t.reachable(loops, kmpcLoopDepth)
	for _, f := range t.from[takers[0]] {
		if !slices.Contains(serves, f) || strings.HasPrefix(t.nameOf(f), "__kmpc_") {
			continue
		}
		if to, err := t.passOn(f); err != nil || !slices.Equal(to, takers) {
			continue // __kmp_release_deps hands in tasks again
		}
		p, err := insn.SafePoint(t.o, f, insn.Need{Args: insn.Args(2)})
		if err != nil {
			return err
		}
		// The third argument is in rdx, 2 as well, or x2.
		t.points.Created = append(t.points.Created, taskPoint{VAddr: p.VAddr, Cost: p.Cost, Reg: 2, In: t.nameOf(f)})
	}
	if len(t.points.Created) != 1 {
		return fmt.Errorf("%d functions that __kmpc_taskloop calls pass a task on to that at %#x", len(t.points.Created), takers[0])
	}
	return nil
}

// passOn returns the functions that get the third argument of the function at
// entry as their second, without those that call the task's routine.
func (t *kmpcTasks) passOn(entry uint64) (to []uint64, err error) {
	f, err := t.read(entry)
	if err != nil {
		return nil, err
	}
	for i, s := range f.flow.States() {
		if i.Kind != insn.Call && i.Kind != insn.Jump {
			continue
		}
		if !s.Arg(1).Is(insn.AnArgument, 2) || i.Kind == insn.Jump && !f.flow.Leaves(i) {
			continue
		}
		if target := t.resolve(i.Target); target != 0 && !slices.Contains(t.runs, target) && !slices.Contains(to, target) {
			to = append(to, target)
		}
	}
	return to, nil
}

func (t *kmpcTasks) findExits() error {
	near, entries := t.reaching(t.runs, nearDepth), map[uint64]bool{}
	for _, name := range kmpcTaskEntries {
		for _, entry := range t.o.Symbol(name) {
			entries[entry] = true
		}
	}
	for _, name := range kmpcTaskEntries {
		follow := near
		if strings.HasPrefix(name, "__kmpc_taskloop") {
			// A loop without iterations ends in __kmp_task_finish, which all
			// tasks use, and runs nothing there (LLVM 11).
			follow = entries
		}
		for _, entry := range t.o.Symbol(name) {
			points, err := t.exits(entry, t.busy, follow)
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			t.points.Exits[name] = points
		}
	}
	return nil
}

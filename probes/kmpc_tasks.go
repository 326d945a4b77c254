package probes

import (
	"errors"
	"fmt"
	"slices"

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
	busy   map[uint64]bool
}

// findRuns finds the calls task->routine(gtid, task), and those of tasks that
// GCC compiled, task->routine(task->shareds).
func (t *kmpcTasks) findRuns() error {
	var from, found []uint64
	for _, name := range append([]string{"__kmpc_barrier"}, kmpcTaskEntries...) {
		from = append(from, t.o.Symbol(name)...)
	}
	for _, entry := range t.reachable(from, kmpcTaskDepth) {
		calls := t.indirect(entry)
		if len(calls) == 0 {
			continue
		}
		f, err := t.read(entry)
		if err != nil {
			return fmt.Errorf("function at %#x: %w", entry, err)
		}
		tasks := map[uint64]*insn.Value{}
		var runs []insn.Inst
		for _, c := range calls {
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
		found = append(found, entry)
		begin, end, err := f.around(runs, func(c insn.Inst) *insn.Value { return tasks[c.Addr] })
		if err != nil {
			return fmt.Errorf("function at %#x: %w", entry, err)
		}
		t.points.Begin = append(t.points.Begin, in(t.nameOf(entry), begin)...)
		t.points.End = append(t.points.End, in(t.nameOf(entry), end)...)
	}
	t.busy = t.reaching(found)
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

// findCreated finds the function __kmp_omp_task(gtid, task, serialize), which
// __kmpc_omp_task hands its task to, and its calls on behalf of taskloop.
func (t *kmpcTasks) findCreated() error {
	entry, err := oneSymbol(t.o, "__kmpc_omp_task")
	if err != nil {
		return err
	}
	f, err := t.read(entry)
	if err != nil {
		return err
	}
	var submit uint64
	for _, c := range t.submissions(f) {
		s, _ := f.flow.At(c.Addr)
		if target := t.resolve(c.Target); s.Arg(1).Is(insn.AnArgument, 2) && t.busy[target] {
			if submit != 0 && submit != target {
				return fmt.Errorf("__kmpc_omp_task hands its task to two functions, %#x and %#x", submit, target)
			}
			submit = target
		}
	}
	if submit == 0 {
		return errors.New("__kmpc_omp_task hands its task to no function")
	}
	loops := t.o.Symbol("__kmpc_taskloop")
	if len(loops) == 0 {
		return nil // older than LLVM 4
	}
	serves := t.reachable(loops, kmpcTaskDepth)
	for _, caller := range t.from[submit] {
		if caller == entry || !slices.Contains(serves, caller) {
			continue
		}
		f, err := t.read(caller)
		if err != nil {
			return fmt.Errorf("function at %#x: %w", caller, err)
		}
		_, exported := t.exported(caller)
		for _, c := range t.submissions(f) {
			s, _ := f.flow.At(c.Addr)
			task := s.Arg(1)
			if t.resolve(c.Target) != submit || exported && task.Is(insn.AnArgument, 2) {
				continue // handed in by the program
			}
			points, err := f.at(c, &task)
			if err != nil {
				return err
			}
			t.points.Created = append(t.points.Created, in(t.nameOf(caller), points)...)
		}
	}
	if len(t.points.Created) == 0 {
		return fmt.Errorf("nothing that __kmpc_taskloop calls hands a task to the function at %#x", submit)
	}
	return nil
}

// submissions returns the direct calls in f whose third argument, serialize,
// is true: those of new tasks, unlike those of tasks whose predecessors ended.
func (t *kmpcTasks) submissions(f *function) (calls []insn.Inst) {
	for _, i := range f.flow.Reached() {
		if i.Kind != insn.Call && !(i.Kind == insn.Jump && f.flow.Leaves(i)) {
			continue
		}
		s, _ := f.flow.At(i.Addr)
		if v, ok := s.Arg(2).Const(); ok && v == 1 {
			calls = append(calls, i)
		}
	}
	return calls
}

func (t *kmpcTasks) exported(entry uint64) (name string, ok bool) {
	name, start, ok := t.o.FuncAt(entry)
	return name, ok && start == entry
}

func (t *kmpcTasks) findExits() error {
	for _, name := range kmpcTaskEntries {
		for _, entry := range t.o.Symbol(name) {
			points, err := t.exits(entry, t.busy, true)
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			t.points.Exits[name] = points
		}
	}
	return nil
}

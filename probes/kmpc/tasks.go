package kmpc

import (
	"fmt"
	"slices"
	"strings"

	"ompp-attach/probes"
	"ompp-attach/probes/callgraph"
	"ompp-attach/probes/disasm"
	"ompp-attach/probes/disasm/points"
	"ompp-attach/probes/disasm/values"
	"ompp-attach/symbols"
)

// taskEntries are libomp's functions that run tasks, the oldest first.
var taskEntries = []string{"__kmpc_omp_task", "__kmpc_omp_task_with_deps", "__kmpc_omp_taskwait",
	"__kmpc_omp_wait_deps", "__kmpc_omp_taskyield", "__kmpc_end_taskgroup", "__kmpc_taskloop",
	"__kmpc_taskloop_5", "__kmpc_omp_taskwait_deps_51"}

// routineAt is the offset of routine in kmp_task_t, which compilers fill. The pointer to the task's
// shared variables comes before it.
const routineAt = 8

// taskDepth bounds the calls from an entry point down to the function that invokes tasks. The
// functions on the way are __kmpc_barrier, __kmp_barrier, its template, a gathering, its wait,
// __kmp_execute_tasks, its template, __kmp_invoke_task.
const taskDepth = 8

// loopDepth bounds the calls from __kmpc_taskloop down to the function that hands in the loop's
// tasks: __kmp_taskloop, __kmp_taskloop_recur or __kmp_taskloop_linear.
const loopDepth = 4

// locateTasks finds where libomp starts and ends tasks, and where taskloop hands in the tasks that
// it makes. The tasks of other constructs are the results of __kmpc_omp_task_alloc.
func locateTasks(o *symbols.Object) (probes.TaskPoints, error) {
	t := taskFinder{probes.NewTaskFinder(o)}
	return t.Locate("libomp",
		probes.TaskStep{What: "where tasks run", Find: t.findRuns},
		probes.TaskStep{What: "where taskloop creates tasks", Find: t.findCreated},
		probes.TaskStep{What: "where calls that run tasks return", Find: t.findExits})
}

type taskFinder struct{ probes.TaskFinder }

// findRuns finds the calls task->routine(gtid, task), and for tasks that GCC compiled the calls
// task->routine(task->shareds).
func (t *taskFinder) findRuns() error {
	if err := t.FindRuns(append([]string{"__kmpc_barrier"}, taskEntries...), taskDepth, routineOf); err != nil {
		return err
	}
	busy := t.Reaching(t.Runners, callgraph.AnyDepth)
	for _, name := range []string{"__kmpc_omp_task", "__kmpc_omp_taskwait", "__kmpc_barrier"} {
		entry, err := disasm.OneSymbol(t.Object, name)
		if err != nil {
			return err
		}
		if !busy[entry] {
			return fmt.Errorf("%s leads to no call of a task's routine", name)
		}
	}
	return nil
}

// routineOf returns the task whose routine is called.
func routineOf(s *values.State, call disasm.Inst) (task values.Value, ok bool) {
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
		p, err := points.SafePoint(t.Object, f, points.Need{Args: disasm.Args(2)})
		if err != nil {
			return err
		}
		// The third argument is in rdx, 2 as well, or x2.
		t.Points.Created = append(t.Points.Created, callgraph.Point{VAddr: p.VAddr, Cost: p.Cost, Reg: 2, In: t.NameOf(f)})
	}
	if len(t.Points.Created) != 1 {
		return fmt.Errorf("%d functions that __kmpc_taskloop calls pass a task on to that at %#x", len(t.Points.Created), takers[0])
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
		if !s.Arg(1).Is(values.AnArgument, 2) || i.Control == disasm.Jump && !f.Flow.Leaves(i) {
			continue
		}
		if target := t.Resolve(i.Target); target != 0 && !slices.Contains(t.Runners, target) && !slices.Contains(to, target) {
			to = append(to, target)
		}
	}
	return to, nil
}

func (t *taskFinder) findExits() error {
	near, entries := t.Reaching(t.Runners, callgraph.NearDepth), map[uint64]bool{}
	for _, name := range taskEntries {
		for _, entry := range t.Object.Symbol(name) {
			entries[entry] = true
		}
	}
	return t.FindExits(taskEntries, func(name string) map[uint64]bool {
		if strings.HasPrefix(name, "__kmpc_taskloop") {
			// A loop without iterations ends in __kmp_task_finish, which all tasks use, and runs
			// nothing there (LLVM 11).
			return entries
		}
		return near
	})
}

package regions

import (
	"strings"

	"ompp-attach/event"
)

// role says what a runtime call does to its construct.
type role uint8

const (
	opens  role = iota // starts the construct: reports know the construct by this call
	inside             // belongs to the construct: the next chunk, a copyprivate, a reduction
	ends               // ends the construct
	waits              // a barrier, explicit or implicit
)

// call describes a runtime entry point.
type call struct {
	runtime   event.Runtime
	construct event.Construct
	word      string // the directive's words in C, if they say more than kind
	role      role
	fn        int // number of the argument that is an outlined function, +1
	loc       int // number of the argument that is an ident_t, +1
	lock      int // number of the argument that is a critical's lock, +1
}

// callOf recognises the entry points that compiled constructs call. Functions that only prepare a
// construct (omp_get_thread_num, __kmpc_push_num_threads) are left out.
func callOf(name string) (call, bool) {
	if rest, ok := strings.CutPrefix(name, "GOMP_"); ok {
		c, ok := gompCall(rest)
		c.runtime = event.Gomp
		return c, ok
	}
	if rest, ok := strings.CutPrefix(name, "__kmpc_"); ok {
		c, ok := kmpcCall(rest)
		c.runtime = event.Kmpc
		if c.loc == 0 {
			c.loc = 1
		}
		return c, ok
	}
	switch strings.TrimSuffix(name, "_") {
	case "omp_set_lock", "omp_test_lock":
		return call{construct: event.Lock}, true
	case "omp_set_nest_lock", "omp_test_nest_lock":
		return call{construct: event.NestLock}, true
	case "omp_unset_lock":
		return call{construct: event.Lock, role: ends}, true
	case "omp_unset_nest_lock":
		return call{construct: event.NestLock, role: ends}, true
	}
	return call{}, false
}

func gompCall(name string) (call, bool) {
	has := func(prefix string) bool { return strings.HasPrefix(name, prefix) }
	switch {
	case has("parallel_loop"):
		return call{construct: event.ParallelLoop, fn: 1}, true
	case has("parallel_sections"):
		return call{construct: event.ParallelSections, fn: 1}, true
	case name == "parallel", name == "parallel_reductions":
		return call{construct: event.Parallel, fn: 1}, true
	case has("teams_reg"):
		return call{word: "teams", fn: 1}, true
	case has("taskloop"):
		return call{word: "taskloop", fn: 1}, true
	case name == "task":
		return call{construct: event.Task, fn: 1}, true
	case has("target") && !has("target_data") && !has("target_update") && !has("target_enter"):
		return call{word: "target", fn: 2}, true
	case has("loop_end"):
		return call{construct: event.Loop, role: ends}, true
	case has("loop") && strings.HasSuffix(name, "_start"):
		return call{construct: event.Loop}, true
	case has("loop") && strings.HasSuffix(name, "_next"):
		return call{construct: event.Loop, role: inside}, true
	case has("sections_end"):
		return call{construct: event.Sections, role: ends}, true
	case has("sections") && strings.HasSuffix(name, "_start"):
		return call{construct: event.Sections}, true
	case name == "sections_next":
		return call{construct: event.Sections, role: inside}, true
	case name == "single_start":
		return call{construct: event.Single}, true
	case name == "single_copy_start":
		return call{construct: event.Single, word: "copyprivate"}, true
	case name == "single_copy_end":
		return call{construct: event.Single, role: ends}, true
	case name == "barrier", name == "barrier_cancel":
		return call{construct: event.Barrier, role: waits}, true
	case name == "critical_start":
		return call{construct: event.Critical}, true
	case name == "critical_name_start":
		return call{construct: event.Critical, lock: 1}, true
	case name == "critical_end":
		return call{construct: event.Critical, role: ends}, true
	case name == "critical_name_end":
		return call{construct: event.Critical, role: ends, lock: 1}, true
	case name == "atomic_start":
		return call{construct: event.Atomic}, true
	case name == "atomic_end":
		return call{construct: event.Atomic, role: ends}, true
	case name == "ordered_start":
		return call{construct: event.Ordered}, true
	case name == "ordered_end":
		return call{construct: event.Ordered, role: ends}, true
	case has("doacross_wait"), has("doacross_ull_wait"), has("doacross_post"), has("doacross_ull_post"):
		return call{construct: event.Ordered, word: "doacross"}, true
	case has("scope_start"):
		return call{word: "scope"}, true
	case name == "cancel":
		return call{word: "cancel"}, true
	case name == "cancellation_point":
		return call{word: "cancellation point"}, true
	}
	return taskingCall(name)
}

// taskingCall knows the names that both runtimes share, without their prefixes.
func taskingCall(name string) (call, bool) {
	switch {
	case strings.HasPrefix(name, "taskwait"):
		return call{construct: event.TaskWait}, true
	case name == "taskyield":
		return call{word: "taskyield"}, true
	case name == "taskgroup_start", name == "taskgroup":
		return call{construct: event.TaskGroup}, true
	case name == "taskgroup_end", name == "end_taskgroup":
		return call{construct: event.TaskGroup, role: ends}, true
	}
	return call{}, false
}

func kmpcCall(name string) (call, bool) {
	has := func(prefix string) bool { return strings.HasPrefix(name, prefix) }
	if kind, ok := map[string]event.Construct{"critical": event.Critical, "critical_with_hint": event.Critical,
		"ordered": event.Ordered, "master": event.Master, "masked": event.Masked, "single": event.Single,
		"flush": event.Flush, "atomic_start": event.Atomic}[name]; ok {
		c := call{construct: kind}
		if kind == event.Critical {
			c.lock = 3
		}
		return c, true
	}
	switch {
	case has("fork_call"):
		return call{construct: event.Parallel, fn: 3}, true
	case has("fork_teams"):
		return call{word: "teams", fn: 3}, true
	case name == "serialized_parallel":
		return call{construct: event.Parallel}, true
	case name == "end_serialized_parallel":
		return call{construct: event.Parallel, role: ends}, true
	case has("for_static_init"), has("dist_for_static_init"), has("dispatch_init"), has("dist_dispatch_init"):
		return call{construct: event.Loop}, true
	case name == "for_static_fini", has("dispatch_deinit"):
		return call{construct: event.Loop, role: ends}, true
	case has("dispatch_next"), has("dispatch_fini"):
		return call{construct: event.Loop, role: inside}, true
	case has("reduce"), has("end_reduce"):
		return call{construct: event.Loop, role: inside}, true
	case name == "end_critical":
		return call{construct: event.Critical, role: ends, lock: 3}, true
	case name == "end_ordered":
		return call{construct: event.Ordered, role: ends}, true
	case name == "end_master":
		return call{construct: event.Master, role: ends}, true
	case name == "end_masked":
		return call{construct: event.Masked, role: ends}, true
	case name == "end_single":
		return call{construct: event.Single, role: ends}, true
	case has("copyprivate"):
		return call{construct: event.Single, role: inside}, true
	case name == "barrier", name == "cancel_barrier":
		return call{construct: event.Barrier, role: waits}, true
	case name == "atomic_end":
		return call{construct: event.Atomic, role: ends}, true
	case has("atomic_"):
		return call{construct: event.Atomic}, true
	case has("doacross_wait"), has("doacross_post"):
		return call{construct: event.Ordered, word: "doacross"}, true
	case name == "omp_task_alloc":
		return call{construct: event.Task, fn: 6}, true
	case has("omp_task_begin_if0"), has("omp_task_complete_if0"), name == "omp_task", has("omp_task_with_deps"):
		return call{construct: event.Task, role: inside}, true
	case has("omp_taskwait"), has("omp_wait_deps"):
		return call{construct: event.TaskWait}, true
	case name == "omp_taskyield":
		return call{word: "taskyield"}, true
	case has("taskloop"):
		return call{word: "taskloop", role: inside}, true
	case name == "cancel":
		return call{word: "cancel"}, true
	case name == "cancellationpoint":
		return call{word: "cancellation point"}, true
	}
	return taskingCall(name)
}

// constructOf returns the construct of a directive. It returns NoConstruct for directives that
// reports have no name for; words names these.
func constructOf(words string) event.Construct {
	w := map[string]bool{}
	first := ""
	for i, f := range strings.Fields(words) {
		w[f] = true
		if i == 0 {
			first = f
		}
	}
	loop := w["for"] || w["do"] || w["loop"]
	switch {
	case w["taskloop"], w["target"], w["teams"], w["distribute"], w["declare"], w["cancel"], w["cancellation"]:
		return event.NoConstruct
	case w["parallel"] && loop:
		return event.ParallelLoop
	case w["parallel"] && w["sections"]:
		return event.ParallelSections
	case w["parallel"] && w["workshare"]:
		return event.ParallelWorkshare
	case w["parallel"]:
		return event.Parallel
	case loop:
		return event.Loop
	}
	return map[string]event.Construct{"sections": event.Sections, "single": event.Single, "workshare": event.Workshare,
		"master": event.Master, "masked": event.Masked, "critical": event.Critical, "ordered": event.Ordered,
		"barrier": event.Barrier, "atomic": event.Atomic, "flush": event.Flush, "task": event.Task,
		"taskwait": event.TaskWait, "taskgroup": event.TaskGroup}[first]
}

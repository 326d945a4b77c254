package gomp

import (
	"runtime"
	"slices"
	"testing"

	"ompp-attach/probes"
	"ompp-attach/probes/callgraph"
	"ompp-attach/probes/disasm"
	"ompp-attach/probes/probestest"
	"ompp-attach/symbols"
)

// The functions of libgomp that run tasks.
var (
	runDeferred = []string{"GOMP_taskgroup_end", "GOMP_taskwait", "gomp_barrier_handle_tasks",
		"gomp_task_maybe_wait_for_dependencies"}
	runAtOnce = []string{"GOMP_task", "GOMP_taskloop", "GOMP_taskloop_ull"}
)

func checkTasks(t *testing.T, o *symbols.Object, p probes.TaskPoints) {
	t.Helper()
	var created []string
	for _, x := range p.Created {
		created = append(created, x.In)
		if x.Reg == disasm.NoReg {
			t.Errorf("no register holds the task at %+v", x)
		}
	}
	if !slices.Equal(created, runAtOnce) {
		t.Errorf("tasks are created in %v", created)
	}
	for _, x := range slices.Concat(p.Begin, p.End) {
		if atOnce := slices.Contains(runAtOnce, x.In); atOnce != (x.Reg == disasm.NoReg) {
			t.Errorf("register %d holds the task at %+v", x.Reg, x)
		}
	}
	for _, name := range taskEntries {
		if len(p.Exits[name]) == 0 {
			t.Errorf("%s has no exit", name)
		}
	}
	probestest.CheckTasks(t, o, p)
}

const taskSource = `
int n;
int main(void) {
#pragma omp parallel
	{
#pragma omp task depend(out: n)
		n++;
#pragma omp taskloop
		for (int i = 0; i < 9; i++) n++;
#pragma omp taskwait
	}
	return 0;
}`

// TestLocateTasksStatic links libgomp statically. Its internal functions then have symbols to
// compare with.
func TestLocateTasksStatic(t *testing.T) {
	for _, arch := range []string{"amd64", "arm64"} {
		t.Run(arch, func(t *testing.T) {
			o := probestest.Open(t, probestest.Compile(t, arch, taskSource, "-O2", "-fopenmp", "-static"))
			p, err := locateTasks(o)
			if err != nil {
				t.Fatal(err)
			}
			want := slices.Concat(runDeferred, runAtOnce)
			slices.Sort(want)
			for what, points := range map[string][]callgraph.Point{"begin": p.Begin, "end": p.End} {
				var in []string
				for _, x := range points {
					in = append(in, x.In)
				}
				slices.Sort(in)
				if in = slices.Compact(in); !slices.Equal(in, want) {
					t.Errorf("tasks %s in %v, want %v", what, in, want)
				}
			}
			checkTasks(t, o, p)
		})
	}
}

func TestLocateTasksInstalled(t *testing.T) {
	for _, path := range probestest.Libgomps(t) {
		t.Run(path, func(t *testing.T) {
			o := probestest.Open(t, path)
			p, err := locateTasks(o)
			if err != nil {
				t.Fatal(err)
			}
			checkTasks(t, o, p)
		})
	}
}

func TestLocateTasksRefuses(t *testing.T) {
	for name, source := range map[string]string{
		"no runtime": "int main(void) { return 0; }",
		"no tasks kept": `__attribute__((noipa)) void GOMP_task(void (*fn)(void *), void *data) { fn(data); }
			static void f(void *x) {}
			int main(void) { GOMP_task(f, 0); return 0; }`,
		"nothing runs them": `#include <stdlib.h>
			void *kept;
			__attribute__((noipa)) void *make(long n) { void *p = malloc(n); if (!p) abort(); return p; }
			__attribute__((noipa)) void GOMP_taskwait(void) {}
			__attribute__((noipa)) void GOMP_task(void (*fn)(void *), void *data) {
				void **task = make(200); if (data) fn(data); task[9] = fn; kept = task; }
			int main(void) { GOMP_task(0, 0); GOMP_taskwait(); return 0; }`,
	} {
		o := probestest.Open(t, probestest.Compile(t, runtime.GOARCH, source, "-O2"))
		if p, err := locateTasks(o); err == nil {
			t.Errorf("%s: found %+v", name, p)
		}
	}
}

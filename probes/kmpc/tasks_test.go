package kmpc

import (
	"runtime"
	"testing"

	"ompp-attach/probes/disasm"
	"ompp-attach/probes/probestest"
)

func TestLocateTasksInstalled(t *testing.T) {
	for _, path := range probestest.Libomps(t) {
		t.Run(path, func(t *testing.T) {
			o := probestest.Open(t, path)
			p, err := locateTasks(o)
			if err != nil {
				t.Fatal(err)
			}
			if len(p.Begin) == 0 || len(p.End) == 0 || len(p.Created) != 1 {
				t.Errorf("tasks are created at %+v, begin at %+v, end at %+v", p.Created, p.Begin, p.End)
			}
			for _, x := range append(append(p.Created, p.Begin...), p.End...) {
				if x.Reg == disasm.NoReg {
					t.Errorf("no register holds the task at %+v", x)
				}
			}
			for _, name := range taskEntries {
				if len(o.Symbol(name)) > 0 && len(p.Exits[name]) == 0 {
					t.Errorf("%s has no exit", name)
				}
			}
			probestest.CheckTasks(t, o, p)
		})
	}
}

func TestLocateTasksRefuses(t *testing.T) {
	for name, source := range map[string]string{
		"no runtime": "int main(void) { return 0; }",
		"no tasks run": `__attribute__((noipa)) int __kmpc_omp_task(void *l, int g, void *t) { return 0; }
			__attribute__((noipa)) int __kmpc_omp_taskwait(void *l, int g) { return 0; }
			int main(void) { return __kmpc_omp_task(0, 0, 0) + __kmpc_omp_taskwait(0, 0); }`,
	} {
		if p, err := locateTasks(probestest.Open(t, probestest.Compile(t, runtime.GOARCH, source, "-O2"))); err == nil {
			t.Errorf("%s: found %+v", name, p)
		}
	}
}

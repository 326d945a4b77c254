package kmpc

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"ompp-attach/probes/disasm"
	"ompp-attach/probes/probestest"
)

func TestLocateTasksInstalled(t *testing.T) {
	libs, err := filepath.Glob("/usr/lib/llvm-*/lib/libomp.so.5")
	if err != nil {
		t.Fatal(err)
	}
	tried := false
	for _, path := range libs {
		if _, err := os.Stat(path); err != nil {
			continue // a link whose package is gone
		}
		tried = true
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
	if !tried {
		t.Skip("libomp is not installed")
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

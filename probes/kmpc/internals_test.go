package kmpc

import (
	"debug/elf"
	"fmt"
	"ompp-attach/probes/probestest"
	"runtime"
	"testing"
)

// accessorSource is a program with an accessor of the same form as libomp's. The test chooses the
// layout.
func accessorSource(team, nproc int) string {
	return fmt.Sprintf(`
struct team { char before[%d]; int nproc; };
struct thread { char before[%d]; struct team *team; };
__attribute__((visibility("hidden"))) struct thread **__kmp_threads;
int debug;
__attribute__((noipa)) void trace(const char *s) { debug = 0; }
__attribute__((noipa)) int gtid(void) { return debug; }
__attribute__((noipa)) int __kmpc_bound_num_threads(void *loc) {
	if (debug >= 10) trace("called");
	return __kmp_threads[gtid()]->team->nproc;
}
int main(void) { return __kmpc_bound_num_threads(0); }`, nproc, team)
}

func TestLocate(t *testing.T) {
	for _, arch := range []string{"amd64", "arm64"} {
		for _, flags := range [][]string{{"-O2"}, {"-O1", "-fpie", "-pie"}, {"-O2", "-static"}} {
			for _, want := range []internals{{Team: 0x40, NProc: 0x20c}, {Team: 0x138, NProc: 0x50}} {
				t.Run(fmt.Sprint(arch, flags, want.Team), func(t *testing.T) {
					path := probestest.Compile(t, arch, accessorSource(int(want.Team), int(want.NProc)), flags...)
					got, err := locate(probestest.ELF(t, path))
					if err != nil {
						t.Fatal(err)
					}
					want.Threads = dataSymbol(t, path, "__kmp_threads")
					if got != want {
						t.Errorf("got %+v, want %+v", got, want)
					}
				})
			}
		}
	}
}

func dataSymbol(t *testing.T, path, name string) uint64 {
	t.Helper()
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	syms, err := f.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range syms {
		if s.Name == name {
			return s.Value
		}
	}
	t.Fatalf("%s: no symbol %s", path, name)
	return 0
}

func TestLocateRefuses(t *testing.T) {
	for name, body := range map[string]string{
		"a constant":        "return 4;",
		"a global":          "return count;",
		"one field too few": "return array[0]->count;",
		"another width":     "return array[count]->inner->small;",
		"two answers":       "return count ? array[count]->inner->count : 1;",
	} {
		source := `struct inner { char before[8]; int count; short small; };
			struct outer { long before; struct inner *inner; int count; };
			__attribute__((visibility("hidden"))) struct outer **array; int count;
			__attribute__((noipa)) int __kmpc_bound_num_threads(void *loc) {` + body + `}
			int main(void) { return __kmpc_bound_num_threads(0); }`
		if k, err := locate(probestest.ELF(t, probestest.Compile(t, runtime.GOARCH, source, "-O2"))); err == nil {
			t.Errorf("%s: found %+v", name, k)
		}
	}
	if k, err := locate(probestest.ELF(t, probestest.Compile(t, runtime.GOARCH, "int main(void) { return 0; }"))); err == nil {
		t.Errorf("no runtime: found %+v", k)
	}
}

func TestLocateInstalled(t *testing.T) {
	for _, path := range probestest.Libomps(t) {
		k, err := locate(probestest.ELF(t, path))
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		// kmp.h: the same from LLVM 14 to 19
		if k.Team != 0x40 || k.NProc != 0x20c || k.Threads == 0 {
			t.Errorf("%s: found %+v", path, k)
		}
	}
}

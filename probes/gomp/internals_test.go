package gomp

import (
	"debug/elf"
	"encoding/binary"
	"runtime"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ompp-attach/probes/disasm"
	"ompp-attach/probes/disasm/points"
	"ompp-attach/probes/probestest"
)

const regionSource = `
#include <omp.h>
int n;
int main(void) {
#pragma omp parallel
	{ n += omp_get_thread_num() + omp_get_num_threads() + omp_get_level(); }
	return 0;
}`

// TestLocateStatic links libgomp statically. Its internal functions then have symbols to compare
// with.
func TestLocateStatic(t *testing.T) {
	for _, arch := range []string{"amd64", "arm64"} {
		for _, pie := range []string{"-static", "-static-pie"} {
			t.Run(arch+pie, func(t *testing.T) {
				path := probestest.Compile(t, arch, regionSource, "-O2", "-fopenmp", pie)
				f := probestest.ELF(t, path)
				g, err := locate(f)
				if err != nil {
					t.Fatal(err)
				}
				for name, got := range map[string]uint64{"gomp_team_start": g.TeamStart, "gomp_team_end": g.TeamEnd,
					"gomp_team_barrier_wait_final": g.WaitFinal, "gomp_thread_start": g.ThreadStart} {
					if want := f.Symbol(name); !slices.Equal(want, []uint64{got}) {
						t.Errorf("%s: got %#x, want %#x", name, got, want)
					}
				}
				checkWorkers(t, f, g)
				block := tlsOffset(t, path, "gomp_tls_data")
				if g.TLS.Slot == 0 { // the linker has put the final offset into the code
					if team := g.TLS.Offset + int64(g.TLS.Team); team != block+0x10 {
						t.Errorf("team at %d from the thread pointer, gomp_tls_data at %d", team, block)
					}
				} else if got := int64(binary.LittleEndian.Uint64(f.Read(g.TLS.Slot, 8))); got != block {
					t.Errorf("slot %#x holds %d, gomp_tls_data is at %d", g.TLS.Slot, got, block)
				}
				t.Logf("%+v", g)
			})
		}
	}
}

// tlsOffset returns the offset of a TLS variable from the thread pointer in an executable (psABI
// variant II on x86-64, variant I on arm64).
func tlsOffset(t *testing.T, path, name string) int64 {
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
	for _, p := range f.Progs {
		if p.Type != elf.PT_TLS {
			continue
		}
		for _, s := range syms {
			if s.Name == name && elf.ST_TYPE(s.Info) == elf.STT_TLS {
				align := max(p.Align, 1)
				if f.Machine == elf.EM_AARCH64 {
					return int64(s.Value + (16+align-1)&^(align-1))
				}
				return int64(s.Value) - int64((p.Memsz+align-1)&^(align-1))
			}
		}
	}
	t.Fatalf("%s: no TLS variable %s", path, name)
	return 0
}

// checkWorkers checks the rules that the workers' points obey in any libgomp.
func checkWorkers(t *testing.T, code disasm.Code, g internals) {
	t.Helper()
	body, err := disasm.Func(code, g.ThreadStart)
	if err != nil {
		t.Fatal(err)
	}
	at := map[uint64]disasm.Inst{}
	for _, i := range body {
		at[i.Addr] = i
	}
	// gomp_thread_start calls the region's function in two places, for nested
	// and for pooled threads, each with its final barrier.
	if len(g.WorkerEnd) != 2 || len(g.WorkerBegin) < 2 {
		t.Errorf("workers begin at %+v and end at %#x", g.WorkerBegin, g.WorkerEnd)
	}
	for _, e := range g.WorkerEnd {
		if i := at[e]; i.Control != disasm.Call || i.Target != g.WaitFinal {
			t.Errorf("worker's end is %s", i)
		}
	}
	for _, b := range g.WorkerBegin {
		i, ok := at[b.VAddr]
		conditional := i.Control == disasm.Jcc && (i.Cond == disasm.Equal || i.Cond == disasm.NotEqual)
		if !ok || i.Refused || points.CostOf(i) != b.Cost || (b.Cond != points.Always) != conditional {
			t.Errorf("worker's begin %+v is %s", b, i)
		}
	}
	if !slices.ContainsFunc(g.WorkerBegin, func(b begin) bool { return b.Cost <= points.Emulated }) {
		t.Errorf("no cheap point at the workers' begin: %+v", g.WorkerBegin)
	}
}

func TestLocateShared(t *testing.T) {
	for _, path := range probestest.Libgomps(t) {
		t.Run(path, func(t *testing.T) {
			f := probestest.ELF(t, path)
			g, err := locate(f)
			if err != nil {
				t.Fatal(err)
			}
			checkWorkers(t, f, g)
			// The slot must be one that the dynamic linker fills with a TLS
			// offset.
			if !slices.Contains(tlsSlots(t, path), g.TLS.Slot) {
				t.Errorf("slot %#x has no TLS relocation", g.TLS.Slot)
			}
			// struct gomp_thread and gomp_team, the same from 10.2 to 16.2
			want := tlsLayout{Slot: g.TLS.Slot, Team: 0x10, TeamID: 0x28, Level: 0x2c}
			if d := cmp.Diff(want, g.TLS); d != "" || g.TeamSize != 0 || g.Barrier != 0x80 {
				t.Errorf("layout: team size %#x, barrier %#x, %s", g.TeamSize, g.Barrier, d)
			}
		})
	}
}

// tlsSlots returns the addresses to which R_X86_64_TPOFF64 and R_AARCH64_TLS_TPREL apply.
func tlsSlots(t *testing.T, path string) []uint64 {
	t.Helper()
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var slots []uint64
	for _, s := range f.Sections {
		if s.Type != elf.SHT_RELA {
			continue
		}
		b, err := s.Data()
		if err != nil {
			t.Fatal(err)
		}
		for ; len(b) >= 24; b = b[24:] {
			typ := elf.R_TYPE64(f.ByteOrder.Uint64(b[8:]))
			if f.Machine == elf.EM_X86_64 && elf.R_X86_64(typ) == elf.R_X86_64_TPOFF64 ||
				f.Machine == elf.EM_AARCH64 && elf.R_AARCH64(typ) == elf.R_AARCH64_TLS_TPREL64 {
				slots = append(slots, f.ByteOrder.Uint64(b))
			}
		}
	}
	return slots
}

func TestLocateRefuses(t *testing.T) {
	// A program without the runtime, and one whose functions of the same names
	// do something else.
	for name, source := range map[string]string{
		"no runtime": "int main(void) { return 0; }",
		"other code": `
			__attribute__((noipa)) int omp_get_thread_num(void) { return 7; }
			__attribute__((noipa)) void GOMP_parallel_end(void) {}
			__attribute__((noipa)) void gomp_team_start(void *x) {}
			__attribute__((noipa)) void GOMP_parallel(void (*fn)(void *), void *data) { gomp_team_start(data); fn(data); }
			int main(void) { GOMP_parallel_end(); return omp_get_thread_num(); }`,
	} {
		f := probestest.ELF(t, probestest.Compile(t, runtime.GOARCH, source, "-O2"))
		if g, err := locate(f); err == nil {
			t.Errorf("%s: found %+v", name, g)
		} else if d := cmp.Diff(internals{}, g); d != "" {
			t.Errorf("%s: a result besides the error: %s", name, d)
		}
	}
}

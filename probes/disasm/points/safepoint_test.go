package points_test

import (
	"debug/elf"
	"encoding/hex"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ompp-attach/probes/disasm"
	"ompp-attach/probes/disasm/disasmtest"
	"ompp-attach/probes/disasm/points"
)

func TestSafePoint(t *testing.T) {
	type point = points.Point
	for _, c := range []struct {
		name, arch, code string
		need             disasm.ArgSet
		want             point // VAddr relative to the entry
	}{
		{"push behind endbr64", "amd64", "f30f1efa 4155 4189cd c3", 0, point{VAddr: 4, Len: 2, Cost: points.Emulated}},
		{"push at the entry", "amd64", "53 5b c3", 0, point{VAddr: 0, Len: 1, Cost: points.Emulated}},
		{"push behind sub rsp is too late", "amd64", "4883ec08 53 c3", 0, point{Len: 4, Cost: points.SingleStep}},
		{"nop of 5 is passed over", "amd64", "48897c24f8 0f1f440008 53 c3", 0, point{VAddr: 10, Len: 1, Cost: points.Emulated}},
		{"nop of 5 with prefixes is passed over", "amd64", "f30f1efa 6666666690 53 c3", 0, point{VAddr: 9, Len: 1, Cost: points.Emulated}},
		{"nop of 5 at the entry is passed over", "amd64", "0f1f440000 53 c3", 0, point{VAddr: 5, Len: 1, Cost: points.Emulated}},
		{"refused nop is passed over", "amd64", "f30f1efa 2e0f1f4000 53 c3", 0, point{VAddr: 9, Len: 1, Cost: points.Emulated}},
		{"call", "amd64", "89f8 e800000000 c3", 0, point{VAddr: 2, Len: 5, Cost: points.CallCost}},
		{"ends at a call through memory", "amd64", "ff1500000000 53 c3", 0, point{Len: 6, Cost: points.SingleStep}},
		{"argument clobbered before push", "amd64", "89d7 53 c3", disasm.Args(0), point{Len: 2, Cost: points.SingleStep}},
		{"clobbered argument is not needed", "amd64", "89d7 53 c3", disasm.Args(2), point{VAddr: 2, Len: 1, Cost: points.Emulated}},
		// xor eax,eax; L: inc eax; je out; jmp L
		{"point in a loop", "amd64", "31c0 ffc0 7402 ebfa c3", 0, point{Len: 2, Cost: points.SingleStep}},
		// L: inc eax; je out; jmp L: the loop leads to the entry itself
		{"loop to the entry", "amd64", "ffc0 7402 ebfa c3", 0,
			point{VAddr: 2, Len: 2, Cost: points.JumpCost, Cond: disasm.Equal}},
		{"acquire", "amd64", "31c0 ba01000000 f00fb117 7501 c3 89c6 c3", disasm.Args(0),
			point{VAddr: 11, Len: 2, Cost: points.JumpCost, AfterAtomic: true, AfterCAS: true, FreeWhen: points.ZeroSet, Cond: disasm.NotEqual}},
		{"acquire, flags overwritten", "amd64", "31c0 ba01000000 f00fb117 85d2 7501 c3 c3", 0,
			point{VAddr: 13, Len: 2, Cost: points.JumpCost, AfterAtomic: true, Cond: disasm.NotEqual}},
		{"acquire, move between", "amd64", "31c0 ba01000000 f00fb117 89c6 7401 c3 c3", 0,
			point{VAddr: 13, Len: 2, Cost: points.JumpCost, AfterAtomic: true, AfterCAS: true, FreeWhen: points.ZeroSet, Cond: disasm.Equal}},
		{"release", "amd64", "31c0 8707 85c0 7801 c3 c3", 0,
			point{VAddr: 6, Len: 2, Cost: points.JumpCost, AfterAtomic: true, AfterCAS: true, FreeWhen: points.SignClear, Cond: disasm.Sign}},
		{"release, other register tested", "amd64", "31c0 8707 85d2 7801 c3 c3", 0,
			point{VAddr: 6, Len: 2, Cost: points.JumpCost, AfterAtomic: true, Cond: disasm.Sign}},
		{"release, old value replaced", "amd64", "31c0 8707 89d0 85c0 7801 c3 c3", 0,
			point{VAddr: 8, Len: 2, Cost: points.JumpCost, AfterAtomic: true, Cond: disasm.Sign}},
		{"locked entry", "amd64", "f0ff07 7501 c3 c3", 0,
			point{VAddr: 3, Len: 2, Cost: points.JumpCost, AfterAtomic: true, Cond: disasm.NotEqual}},
		// an undecodable byte behind the point: branches to it cannot be ruled out
		{"function not decodable", "amd64", "89f8 53 06", 0, point{Len: 2, Cost: points.SingleStep}},
		{"arm64 frame first", "arm64", "fd7bbda9 fd030091 1f2003d5 c0035fd6", 0, point{Len: 4, Cost: points.SingleStep}},
		{"arm64 adrp", "arm64", "61020090 c0035fd6", 0, point{Len: 4, Cost: points.Emulated}},
		{"arm64 bti, then b", "arm64", "5f2403d5 ffffff17", 0, point{VAddr: 4, Len: 4, Cost: points.Emulated}},
		{"arm64 signed return address", "arm64", "3f2303d5 1f2003d5 c0035fd6", 0, point{Len: 4, Cost: points.SingleStep}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := disasmtest.Code(t, c.arch, c.code)
			got, err := points.SafePoint(b, b.At, points.Need{Args: c.need})
			if err != nil {
				t.Fatal(err)
			}
			got.VAddr -= b.At
			if d := cmp.Diff(c.want, got); d != "" {
				t.Error(d)
			}
		})
	}
	b := disasmtest.Code(t, "amd64", "06 53")
	if _, err := points.SafePoint(b, b.At, points.Need{}); !errors.Is(err, disasm.ErrUndecodable) {
		t.Errorf("undecodable entry: error %v", err)
	}
	b = disasmtest.Code(t, "amd64", "f0ff07 c3")
	if p, err := points.SafePoint(b, b.At, points.Need{}); err == nil {
		t.Errorf("locked entry and nothing better: got %+v", p)
	}
}

// TestSafePointOffsets12 compares with offsets that were read by hand from the libgomp 12.2 of
// Debian 12 (amd64). They hold for that build only.
func TestSafePointOffsets12(t *testing.T) {
	f, path := disasmtest.Libgomp(t)
	x, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	note, err := x.Section(".note.gnu.build-id").Data()
	if err != nil || !strings.HasSuffix(hex.EncodeToString(note), "3856f0954e1931eebc020ca4a4e6bef40f4f7765") {
		t.Skip("the installed libgomp is another build than Debian's 12.2.0-14")
	}
	for offset, names := range map[uint64]string{
		4: "GOMP_parallel GOMP_parallel_loop_dynamic GOMP_parallel_sections GOMP_loop_dynamic_start GOMP_sections_start " +
			"GOMP_single_copy_start GOMP_ordered_start GOMP_task GOMP_taskloop GOMP_taskwait GOMP_taskgroup_end " +
			"GOMP_loop_end GOMP_loop_end_nowait GOMP_sections_end GOMP_loop_dynamic_next GOMP_loop_guided_next",
		0x13: "GOMP_barrier GOMP_single_start GOMP_single_copy_end GOMP_critical_start GOMP_atomic_start",
		0x11: "GOMP_taskgroup_start",
		0x0f: "GOMP_critical_name_start omp_set_lock",
		0x0e: "GOMP_critical_end GOMP_atomic_end",
		0x0a: "GOMP_critical_name_end omp_unset_lock",
		0: "omp_get_thread_num omp_get_level GOMP_sections_next GOMP_loop_static_next GOMP_ordered_end GOMP_taskyield " +
			"omp_test_lock",
	} {
		for _, name := range strings.Fields(names) {
			if len(f.Symbol(name)) == 0 {
				t.Errorf("no symbol %s", name)
			}
			for _, entry := range f.Symbol(name) {
				p, err := points.SafePoint(f, entry, points.Need{})
				cost := points.JumpCost
				switch offset {
				case 0:
					cost = points.SingleStep
				case 4:
					if i, err := disasm.Decode(f, entry+offset); err == nil && i.Control == disasm.Push {
						cost = points.Emulated
					}
				}
				if err != nil || p.VAddr != entry+offset || p.Cost != cost {
					t.Errorf("%s: +%#x, %v, %v; want +%#x, %v", name, p.VAddr-entry, p.Cost, err, offset, cost)
				}
			}
		}
	}
}

// TestSafePointLibgomp checks the points in the installed libgomp. Some functions have the same
// instruction in every build. All points are boundaries of a linear decoding of the function.
func TestSafePointLibgomp(t *testing.T) {
	f, _ := disasmtest.Libgomp(t)
	for name, want := range map[string]disasm.Control{"GOMP_parallel": disasm.Push, "GOMP_task": disasm.Push,
		"GOMP_taskwait": disasm.Push, "GOMP_loop_end": disasm.Jump, "GOMP_barrier": disasm.Jcc, "GOMP_single_start": disasm.Jcc} {
		if f.Arch() != "amd64" {
			break
		}
		for _, entry := range f.Symbol(name) {
			p, err := points.SafePoint(f, entry, points.Need{})
			if err != nil {
				t.Fatal(err)
			}
			i, err := disasm.Decode(f, p.VAddr)
			if cost := points.CostOf(i); err != nil || p.Cost != cost || cost > points.Emulated || i.Control != want {
				t.Errorf("%s: point %+v is a %v (%v), want a %v", name, p, i.Control, err, want)
			}
		}
	}
	for name, want := range map[string]points.When{"GOMP_critical_start": points.ZeroSet, "GOMP_atomic_start": points.ZeroSet,
		"GOMP_critical_name_start": points.ZeroSet, "omp_set_lock": points.ZeroSet, "GOMP_critical_end": points.SignClear,
		"GOMP_atomic_end": points.SignClear, "GOMP_critical_name_end": points.SignClear, "omp_unset_lock": points.SignClear} {
		if f.Arch() != "amd64" {
			break
		}
		for _, entry := range f.Symbol(name) {
			p, err := points.SafePoint(f, entry, points.Need{})
			if err != nil || !p.AfterCAS || p.FreeWhen != want {
				t.Errorf("%s: point %+v, %v; want it to decide by %v", name, p, err, want)
			}
		}
	}
	for _, entry := range f.Funcs() {
		p, err := points.SafePoint(f, entry, points.Need{Args: disasm.Args(0)})
		if err != nil {
			continue // PLT entries and the like that end at once
		}
		body, err := disasm.Func(f, entry)
		if err != nil {
			t.Fatal(err)
		}
		onBoundary := false
		for _, i := range body {
			onBoundary = onBoundary || i.Addr == p.VAddr && !i.Refused && i.Len == p.Len
		}
		if !onBoundary {
			t.Errorf("function at %#x: point %+v is no instruction of it", entry, p)
		}
	}
}

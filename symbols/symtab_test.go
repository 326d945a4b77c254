package symbols

import (
	"encoding/binary"
	"slices"
	"testing"
)

func TestSymbolVersions(t *testing.T) {
	t.Parallel()
	path := compile(t, "gcc", "-shared", "-fPIC", "-O1", "-Wl,--version-script=testdata/versions.map", "testdata/versions.c")
	check := func(state string) {
		o := open(t, path)
		locks := o.Symbol("set_lock")
		if len(locks) != 2 || locks[0] >= locks[1] {
			t.Errorf("%s: two versions of set_lock at %x", state, locks)
		}
		if got := o.Symbol("alias_a"); len(got) != 1 || !slices.Equal(got, o.Symbol("alias_b")) {
			t.Errorf("%s: aliases at %x and %x", state, got, o.Symbol("alias_b"))
		}
		if len(o.Symbol("nothing")) != 0 {
			t.Errorf("%s: a symbol that does not exist was found", state)
		}
		seen := map[string]int{}
		o.Symbols(func(name string, vaddr, size uint64) {
			seen[name]++
			if size == 0 && name == "set_lock" {
				t.Errorf("%s: %s at %#x has no size", state, name, vaddr)
			}
		})
		if seen["set_lock"] != 2 || seen["alias_a"] != 1 || seen["alias_b"] != 1 {
			t.Errorf("%s: symbols visited: %v", state, seen)
		}
	}
	check("whole")
	run(t, "strip", path)
	check("stripped")
}

func TestFunctions(t *testing.T) {
	t.Parallel()
	for _, mode := range [][]string{{"-pie", "-fPIE"}, {"-no-pie"}, {"-static"}} {
		path := compile(t, "gcc", append([]string{"-O2", "testdata/data.c"}, mode...)...)
		whole := open(t, path)
		type extent struct{ start, size uint64 }
		want := map[string]extent{}
		whole.Symbols(func(name string, vaddr, size uint64) {
			if slices.Contains([]string{"main", "both", "local1", "local2"}, name) {
				want[name] = extent{vaddr, size}
			}
		})
		if len(want) != 4 {
			t.Fatalf("%v: functions %v", mode, want)
		}
		stripped := path + ".stripped"
		run(t, "strip", "-o", stripped, path)
		bare := open(t, stripped)
		for name, w := range want {
			inside := w.start + w.size/2
			if got, start, ok := whole.FuncAt(inside); got != name || start != w.start || !ok {
				t.Errorf("%v: %#x is in %q at %#x, want %q", mode, inside, got, start, name)
			}
			if lo, hi, ok := whole.FuncRange(inside); lo != w.start || hi != w.start+w.size || !ok {
				t.Errorf("%v: %s reaches from %#x to %#x, want %v", mode, name, lo, hi, w)
			}
			// Stripped, padding up to the next function belongs to it.
			lo, hi, ok := bare.FuncRange(inside)
			if mode[0] == "-static" {
				if ok { // GCC writes no unwind search table then
					t.Errorf("stripped static %s reaches from %#x to %#x", name, lo, hi)
				}
			} else if lo != w.start || hi < w.start+w.size || hi > w.start+w.size+16 && name != "local2" || !ok {
				t.Errorf("%v: stripped %s reaches from %#x to %#x, want %v", mode, name, lo, hi, w)
			}
			if got, _, ok := bare.FuncAt(inside); ok {
				t.Errorf("%v: stripped %s is called %q", mode, name, got)
			}
		}
	}
}

func TestStubs(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		args []string
		got  bool // calls go through the GOT
	}{
		{"lazy", []string{"-Wl,-z,lazy"}, false},
		{"now", []string{"-Wl,-z,now", "-pie", "-fPIE"}, false},
		{"endbr64", []string{"-fcf-protection=full", "-Wl,-z,ibtplt", "-pie", "-fPIE"}, false},
		{"fixed", []string{"-no-pie", "-Wl,-z,lazy"}, false},
		{"fixed endbr64", []string{"-no-pie", "-fcf-protection=full", "-Wl,-z,ibt"}, false},
		{"-fno-plt", []string{"-fno-plt", "-pie", "-fPIE", "-Wl,-z,now"}, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			path := compile(t, "gcc", append([]string{"-O0", "testdata/data.c"}, tt.args...)...)
			for _, state := range []string{"whole", "stripped"} {
				o := open(t, path)
				var called []string
				for _, r := range o.TextRanges() {
					code := o.Read(r.Lo, int(r.Hi-r.Lo))
					for i := 0; i+6 <= len(code); i++ {
						rel := func(at int) uint64 {
							return r.Lo + uint64(i+at+4) + uint64(int64(int32(binary.LittleEndian.Uint32(code[i+at:]))))
						}
						if code[i] == 0xe8 {
							if name, ok := o.PLT(rel(1)); ok {
								called = append(called, name)
							}
						} else if code[i] == 0xff && code[i+1] == 0x15 {
							if name, ok := o.GOT(rel(2)); ok && tt.got {
								called = append(called, name)
							}
						}
					}
				}
				if !slices.Contains(called, "atoi") || slices.Contains(called, "") {
					t.Errorf("%s: calls to %q", state, called)
				}
				if !o.Imports("atoi") || o.Imports("main") || o.Imports("both") {
					t.Errorf("%s: imports atoi %t, main %t, both %t", state, o.Imports("atoi"), o.Imports("main"), o.Imports("both"))
				}
				run(t, "strip", path)
			}
		})
	}
}

func TestStubsARM64(t *testing.T) {
	t.Parallel()
	words := func(w ...uint32) (b []byte) {
		for _, w := range w {
			b = binary.LittleEndian.AppendUint32(b, w)
		}
		return b
	}
	tests := []struct {
		name  string
		code  []byte
		vaddr uint64
		slot  uint64
		ok    bool
	}{
		// adrp x16, 20000; ldr x17, [x16, #8]; add; br x17 (binutils 2.40)
		{"plain", words(0x90000110, 0xf9400611, 0x91002210, 0xd61f0220), 0x640, 0x20008, true},
		{"bti", words(0xd503245f, 0x90000110, 0xf9400611, 0xd61f0220), 0x640, 0x20008, true},
		{"backwards", words(0xf0fffff0, 0xf9400211), 0x5000, 0x4000, true},
		{"first entry", words(0xa9bf7bf0, 0xf00000f0, 0xf947fe11, 0x913fe210), 0x610, 0, false},
		{"short", words(0x90000110), 0x640, 0, false},
	}
	for _, tt := range tests {
		if slot, ok := stubSlotARM64(tt.code, tt.vaddr); slot != tt.slot || ok != tt.ok {
			t.Errorf("%s: slot %#x, %t; want %#x, %t", tt.name, slot, ok, tt.slot, tt.ok)
		}
	}

	t.Run("compiled", func(t *testing.T) {
		const gcc = "aarch64-linux-gnu-gcc"
		need(t, gcc, "reading arm64 programs")
		o := open(t, compile(t, gcc, "-O1", "-g", "-pie", "-fPIE", "testdata/data.c"))
		if o.Arch() != "arm64" || !o.IsPIE() {
			t.Errorf("%s, PIE %t", o.Arch(), o.IsPIE())
		}
		stubs := map[string]bool{}
		for _, s := range o.file.Sections {
			for v := s.Addr; isPLT(s.Name) && v < s.Addr+s.Size; v += 4 {
				if name, ok := o.PLT(v); ok {
					stubs[name] = true
				}
			}
		}
		if !o.Imports("__libc_start_main") || !stubs["__libc_start_main"] || !stubs["abort"] {
			t.Errorf("stubs %v", stubs)
		}
		pointer, _ := o.DataSymbol("pointer")
		target, _ := o.DataSymbol("target")
		if got, ok := o.Pointer(pointer); got != target || !ok {
			t.Errorf("pointer to %#x, %t; want %#x", got, ok, target)
		}
		checkIdents(t, o)
		lo, hi, ok := o.FuncRange(o.Symbol("both")[0] + 4)
		if !ok || lo != o.Symbol("both")[0] || hi <= lo {
			t.Errorf("both from %#x to %#x", lo, hi)
		}
		if _, line, _, ok := o.Line(lo); line == 0 || !ok {
			t.Error("no line")
		}
	})
}

func TestRelocations(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{
		{"-pie", "-fPIE"},
		{"-pie", "-fPIE", "-Wl,-z,pack-relative-relocs"},
		{"-no-pie"},
		{"-static-pie", "-fPIE"},
		{"-shared", "-fPIC"},
	} {
		o := open(t, compile(t, "gcc", append([]string{"-O1", "testdata/data.c"}, args...)...))
		pointer, ok := o.DataSymbol("pointer")
		target, ok2 := o.DataSymbol("target")
		if !ok || !ok2 {
			t.Fatalf("%v: no data symbols", args)
		}
		if got, ok := o.Pointer(pointer); got != target || !ok {
			t.Errorf("%v: pointer to %#x, %t; want %#x", args, got, ok, target)
		}
		number, _ := o.DataSymbol("number")
		if got, ok := o.Pointer(number); uint32(got) != 77 || !ok {
			t.Errorf("%v: data read as %#x", args, got)
		}
		checkIdents(t, o)
		fixed, _ := o.DataSymbol("fixed")
		if v, relocated, ok := o.Constant(fixed, 4); v != 99 || relocated || !ok {
			t.Errorf("%v: constant %d, %t, %t", args, v, relocated, ok)
		}
		always, _ := o.DataSymbol("always")
		// Compact relocations do not tell which bytes they change.
		compact := slices.Contains(args, "-Wl,-z,pack-relative-relocs")
		v, relocated, ok := o.Constant(always, 8)
		if ok == compact || ok && (v != target || relocated == o.FixedAddresses()) {
			t.Errorf("%v: constant pointer to %#x, %t, %t; want %#x", args, v, relocated, ok, target)
		}
		if _, _, ok := o.Constant(always+4, 4); ok && !o.FixedAddresses() {
			t.Errorf("%v: half of a pointer is no constant", args)
		}
		if _, _, ok := o.Constant(number, 4); ok {
			t.Errorf("%v: a variable is no constant", args)
		}
	}
}

func TestTLSSlots(t *testing.T) {
	t.Parallel()
	o := open(t, compile(t, "gcc", "-O1", "-shared", "-fPIC", "-ftls-model=initial-exec", "-Wl,-Bsymbolic", "testdata/data.c"))
	slots := o.TLSOffsetSlots()
	if len(slots) != 2 {
		t.Fatalf("slots %v", slots)
	}
	offsets := []uint64{slots[0].Addend, slots[1].Addend}
	slices.Sort(offsets)
	if !slices.Equal(offsets, []uint64{0, 4}) {
		t.Errorf("two ints in the thread-local block at %v", offsets)
	}
}

// checkIdents tests the ident_t's of testdata/data.c.
func checkIdents(t *testing.T, o *Object) {
	t.Helper()
	for name, want := range map[string]Ident{
		"located": {Flags: 0x22, File: "dir/a;b.c", Function: "A::run", Line: 42, Col: 7},
		"nowhere": {Flags: 0x402},
	} {
		at, _ := o.DataSymbol(name)
		if got, ok := o.Ident(at); got != want || !ok {
			t.Errorf("%s: %+v, %t; want %+v", name, got, ok, want)
		}
	}
	if at, _ := o.DataSymbol("pointer"); at != 0 {
		if id, ok := o.Ident(at); ok {
			t.Errorf("ident %+v where none is", id)
		}
	}
}

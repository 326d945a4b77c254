package symbols

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestBranchesAMD64 compares the search in chunks with a search that decodes an instruction at each
// byte, on noise with calls and jumps in it.
func TestBranchesAMD64(t *testing.T) {
	const base, size, chunk, tail = 0x401000, 1 << 18, 3 << 15, 8
	rnd := rand.New(rand.NewPCG(1, 2))
	to := &Targets{}
	for _, a := range []uint64{base - 0x800, base - 0x7f0, base + 0x1234} {
		to.code.add(a)
	}
	to.slots.add(base + 0x10000)
	b := make([]byte, size)
	for i := range b {
		b[i] = byte(rnd.Uint32())
	}
	opcodes := []string{"\xe8", "\xe9", "\x0f\x84", "\xff\x15", "\xff\x25", "\x0f\x05", "\xff\x10"}
	for at := 0; at < size-16; at += 5 + rnd.IntN(40) {
		op := opcodes[rnd.IntN(len(opcodes))]
		targets := []uint64{base - 0x800, base - 0x7f0, base + 0x1234, base + 0x10000, base - 0x7ff}
		end := at + copy(b[at:], op) + 4
		binary.LittleEndian.PutUint32(b[end-4:], uint32(targets[rnd.IntN(len(targets))]-base-uint64(end)))
	}
	var want []uint64
	for i := range b {
		one := i + 1
		if i+6 <= size && (b[i] == 0x0f && b[i+1]&0xf0 == 0x80 || b[i] == 0xff && (b[i+1] == 0x15 || b[i+1] == 0x25)) {
			one++
		} else if b[i]&0xfe != 0xe8 || i+5 > size {
			continue
		}
		in := &to.code
		if b[i] == 0xff {
			in = &to.slots
		}
		if in.in[base+uint64(one)+4+uint64(int64(int32(binary.LittleEndian.Uint32(b[one:]))))] {
			want = append(want, base+uint64(i))
		}
	}
	var got []uint64
	for lo := 0; lo < size; lo += chunk {
		got = append(got, branchesAMD64(b[lo:min(lo+chunk+tail, size)], chunk, base+uint64(lo), to)...)
	}
	if len(want) < 100 || !slices.Equal(got, want) {
		t.Errorf("found %d branches, want %d", len(got), len(want))
	}
}

// TestDefines compares the answers from the tables' bytes with those of Symbol.
func TestDefines(t *testing.T) {
	o, err := OpenObject("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	names := []string{"runtime.main", "main.main", "runtime.mainn", "no such", "ain", "r", ""}
	for n, is := range o.Defines(names...) {
		if want := len(o.Symbol(names[n])) > 0; is != want {
			t.Errorf("%q is defined: %t, want %t", names[n], is, want)
		}
	}
	lib := open(t, compile(t, "gcc", "-shared", "-fPIC", "-O1", "-Wl,--version-script=testdata/versions.map", "testdata/versions.c"))
	if got := lib.Defines("set_lock", "alias_a", "alias"); !slices.Equal(got, []bool{true, true, false}) {
		t.Errorf("with versions: %v", got)
	}
}

// TestTargets compares the search by names with a search through all names. Both find a call
// through a stub and a call through a slot.
func TestTargets(t *testing.T) {
	t.Parallel()
	names := []string{"atoi", "local1", "both", "x", ""}
	for _, mode := range [][]string{{"-Wl,-z,lazy"}, {"-Wl,-z,now", "-pie", "-fPIE"}, {"-fno-plt", "-pie", "-fPIE", "-Wl,-z,now"}, {"-static"}} {
		o := open(t, compile(t, "gcc", append([]string{"-O0", "testdata/data.c"}, mode...)...))
		got, want := o.Targets(names...), o.TargetsLike(func(name string) bool { return slices.Contains(names, name) })
		if !maps.Equal(got.code.in, want.code.in) || !maps.Equal(got.slots.in, want.slots.in) {
			t.Errorf("%v: targets %v, want %v", mode, got, want)
		}
		if slot := len(got.slots.in) > 0; slot != (mode[0] == "-fno-plt") {
			t.Errorf("%v: calls through slots are looked for: %t", mode, slot)
		}
		atoi := o.Branches(o.Targets("atoi"))
		if !slices.ContainsFunc(atoi, func(at uint64) bool {
			name, _, ok := o.FuncAt(at)
			return ok && name == "both"
		}) {
			t.Errorf("%v: its call of atoi is not among those at %x", mode, atoi)
		}
	}
}

// If a section claims to be larger than its file, it is searched up to the end of the file.
func TestTextBeyondFile(t *testing.T) {
	b := objectSeeds(t)[0]
	f, err := elf.NewFile(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	text := slices.IndexFunc(f.Sections, func(s *elf.Section) bool { return s.Name == ".text" })
	const entry, size = 64, 32 // of Elf64_Shdr, and where sh_size is in it
	headers := binary.LittleEndian.Uint64(b[40:])
	binary.LittleEndian.PutUint64(b[headers+uint64(text)*entry+size:], 1<<40)
	path := filepath.Join(t.TempDir(), "large")
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	o, err := OpenObject(path)
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	if len(o.TextRanges()) == 0 {
		t.Fatal("no code")
	}
	for _, r := range o.TextRanges() {
		if r.Hi-r.Lo > uint64(len(b)) {
			t.Errorf("%d bytes of code in a file of %d", r.Hi-r.Lo, len(b))
		}
	}
	o.Branches(o.TargetsLike(func(string) bool { return true }))
}

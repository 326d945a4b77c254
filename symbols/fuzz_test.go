package symbols

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ompp-attach/internal/hostile"
)

// query asks an object all questions. No answer may panic or hang.
func query(o *Object) {
	o.BuildID()
	o.Stripped()
	o.HasDWARF()
	o.IsPIE()
	o.TLSOffsetSlots()
	vaddrs := []uint64{0, 1, 1 << 63, 1<<64 - 1}
	for _, r := range o.TextRanges() {
		vaddrs = append(vaddrs, r.Lo, r.Hi-1, r.Hi)
	}
	o.Symbols(func(name string, vaddr, _ uint64) {
		if len(vaddrs) < 64 {
			vaddrs = append(vaddrs, vaddr, vaddr+9)
			o.Symbol(name)
		}
	})
	for _, s := range o.file.Sections {
		if len(vaddrs) < 96 {
			vaddrs = append(vaddrs, s.Addr)
		}
	}
	o.DataSymbol("located")
	o.Imports("atoi")
	o.Exports("located")
	for _, v := range vaddrs {
		o.FuncAt(v)
		o.FuncRange(v)
		o.DataAt(v)
		o.Read(v, 1<<20)
		o.FileOffset(v)
		o.VAddr(v)
		o.PLT(v)
		o.GOT(v)
		o.Pointer(v)
		o.Constant(v, 8)
		o.Ident(v)
		o.Line(v)
		o.CallLine(v)
		o.SourceFunction(v)
		o.Outlined(v)
		place(o, mapping{start: v &^ 0xfff, end: v&^0xfff + 0x1000, offset: v & 0xff000})
	}
	o.SourceExtent("regions.c", 3, "")
	o.Defines("located", "atoi")
	o.Branches(o.TargetsLike(func(string) bool { return true }))
	o.EHFrame()
	o.DebugFrame()
}

func objectSeeds(t testing.TB) (files [][]byte) {
	dir := t.TempDir()
	for _, args := range [][]string{
		{"-g", "-O1", "-fopenmp", "-fPIC", "-shared", "testdata/regions.c"},
		{"-g", "-O1", "-gz", "-gdwarf-4", "-no-pie", "testdata/data.c"},
		{"-s", "-pie", "testdata/data.c"},
	} {
		out := filepath.Join(dir, "seed")
		run(t, "gcc", append([]string{"-w", "-nostartfiles", "-o", out}, args...)...)
		b, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, b)
	}
	return files
}

func FuzzObject(f *testing.F) {
	for _, b := range objectSeeds(f) {
		f.Add(b)
	}
	f.Fuzz(func(_ *testing.T, b []byte) { hostile.Within(func() { openAndQuery(b) }) })
}

func openAndQuery(b []byte) {
	if o, err := NewObject(bytes.NewReader(b), int64(len(b))); err == nil {
		query(o)
	}
}

// FuzzDamaged damages headers and tables. So it gets further than FuzzObject.
func FuzzDamaged(f *testing.F) {
	var files [][]byte
	for _, b := range damageSeeds(f) {
		f.Add(uint8(len(files)), []byte("\x02\x05\x20\x00\x00\x00\xff\xff\xff\xff\xff\xff\xff\x7f"))
		files = append(files, b)
	}
	f.Fuzz(func(_ *testing.T, which uint8, edits []byte) {
		hostile.Within(func() { openAndQuery(hostile.ELF(files[int(which)%len(files)], edits)) })
	})
}

// TestBrokenObjects does a small part of the fuzzing in every run: fixed damage in the headers and
// tables.
func TestBrokenObjects(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	opened := 0
	for _, whole := range objectSeeds(t) {
		for n := range 150 {
			b := bytes.Clone(whole)
			if n%3 == 0 {
				b = b[:rng.IntN(len(b))]
			}
			for range rng.IntN(30) {
				if len(b) > 0 {
					b[rng.IntN(len(b))] = byte(rng.Uint32())
				}
			}
			if n%2 == 0 && len(b) > 512 { // program headers
				b[64+rng.IntN(448)] = byte(rng.Uint32())
			}
			if o, err := NewObject(bytes.NewReader(b), int64(len(b))); err == nil {
				opened++
				query(o)
			}
		}
	}
	if opened < 50 {
		t.Errorf("only %d broken objects could be opened: the damage is too coarse", opened)
	}
}

func FuzzMapsLine(f *testing.F) {
	f.Add("55d0c8a00000-55d0c8a01000 r-xp 00001000 fd:01 1234                       /usr/bin/a b (deleted)")
	f.Add("7ffc00030000-7ffc00032000 r-xp 00000000 00:00 0                          [vdso]")
	f.Fuzz(func(t *testing.T, line string) {
		if m, ok := parseMapsLine(line); ok && (m.start >= m.end || !strings.HasPrefix(m.path, "/") && !m.deleted) {
			t.Errorf("%q: %+v", line, m)
		}
	})
}

func FuzzIdent(f *testing.F) {
	f.Add(";a.c;f;20;1;;")
	f.Add(";unknown;unknown;0;0;;")
	f.Add(";a;b.c;A::f;1;2;;")
	f.Fuzz(func(t *testing.T, s string) {
		if id, ok := parseIdent(s); ok && (id.Line < 0 || id.Line == 0 && id != Ident{}) {
			t.Errorf("%q: %+v", s, id)
		}
	})
}

func BenchmarkOpen(b *testing.B) {
	out := filepath.Join(b.TempDir(), "prog")
	run(b, "gcc", "-O1", "-static", "-o", out, "testdata/data.c")
	for b.Loop() {
		o, err := OpenObject(out)
		if err != nil {
			b.Fatal(err)
		}
		o.Symbol("main")
		o.Close()
	}
}

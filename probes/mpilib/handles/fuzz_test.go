package handles

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"os"
	"testing"

	"ompp-attach/internal/testbin"
	"ompp-attach/mpi"
	"ompp-attach/symbols"
)

// patched is a program with other code in its MPI_Comm_size.
type patched struct {
	file  []byte
	at    uint64 // in the file
	entry uint64
	size  int
}

func newPatched(t testing.TB, src string, flags ...string) patched {
	t.Helper()
	bin := testbin.Build(t, src, testbin.Options{NoOpenMP: true, Flags: append(flags, "-g")})
	file, err := os.ReadFile(bin)
	if err != nil {
		t.Fatal(err)
	}
	o, err := symbols.NewObject(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	p := patched{file: file, entry: o.Symbol("MPI_Comm_size")[0]}
	lo, hi, ok := o.FuncRange(p.entry)
	if p.at, _ = o.FileOffset(p.entry); !ok || lo != p.entry {
		t.Fatalf("MPI_Comm_size of %s is not found", src)
	}
	p.size = int(hi - lo)
	return p
}

func (p patched) code() []byte { return bytes.Clone(p.file[p.at:][:p.size]) }

func (p patched) with(t testing.TB, code []byte) *symbols.Object {
	file := bytes.Clone(p.file)
	copy(file[p.at:][:p.size], code)
	o, err := symbols.NewObject(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	return o
}

const loadedAt = 0x555500000000

// memory is the memory of a process: the file's bytes where the file has some, and elsewhere bytes
// that the address and the seed determine.
func memory(o *symbols.Object, seed uint64) func(addr uint64, n int) (uint64, error) {
	return func(addr uint64, n int) (uint64, error) {
		if name, ok := o.GOT(addr - loadedAt); ok && n == 8 && !public.MatchString(name) {
			if to, ok := o.Pointer(addr - loadedAt); ok {
				return to + loadedAt, nil
			}
		}
		if v, relocated, ok := o.Constant(addr-loadedAt, n); ok {
			if relocated {
				v += loadedAt
			}
			return v, nil
		}
		var b [8]byte
		for i := range n {
			// Few different bytes: comparisons shall hold at times.
			b[i] = "\x00\x00\x01\x02"[rand.New(rand.NewPCG(seed, addr+uint64(i))).Uint64()&3]
		}
		return binary.LittleEndian.Uint64(b[:]), nil
	}
}

// value computes a node. ok is false if the value depends on something unknown.
func (n *node) value(handle uint64, read func(addr uint64, n int) (uint64, error)) (v uint64, ok bool) {
	if n.op == opOpaque || n.op < numLeaves && n.op > opBase {
		return 0, false
	}
	var a, b uint64
	if n.a != nil {
		if a, ok = n.a.value(handle, read); !ok {
			return 0, false
		}
	}
	if n.b != nil {
		if b, ok = n.b.value(handle, read); !ok {
			return 0, false
		}
	}
	is := func(c bool) (uint64, bool) {
		if c {
			return 1, true
		}
		return 0, true
	}
	signed := func(v uint64, bytes int) int64 { s := 64 - 8*bytes; return int64(v<<s) >> s }
	switch n.op {
	case opConst:
		return n.k, true
	case opHandle:
		return handle, true
	case opBase:
		return loadedAt, true
	case opSum:
		return a + b*n.k, true
	case opMul:
		return a * b, true
	case opAnd:
		return a & n.k, true
	case opShr:
		return a >> n.k, true
	case opSar:
		return uint64(signed(a, int(n.k>>8)) >> (n.k & 255)), true
	case opSext:
		return uint64(signed(a, int(n.k))), true
	case opEq:
		return is(a == n.k)
	case opLoad:
		v, err := read(a, int(n.k))
		return v, err == nil
	case opOr:
		return a | b, true
	case opXor:
		return a ^ b, true
	case opBelow:
		return is(a < b)
	case opLess:
		return is(signed(a, int(n.k)) < signed(b, int(n.k)))
	}
	return 0, false
}

// agree derives the formula of an object's MPI_Comm_size, and compares its value with the result of
// executing the function on some memory. It returns how often both had a result.
func agree(t testing.TB, o *symbols.Object, entry uint64, seed uint64) (compared int) {
	m := newExplorer(o, newCode(o))
	paths := m.explore(entry, m.leaf(opHandle), m.out(0))
	if f, err := m.formula(paths, 4); err == nil {
		checkBounds(t, f)
	}
	r := rand.New(rand.NewPCG(seed, 1))
	for range 16 {
		handle := r.Uint64()
		if r.IntN(2) > 0 {
			handle = handle&^0xffffffff | uint64(1+r.IntN(3))<<30 | 1<<26 | uint64(r.IntN(8)|r.IntN(4)<<12)
		}
		read := memory(o, r.Uint64())
		want, ok := Emulate(o, "MPI_Comm_size", handle, loadedAt, read)
		if !ok {
			continue
		}
	paths:
		for _, p := range paths {
			if p.resisted != nil || p.result == nil {
				continue
			}
			for _, f := range p.facts {
				if v, ok := f.n.value(handle, read); !ok || !f.set.contains(v) {
					continue paths
				}
			}
			if handle&p.mask != p.value {
				t.Errorf("facts %v do not imply that %#x & %#x is %#x", p.facts, handle, p.mask, p.value)
			}
			if v, ok := p.result.value(handle, read); ok {
				compared++
				if uint32(v) != uint32(want) {
					t.Errorf("handle %#x: %#x is derived, %#x executed", handle, uint32(v), uint32(want))
				}
			}
		}
	}
	return compared
}

func checkBounds(t testing.TB, f mpi.Formula) {
	if len(f) > mpi.MaxCases {
		t.Errorf("%d cases", len(f))
	}
	for _, c := range f {
		if len(c.Steps) > mpi.MaxSteps {
			t.Errorf("%d steps", len(c.Steps))
		}
		for _, s := range c.Steps {
			if s.Op >= mpi.StepSave && (s.Value < 0 || s.Value >= mpi.MaxSaved) {
				t.Errorf("step %+v saves too much", s)
			}
		}
		if c.Equal&^c.Mask != 0 {
			t.Errorf("guard %#x of %#x never holds", c.Equal, c.Mask)
		}
	}
}

var shapes = []struct {
	src   string
	flags []string
}{
	{"mpi_classes.c", []string{"-O2"}},
	{"mpi_classes.c", []string{"-O0", "-DSWITCH"}},
	{"mpi_pointers.c", []string{"-O1"}},
	{"mpi_pointers.c", []string{"-O0", "-DGROUPS"}},
}

// TestDerivedAsExecuted: formulas give the results that execution gives, also for code with changed
// bytes.
func TestDerivedAsExecuted(t *testing.T) {
	for _, shape := range shapes {
		p := newPatched(t, shape.src, shape.flags...)
		intact := agree(t, p.with(t, nil), p.entry, 1)
		if intact == 0 {
			t.Errorf("%v: nothing compared", shape)
		}
		changed := 0
		for seed := range uint64(400) {
			code := p.code()
			r := rand.New(rand.NewPCG(seed, 2))
			for range 1 + r.IntN(3) {
				code[r.IntN(len(code))] = byte(r.Uint32())
			}
			changed += agree(t, p.with(t, code), p.entry, seed)
			if t.Failed() {
				t.Fatalf("%v, seed %d", shape, seed)
			}
		}
		t.Logf("%v: compared %d times, with changed code %d times", shape, intact, changed)
	}
}

func FuzzDerive(f *testing.F) {
	var ps []patched
	for i, shape := range shapes {
		p := newPatched(f, shape.src, shape.flags...)
		ps = append(ps, p)
		f.Add(p.code(), uint64(i))
	}
	f.Fuzz(func(t *testing.T, code []byte, seed64 uint64) {
		p := ps[seed64%uint64(len(ps))]
		agree(t, p.with(t, code), p.entry, seed64)
	})
}

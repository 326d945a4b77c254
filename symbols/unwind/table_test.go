package unwind

import (
	"encoding/binary"
	"slices"
	"testing"

	"ompp-attach/symbols"
)

// at is the address of the code of these tests' frames. The section is loaded below it.
const (
	at     = 0x5000
	loaded = 0x1000
)

func u32(v uint32) []byte { return binary.LittleEndian.AppendUint32(nil, v) }

func sized(body ...byte) []byte { return append(u32(uint32(len(body))), body...) }

// frames is an .eh_frame section of one CIE and one FDE for 0x100 bytes at at.
func frames(augmentation string, encoding, ra byte, initial, code []byte) []byte {
	cie := slices.Concat(u32(0), []byte{1}, []byte(augmentation), []byte{0, 1, 0x78, ra})
	if augmentation != "" {
		data := []byte{encoding}
		if augmentation == "zPLR" { // personality and LSDA come first
			data = []byte{0x9b, 1, 2, 3, 4, 0x1b, encoding}
		}
		cie = append(append(cie, byte(len(data))), data...)
	}
	b := sized(append(cie, initial...)...)
	field := len(b) + 4
	fde := u32(uint32(field))
	switch place := uint64(at) - loaded - uint64(field) - 4; encoding {
	case 0x00:
		fde = binary.LittleEndian.AppendUint64(fde, at)
		fde = binary.LittleEndian.AppendUint64(fde, 0x100)
	case 0x03:
		fde = append(append(fde, u32(at)...), u32(0x100)...)
	case 0x1b:
		fde = append(append(fde, u32(uint32(place))...), u32(0x100)...)
	case 0x1c:
		fde = binary.LittleEndian.AppendUint64(fde, place)
		fde = binary.LittleEndian.AppendUint64(fde, 0x100)
	}
	if augmentation != "" {
		fde = append(fde, 0)
	}
	return append(append(b, sized(append(fde, code...)...)...), 0, 0, 0, 0)
}

// atEntry returns the rules at a function's entry on amd64.
var atEntry = []byte{cfaDefCFA, AMD64RSP, 8, cfaOffset | 16, 1}

func memory(words map[uint64]uint64) func(uint64) (uint64, bool) {
	return func(addr uint64) (uint64, bool) { v, ok := words[addr]; return v, ok }
}

func frame(sp uint64) (r Registers) {
	r.Set(AMD64RSP, sp)
	r.Set(AMD64RBP, 0x7700)
	r.Set(AMD64RBX, 0xbb)
	r.PC = at + 0x20
	return r
}

func TestEncodings(t *testing.T) {
	for _, e := range []struct {
		augmentation string
		encoding     byte
	}{{"", 0}, {"zR", 0}, {"zR", 0x03}, {"zR", 0x1b}, {"zR", 0x1c}, {"zPLR", 0x1b}} {
		table := New("amd64", frames(e.augmentation, e.encoding, 16, atEntry, nil), loaded, nil)
		for pc, want := range map[uint64]bool{at - 1: false, at: true, at + 0xff: true, at + 0x100: false} {
			got, ok := table.Step(pc, frame(0x7000), memory(map[uint64]uint64{0x7000: 0x1234}))
			if sp, _ := got.Get(AMD64RSP); ok != want || ok && (got.PC != 0x1234 || sp != 0x7008) {
				t.Errorf("%+v, %#x: %+v, %t", e, pc, got, ok)
			}
		}
	}
	// In .debug_frame another mark tells a CIE, and offsets count from the section's beginning.
	b := frames("", 0, 16, atEntry, nil)
	copy(b[4:], u32(0xffffffff))
	fde := 4 + binary.LittleEndian.Uint32(b)
	copy(b[fde+4:], u32(0))
	if got, ok := New("amd64", nil, 0, b).Step(at, frame(0x7000), memory(map[uint64]uint64{0x7000: 0x1234})); !ok || got.PC != 0x1234 {
		t.Errorf(".debug_frame: %+v, %t", got, ok)
	}
}

// TestRules: each rule is checked at an instruction to which it applies.
func TestRules(t *testing.T) {
	words := memory(map[uint64]uint64{0x7008: 0x1234, 0x7000: 0x6b, 0x7708: 0x5678, 0x7020: 0x9abc, 0x6ff8: 0xdef})
	for name, c := range map[string]struct {
		code []byte
		pc   uint64
		want map[int]uint64 // registers; -1: unknown
		at   uint64         // PC; 0: outermost
		fail bool
	}{
		"offset":             {code: []byte{cfaDefCFAOffset, 16, cfaOffset | AMD64RBP, 2}, want: map[int]uint64{AMD64RBP: 0x6b, AMD64RBX: 0xbb, AMD64RSP: 0x7010}, at: 0x1234},
		"signed offset":      {code: []byte{cfaDefCFAOffsetSF, 0x7e, cfaOffsetExtendedSF, AMD64RBP, 2}, want: map[int]uint64{AMD64RBP: 0x6b}, at: 0x1234},
		"another register":   {code: []byte{cfaDefCFA, AMD64RBP, 16}, want: map[int]uint64{AMD64RSP: 0x7710}, at: 0x5678},
		"value of CFA":       {code: []byte{cfaDefCFAOffset, 16, cfaValOffset, AMD64RBP, 3}, want: map[int]uint64{AMD64RBP: 0x7010 - 24}, at: 0x1234},
		"register":           {code: []byte{cfaDefCFAOffset, 16, cfaRegister, AMD64RBP, AMD64RBX}, want: map[int]uint64{AMD64RBP: 0xbb}, at: 0x1234},
		"undefined":          {code: []byte{cfaDefCFAOffset, 16, cfaUndefined, AMD64RBP}, want: map[int]uint64{AMD64RBP: 1<<64 - 1}, at: 0x1234},
		"unreadable":         {code: []byte{cfaDefCFAOffset, 16, cfaOffset | AMD64RBP, 9}, want: map[int]uint64{AMD64RBP: 1<<64 - 1}, at: 0x1234},
		"outermost":          {code: []byte{cfaDefCFAOffset, 16, cfaUndefined, 16}, at: 0},
		"no return address":  {code: []byte{cfaDefCFAOffset, 80}, fail: true},
		"unknown register":   {code: []byte{cfaDefCFA, 12, 16}, fail: true},
		"stack grows up":     {code: []byte{cfaDefCFAOffset, 0}, fail: true},
		"later row":          {code: []byte{cfaDefCFAOffset, 16, cfaAdvanceLoc | 0x21, cfaDefCFAOffset, 80}, at: 0x1234},
		"row from here":      {code: []byte{cfaAdvanceLoc1, 0x20, cfaDefCFAOffset, 16}, at: 0x1234},
		"restored":           {code: []byte{cfaDefCFAOffset, 16, cfaOffset | 16, 9, cfaRestore | 16}, at: 0x1234},
		"state restored":     {code: []byte{cfaDefCFAOffset, 16, cfaRememberState, cfaDefCFAOffset, 80, cfaUndefined, AMD64RBP, cfaRestoreState}, want: map[int]uint64{AMD64RBP: 0x7700}, at: 0x1234},
		"nothing to restore": {code: []byte{cfaRestoreState}, fail: true},
		"too many states":    {code: slices.Repeat([]byte{cfaRememberState}, maxStates+1), fail: true},
		"PLT": {code: []byte{cfaDefCFAExpression, 11, opBreg0 + AMD64RSP, 8, opBreg0 + amd64PC, 0, opLit0 + 15, opAnd, opLit0, opGe, opLit0 + 3, opShl, opPlus},
			want: map[int]uint64{AMD64RSP: 0x7010}, at: 0x1234},
		"realigned":         {code: []byte{cfaDefCFAExpression, 3, opBreg0 + AMD64RBX, 0xcd, 0, cfaExpression, AMD64RBP, 2, opBreg0 + AMD64RBP, 0}, fail: true},
		"stored expression": {code: []byte{cfaDefCFAOffset, 16, cfaExpression, AMD64RBP, 2, opPlusUconst, 16}, want: map[int]uint64{AMD64RBP: 0x9abc}, at: 0x1234},
		"value expression":  {code: []byte{cfaDefCFAOffset, 16, cfaValExpression, AMD64RBP, 2, opPlusUconst, 16}, want: map[int]uint64{AMD64RBP: 0x7020}, at: 0x1234},
		"cut off":           {code: []byte{cfaDefCFAOffset, 16, cfaExpression, AMD64RBP, 0xff, 0xff, 1}, fail: true},
	} {
		got, ok := New("amd64", frames("zR", 0x1b, 16, atEntry, c.code), loaded, nil).Step(at+0x20, frame(0x7000), words)
		if ok == c.fail || ok && got.PC != c.at {
			t.Errorf("%s: %+v, %t", name, got, ok)
		}
		for reg, want := range c.want {
			if v, known := got.Get(reg); known != (want != 1<<64-1) || known && v != want {
				t.Errorf("%s: register %d is %#x (%t), want %#x", name, reg, v, known, want)
			}
		}
	}
}

// arm64: the return address is signed, in a frame and in the register.
func TestARM64(t *testing.T) {
	entry := []byte{cfaDefCFA, ARM64SP, 0}
	code := []byte{cfaAdvanceLoc | 4, cfaNegateRAState, cfaAdvanceLoc | 4, cfaDefCFAOffset, 16, cfaOffset | ARM64FP, 2, cfaOffset | ARM64LR, 1}
	table := New("arm64", frames("zR", 0x1b, ARM64LR, entry, code), loaded, nil)
	var r Registers
	r.Set(ARM64SP, 0x7000)
	r.Set(ARM64FP, 0x7700)
	r.Set(ARM64LR, 0x2a<<48|0x1111)
	words := memory(map[uint64]uint64{0x7000: 0x7800, 0x7008: 0x3b<<48 | 0x2222})
	for pc, want := range map[uint64][3]uint64{at: {0x1111, 0x7000, 0x7700}, at + 4: {0x1111, 0x7000, 0x7700}, at + 8: {0x2222, 0x7010, 0x7800}} {
		got, ok := table.Step(pc, r, words)
		sp, _ := got.Get(ARM64SP)
		fp, _ := got.Get(ARM64FP)
		if !ok || [3]uint64{got.PC, sp, fp} != want {
			t.Errorf("%#x: %#x %#x %#x (%t), want %#x", pc, got.PC, sp, fp, ok, want)
		}
	}
}

func TestExpressions(t *testing.T) {
	var regs Registers
	regs.Set(AMD64RBX, 100)
	m := machine{regs: &regs, read: memory(map[uint64]uint64{100: 0x8877665544332211}), amd64: true}
	lit := func(n byte) byte { return opLit0 + n }
	for _, c := range []struct {
		want uint64
		code []byte
	}{
		{100, []byte{opBreg0 + AMD64RBX, 0}},
		{98, []byte{opBregx, AMD64RBX, 0x7e}},
		{0x8877665544332211, []byte{opBreg0 + AMD64RBX, 0, opDeref}},
		{0x332211, []byte{opBreg0 + AMD64RBX, 0, opDerefSize, 3}},
		{1<<64 - 2, []byte{opConst1s, 0xfe}},
		{0xfe, []byte{opConst1u, 0xfe}},
		{1<<64 - 2, []byte{opConst2s, 0xfe, 0xff}},
		{1<<64 - 2, []byte{opConst4s, 0xfe, 0xff, 0xff, 0xff}},
		{1 << 56, []byte{opConst8u, 0, 0, 0, 0, 0, 0, 0, 1}},
		{300, []byte{opConstu, 0xac, 2}},
		{1<<64 - 300, []byte{opConsts, 0xd4, 0x7d}},
		{8, []byte{lit(4), opDup, opPlus}},
		{2, []byte{lit(1), lit(2), lit(3), opDrop}},
		{1, []byte{lit(1), lit(2), opOver}},
		{7, []byte{lit(7), lit(2), lit(3), opPick, 2}},
		{1, []byte{lit(3), lit(2), opSwap, opMinus, opNeg}},
		{2, []byte{lit(1), lit(2), lit(3), opRot}}, // 3 1 2
		{3, []byte{lit(1), lit(2), lit(3), opRot, opDrop, opDrop}},
		{5, []byte{lit(5), opNeg, opAbs}},
		{1<<64 - 3, []byte{lit(6), opNeg, lit(2), opDiv}},
		{1, []byte{lit(7), lit(3), opMod}},
		{21, []byte{lit(7), lit(3), opMul}},
		{^uint64(0), []byte{lit(0), opNot}},
		{7, []byte{lit(5), lit(2), opOr}},
		{6, []byte{lit(5), lit(3), opXor}},
		{12, []byte{opBreg0 + AMD64RBX, 0, lit(3), opShr}},
		{1<<64 - 2, []byte{lit(8), opNeg, lit(2), opShra}},
		{1, []byte{lit(2), lit(2), opEq}},
		{1, []byte{lit(2), lit(3), opNe}},
		{1, []byte{lit(2), lit(3), opLe}},
		{0, []byte{lit(2), opNeg, lit(3), opGt}},
		{1, []byte{lit(2), opNeg, lit(3), opLt}},
		{9, []byte{lit(9), opSkip, 1, 0, opDrop}},
		{4, []byte{lit(4), lit(1), opBra, 1, 0, opDrop, opNop}},
	} {
		if got, ok := m.eval(c.code); !ok || got != c.want {
			t.Errorf("%#x: %#x (%t), want %#x", c.code, got, ok, c.want)
		}
	}
	for _, code := range [][]byte{
		{}, {opPlus}, {lit(1), opPlus}, {lit(1), lit(0), opDiv}, {lit(1), lit(0), opMod}, {opSkip, 0xfd, 0xff}, {opSkip, 9, 0},
		{opBreg0, 0}, {lit(0), opDeref}, {opConst8u, 1}, {lit(1), opDerefSize, 9}, {0xff}, {lit(1), opPick, 1},
		slices.Repeat([]byte{lit(0)}, stackDepth+1), {lit(1), opBregx, 0xff, 1, 0},
	} {
		if got, ok := m.eval(code); ok {
			t.Errorf("%#x: %#x", code, got)
		}
	}
}

// FuzzTable: whatever a section holds, reading it ends, and takes memory in proportion to its size.
func FuzzTable(f *testing.F) {
	f.Add(frames("zR", 0x1b, 16, atEntry, []byte{cfaDefCFAOffset, 16}), []byte{}, uint64(at))
	f.Add(frames("zPLR", 0x1b, 16, atEntry, []byte{cfaDefCFAExpression, 2, opBreg0 + AMD64RSP, 8}), []byte{}, uint64(at+8))
	f.Add([]byte{}, frames("", 0, 16, atEntry, []byte{cfaRememberState, cfaAdvanceLoc | 9, cfaRestoreState}), uint64(at))
	// The CIE is outside of the table.
	f.Add(slices.Concat(u32(12), u32(0xffff0000), make([]byte, 8)), make([]byte, 64), uint64(at))
	f.Fuzz(func(t *testing.T, eh, debug []byte, pc uint64) {
		for _, arch := range []string{"amd64", "arm64"} {
			table := New(arch, eh, loaded, debug)
			if n := len(table.eh) + len(table.debug); n > (len(eh)+len(debug))/12 {
				t.Fatalf("%d entries in %d bytes", n, len(eh)+len(debug))
			}
			for _, list := range [][]fde{table.eh, table.debug} {
				for _, f := range list {
					table.Step(f.start, frame(0x7000), func(addr uint64) (uint64, bool) { return addr, true })
					table.ReturnOffset(f.end - 1)
				}
			}
			table.Step(pc, frame(0x7000), func(addr uint64) (uint64, bool) { return 0, false })
		}
	})
}

func openLibc(tb testing.TB) *symbols.Object {
	tb.Helper()
	for _, path := range []string{"/usr/lib/x86_64-linux-gnu/libc.so.6", "/usr/lib/aarch64-linux-gnu/libc.so.6", "/lib64/libc.so.6"} {
		if o, err := symbols.OpenObject(path); err == nil {
			tb.Cleanup(func() { o.Close() })
			return o
		}
	}
	tb.Skip("no C library where it is looked for")
	return nil
}

func BenchmarkStep(b *testing.B) {
	table := For(openLibc(b))
	r := frame(0x7000)
	r.Set(ARM64SP, 0x7000)
	r.Set(ARM64LR, 0x1234)
	read := func(uint64) (uint64, bool) { return 0x1234, true }
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		f := &table.eh[i*7919%len(table.eh)]
		table.Step((f.start+f.end)/2, r, read)
	}
}

func BenchmarkNew(b *testing.B) {
	o := openLibc(b)
	data, vaddr := o.EHFrame()
	for b.Loop() {
		New(o.Arch(), data, vaddr, nil)
	}
}

package disasm_test

import (
	"bufio"
	"errors"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"ompp-attach/probes/disasm"
	"ompp-attach/probes/disasm/disasmtest"
)

func TestDecodeX86(t *testing.T) {
	// Which of them are emulated was measured (design: what a uprobe costs) or
	// follows from the kernel's arch/x86/kernel/uprobes.c.
	for _, c := range []struct {
		name, bytes string
		want        disasm.Inst
		emulated    bool
	}{
		{"endbr64", "f30f1efa", disasm.Inst{Len: 4}, false},
		{"rdsspq rax", "f3480f1ec8", disasm.Inst{Len: 5}, false},
		{"nop", "90", disasm.Inst{Len: 1, Control: disasm.Nop}, true},
		{"xchg ax,ax", "6690", disasm.Inst{Len: 2, Control: disasm.Nop}, true},
		{"pause", "f390", disasm.Inst{Len: 2}, false},
		{"xchg r8,rax is no nop", "4990", disasm.Inst{Len: 2, WritesArgs: disasm.Args(4)}, false},
		{"nop of 3", "0f1f00", disasm.Inst{Len: 3, Control: disasm.Nop}, true},
		{"nop of 5", "0f1f440000", disasm.Inst{Len: 5, Control: disasm.Nop, Refused: true}, false},
		{"nop of 5 by prefixes", "6666666690", disasm.Inst{Len: 5, Control: disasm.Nop, Refused: true}, false},
		{"nop of 6", "660f1f440000", disasm.Inst{Len: 6, Control: disasm.Nop}, true},
		{"fs addr32 nop", "64670f1f4000", disasm.Inst{Len: 6, Control: disasm.Nop}, true},
		{"cs nop is refused", "66662e0f1f840000000000", disasm.Inst{Len: 11, Control: disasm.Nop, Refused: true}, false},
		{"push rbx", "53", disasm.Inst{Len: 1, Control: disasm.Push, WritesSP: true}, true},
		{"push r12", "4154", disasm.Inst{Len: 2, Control: disasm.Push, WritesSP: true}, true},
		{"push with rex.w", "4853", disasm.Inst{Len: 2, Control: disasm.Push, WritesSP: true}, false},
		{"push 5", "6a05", disasm.Inst{Len: 2, WritesSP: true}, false},
		{"pop rdi", "5f", disasm.Inst{Len: 1, WritesSP: true, WritesArgs: disasm.Args(0)}, false},
		{"call", "e8fb0f0000", disasm.Inst{Len: 5, Control: disasm.Call, Target: 0x2000, WritesArgs: 0x3f}, true},
		{"padded call", "666648e8f80f0000", disasm.Inst{Len: 8, Control: disasm.Call, Target: 0x2000, WritesArgs: 0x3f, Refused: true}, false},
		{"call r12", "41ffd4", disasm.Inst{Len: 3, Control: disasm.CallIndirect, WritesArgs: 0x3f}, false},
		{"call slot(rip)", "ff15fa0f0000", disasm.Inst{Len: 6, Control: disasm.CallIndirect, Target: 0x2000, Ref: 0x2000, WritesArgs: 0x3f}, false},
		{"call 8(rsp)", "ff542408", disasm.Inst{Len: 4, Control: disasm.CallIndirect, WritesArgs: 0x3f}, false},
		{"jmp", "e9fb0f0000", disasm.Inst{Len: 5, Control: disasm.Jump, Target: 0x2000}, true},
		{"bnd jmp", "f2e9fa0f0000", disasm.Inst{Len: 6, Control: disasm.Jump, Target: 0x2000}, true},
		{"short jmp back", "ebfe", disasm.Inst{Len: 2, Control: disasm.Jump, Target: 0x1000}, true},
		{"jmp rax", "ffe0", disasm.Inst{Len: 2, Control: disasm.JumpIndirect}, false},
		{"notrack jmp rax", "3effe0", disasm.Inst{Len: 3, Control: disasm.JumpIndirect, Refused: true}, false},
		{"bnd jmp slot(rip)", "f2ff25f90f0000", disasm.Inst{Len: 7, Control: disasm.JumpIndirect, Target: 0x2000, Ref: 0x2000}, false},
		{"je", "7402", disasm.Inst{Len: 2, Control: disasm.Jcc, Target: 0x1004, Cond: disasm.Equal}, true},
		{"jne near", "0f85fa0f0000", disasm.Inst{Len: 6, Control: disasm.Jcc, Target: 0x2000, Cond: disasm.NotEqual}, true},
		{"js", "7802", disasm.Inst{Len: 2, Control: disasm.Jcc, Target: 0x1004, Cond: disasm.Sign}, true},
		{"jns", "7902", disasm.Inst{Len: 2, Control: disasm.Jcc, Target: 0x1004, Cond: disasm.NotSign}, true},
		{"jl", "7c02", disasm.Inst{Len: 2, Control: disasm.Jcc, Target: 0x1004, Cond: disasm.OtherCond}, true},
		{"jrcxz", "e302", disasm.Inst{Len: 2, Control: disasm.Jcc, Target: 0x1004, Cond: disasm.OtherCond}, false},
		{"ret", "c3", disasm.Inst{Len: 1, Control: disasm.Ret, WritesSP: true}, false},
		{"bnd ret", "f2c3", disasm.Inst{Len: 2, Control: disasm.Ret, WritesSP: true}, false},
		{"ud2", "0f0b", disasm.Inst{Len: 2, Control: disasm.Trap, Refused: true}, false},
		{"int3", "cc", disasm.Inst{Len: 1, Control: disasm.Trap, Refused: true}, false},
		{"lock cmpxchg", "f00fb117", disasm.Inst{Len: 4, Locked: true, Refused: true}, false},
		{"mov rdi,rax reads rdi", "4889f8", disasm.Inst{Len: 3}, false},
		{"mov rax,rdi writes rdi", "4889c7", disasm.Inst{Len: 3, WritesArgs: disasm.Args(0)}, false},
		{"mov cl", "b105", disasm.Inst{Len: 2, WritesArgs: disasm.Args(3)}, false},
		{"test edi,edi", "85ff", disasm.Inst{Len: 2}, false},
		{"sub rsp,8", "4883ec08", disasm.Inst{Len: 4, WritesSP: true}, false},
		{"lea slot(rip),rdx", "488d15f1f8ffff", disasm.Inst{Len: 7, Ref: 0x8f8, WritesArgs: disasm.Args(2)}, false},
		{"mov slot(rip),rax", "488b05f90f0000", disasm.Inst{Len: 7, Ref: 0x2000}, false},
		{"div writes rdx", "48f7f1", disasm.Inst{Len: 3, WritesArgs: disasm.Args(2)}, false},
		{"rep stos", "f348ab", disasm.Inst{Len: 3, WritesArgs: disasm.Args(0, 3)}, false},
		{"movdqu leaves rcx", "f30f6f4710", disasm.Inst{Len: 5}, false},
		// x86asm reads this one at 4 bytes when another vzeroupper follows.
		{"vzeroupper", "c5f877c5f877", disasm.Inst{Len: 3, Refused: true}, false},
		{"vfmaddps (FMA4)", "c4e3e168c970", disasm.Inst{Len: 6}, false},
		{"vxorps", "c5f857c0", disasm.Inst{Len: 4}, false},
		{"vpor, taken for jmp", "c5f9ebc1", disasm.Inst{Len: 4, Refused: true}, false},
		{"vpcmpeqd, taken for jbe", "c5f976c1", disasm.Inst{Len: 4, Refused: true}, false},
		{"vpord of EVEX", "62f17d08ebc1", disasm.Inst{Len: 6, Refused: true}, false},
		{"vpxor, taken for out", "c5f9efc1", disasm.Inst{Len: 4, Refused: true}, false},
		{"vcmpps, taken for ret", "c5f8c2c100", disasm.Inst{Len: 5, Refused: true}, false},
		{"vmovdqa", "c5f96fc1", disasm.Inst{Len: 4, Refused: true}, false},
		{"por is read well", "660febc1", disasm.Inst{Len: 4}, false},
		{"rdpkru", "0f01ee", disasm.Inst{Len: 3}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := disasmtest.Code(t, "amd64", c.bytes)
			got, err := disasm.Decode(b, b.At)
			if err != nil {
				t.Fatal(err)
			}
			compare(t, got, c.want, c.emulated)
		})
	}
}

// compare checks everything that a table row states. Instructions of which only the length is
// decoded may be said to change more registers than they do.
func compare(t *testing.T, got, want disasm.Inst, emulated bool) {
	t.Helper()
	if got.Len != want.Len || got.Control != want.Control || got.Target != want.Target || got.Cond != want.Cond ||
		got.Locked != want.Locked || got.Refused != want.Refused || got.Emulated != emulated || got.Ref != want.Ref {
		t.Errorf("got %s: %+v\nwant %+v, emulated %t", got, struct{ disasm.Inst }{got}.Inst, want, emulated)
	}
	if text := got.Text(); text == "other" {
		return
	}
	if got.WritesArgs != want.WritesArgs || got.WritesSP != want.WritesSP || got.WritesLR != want.WritesLR {
		t.Errorf("%s: writes args %b, sp %t, lr %t; want %b, %t, %t", got,
			got.WritesArgs, got.WritesSP, got.WritesLR, want.WritesArgs, want.WritesSP, want.WritesLR)
	}
}

func TestDecodeARM64(t *testing.T) {
	for _, c := range []struct {
		name, word string
		want       disasm.Inst
		emulated   bool
	}{
		{"nop", "d503201f", disasm.Inst{Control: disasm.Nop}, true},
		{"bti c", "d503245f", disasm.Inst{}, false},
		{"paciasp", "d503233f", disasm.Inst{WritesLR: true}, false},
		{"yield", "d503203f", disasm.Inst{Refused: true}, false},
		{"dmb ish", "d5033bbf", disasm.Inst{}, false},
		{"msr nzcv, x0", "d51b4200", disasm.Inst{Refused: true}, false},
		{"b", "14000002", disasm.Inst{Control: disasm.Jump, Target: 0x1008}, true},
		{"bl", "94000004", disasm.Inst{Control: disasm.Call, Target: 0x1010, WritesLR: true, WritesArgs: 0xff}, true},
		{"b.eq", "54000040", disasm.Inst{Control: disasm.Jcc, Target: 0x1008, Cond: disasm.Equal}, true},
		{"b.ne back", "54ffffe1", disasm.Inst{Control: disasm.Jcc, Target: 0xffc, Cond: disasm.NotEqual}, true},
		{"b.mi", "54000044", disasm.Inst{Control: disasm.Jcc, Target: 0x1008, Cond: disasm.Sign}, true},
		{"b.lt", "5400004b", disasm.Inst{Control: disasm.Jcc, Target: 0x1008, Cond: disasm.OtherCond}, true},
		{"cbz x0", "b4000040", disasm.Inst{Control: disasm.Jcc, Target: 0x1008, Cond: disasm.OtherCond}, true},
		{"tbnz w3, #5", "37280043", disasm.Inst{Control: disasm.Jcc, Target: 0x1008, Cond: disasm.OtherCond}, true},
		{"br x16", "d61f0200", disasm.Inst{Control: disasm.JumpIndirect}, true},
		{"blr x19", "d63f0260", disasm.Inst{Control: disasm.CallIndirect, WritesLR: true, WritesArgs: 0xff}, true},
		{"ret", "d65f03c0", disasm.Inst{Control: disasm.Ret}, true},
		{"retaa", "d65f0bff", disasm.Inst{Control: disasm.Ret, Refused: true}, false},
		{"adr x3, .+16", "10000083", disasm.Inst{Ref: 0x1010, WritesArgs: disasm.Args(3)}, true},
		{"adrp x1", "b0000001", disasm.Inst{Ref: 0x2000, WritesArgs: disasm.Args(1)}, true},
		{"ldr x0, .+16", "58000080", disasm.Inst{Ref: 0x1010, WritesArgs: disasm.Args(0), Refused: true}, false},
		{"stp x29, x30, [sp, #-48]!", "a9bd7bfd", disasm.Inst{WritesSP: true}, false},
		{"ldp x29, x30, [sp], #48", "a8c37bfd", disasm.Inst{WritesSP: true, WritesLR: true}, false},
		{"stp x0, x1, [sp, #16]", "a90107e0", disasm.Inst{}, false},
		{"ldp x0, x1, [sp, #16]", "a94107e0", disasm.Inst{WritesArgs: disasm.Args(0, 1)}, false},
		{"sub sp, sp, #16", "d10043ff", disasm.Inst{WritesSP: true}, false},
		{"mov x0, x20", "aa1403e0", disasm.Inst{WritesArgs: disasm.Args(0)}, false},
		{"cmp x1, #0", "f100003f", disasm.Inst{}, false},
		{"ccmp x0, x1, #0, eq", "fa410000", disasm.Inst{}, false},
		{"csel x0, x1, x2, eq", "9a820020", disasm.Inst{WritesArgs: disasm.Args(0)}, false},
		{"ldr x2, [x2, #3984]", "f947c842", disasm.Inst{WritesArgs: disasm.Args(2)}, false},
		{"ldr x3, [x4], #8", "f8408483", disasm.Inst{WritesArgs: disasm.Args(3, 4)}, false},
		{"str x0, [x1]", "f9000020", disasm.Inst{}, false},
		{"mrs x1, tpidr_el0", "d53bd041", disasm.Inst{WritesArgs: disasm.Args(1)}, false},
		{"ldxr w1, [x0]", "885f7c01", disasm.Inst{Locked: true, Refused: true, WritesArgs: disasm.Args(1)}, false},
		{"stlxr w2, w1, [x0]", "8802fc01", disasm.Inst{Locked: true, Refused: true, WritesArgs: disasm.Args(1, 2)}, false},
		{"ldaddal w3, w4, [x5]", "b8e300a4", disasm.Inst{WritesArgs: disasm.Args(4)}, false},
		{"svc", "d4000001", disasm.Inst{Refused: true, WritesArgs: 0xff, WritesSP: true, WritesLR: true}, false},
		{"brk", "d4200020", disasm.Inst{Control: disasm.Trap, Refused: true}, false},
		{"udf", "00000000", disasm.Inst{Control: disasm.Trap, Refused: true}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := disasmtest.Code(t, "arm64", c.word)
			// The table shows words, memory is little-endian.
			for i, j := 0, 3; i < j; i, j = i+1, j-1 {
				b.Data[i], b.Data[j] = b.Data[j], b.Data[i]
			}
			got, err := disasm.Decode(b, b.At)
			if err != nil {
				t.Fatal(err)
			}
			c.want.Len = 4
			compare(t, got, c.want, c.emulated)
		})
	}
}

// The bits around a field do not count.
func TestSigned(t *testing.T) {
	for _, c := range []struct {
		w     uint32
		lo, n uint
		want  int64
	}{
		{0xffffffff, 0, 26, -1}, {0x02000000, 0, 26, -1 << 25}, {0x01ffffff, 0, 26, 1<<25 - 1}, {0xfc000000, 0, 26, 0},
		{0x00ffffe0, 5, 19, -1}, {0x0080001f, 5, 19, -1 << 18}, {0xff00003f, 5, 19, 1}, {0x80000000, 31, 1, -1}, {0x7fffffff, 31, 1, 0},
	} {
		if got := disasm.Signed(c.w, c.lo, c.n); got != c.want {
			t.Errorf("%d bits of %#x from %d on are %d, want %d", c.n, c.w, c.lo, got, c.want)
		}
	}
}

func TestUndecodable(t *testing.T) {
	for name, c := range map[string]disasmtest.Bytes{
		"lone prefix":          disasmtest.Code(t, "amd64", "66"),
		"truncated call":       disasmtest.Code(t, "amd64", "e80000"),
		"call with 66":         disasmtest.Code(t, "amd64", "66e800000000"),
		"invalid opcode":       disasmtest.Code(t, "amd64", "06909090"),
		"truncated displaced":  disasmtest.Code(t, "amd64", "0f1f44"),
		"fifteen prefixes":     disasmtest.Code(t, "amd64", strings.Repeat("66", 15)+"90"),
		"reserved arm64 group": disasmtest.Code(t, "arm64", "00000002"),
		"half a word":          disasmtest.Code(t, "arm64", "1f20"),
	} {
		if i, err := disasm.Decode(c, c.At); !errors.Is(err, disasm.ErrUndecodable) {
			t.Errorf("%s: got %+v, %v; want ErrUndecodable", name, i, err)
		}
	}
	c := disasmtest.Code(t, "amd64", "90")
	if _, err := disasm.Decode(c, 0x10); err == nil || errors.Is(err, disasm.ErrUndecodable) {
		t.Errorf("unmapped address: error %v", err)
	}
	c.ForArch = "riscv64"
	if _, err := disasm.Decode(c, c.At); err == nil || !strings.Contains(err.Error(), "riscv64") {
		t.Errorf("unknown architecture: error %v", err)
	}
}

// TestLengthsAgainstObjdump compares every instruction of the installed
// libgomp with the disassembler of the system.
func TestLengthsAgainstObjdump(t *testing.T) {
	f, path := disasmtest.Libgomp(t)
	out, err := exec.Command("objdump", "-d", "-w", path).Output()
	if err != nil {
		t.Skipf("objdump: %v", err)
	}
	n := 0
	for sc := bufio.NewScanner(strings.NewReader(string(out))); sc.Scan(); {
		col := strings.Split(sc.Text(), "\t")
		if len(col) < 3 || strings.Contains(col[2], "(bad)") {
			continue
		}
		addr, err := strconv.ParseUint(strings.TrimSuffix(strings.TrimSpace(col[0]), ":"), 16, 64)
		if err != nil {
			continue
		}
		want := len(strings.Fields(col[1]))
		if f.Arch() == "arm64" {
			want = 4
		}
		i, err := disasm.Decode(f, addr)
		// objdump shows fwait and the x87 instruction behind it as one.
		if err != nil || i.Len != want && i.Bytes[0] != 0x9b {
			t.Errorf("%s: length %d, %v", sc.Text(), i.Len, err)
		}
		n++
	}
	if n < 1000 {
		t.Errorf("objdump printed only %d instructions", n)
	}
	for _, lo := range f.Funcs() {
		if _, err := disasm.Func(f, lo); err != nil {
			t.Error(err)
		}
	}
}

// countedCode counts how often a function's bytes are read.
type countedCode struct {
	disasmtest.Bytes
	reads atomic.Int64
}

func (c *countedCode) Read(vaddr uint64, n int) []byte {
	c.reads.Add(1)
	return c.Bytes.Read(vaddr, n)
}

// TestDecoded asks for a function from several goroutines, and again.
func TestDecoded(t *testing.T) {
	c := &countedCode{Bytes: disasmtest.Code(t, "amd64", "554889e55dc3")}
	want, err := disasm.Func(c, 0x1000)
	if err != nil || len(want) != 4 {
		t.Fatalf("%v, %v", want, err)
	}
	d := disasm.NewDecoded(c)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if got, err := disasm.Func(d, 0x1003); err != nil || !slices.EqualFunc(got, want, func(a, b disasm.Inst) bool { return a.String() == b.String() }) {
				t.Errorf("%v, %v", got, err)
			}
		})
	}
	all.Wait()
	before := c.reads.Load()
	if _, err := disasm.Func(d, 0x1001); err != nil || c.reads.Load() != before {
		t.Errorf("decoded again: %v", err)
	}
}

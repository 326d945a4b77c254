package disasm

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"golang.org/x/arch/x86/x86asm"
)

// Code is what the package needs of an ELF file. Addresses are link-time
// virtual addresses of that file.
type Code interface {
	// Read returns n bytes of the file at a virtual address, fewer at the end
	// of a mapping, and nil where nothing is mapped.
	Read(vaddr uint64, n int) []byte
	// FuncRange returns the extent [lo, hi) of the function that contains
	// vaddr (from .eh_frame_hdr or the symbol table).
	FuncRange(vaddr uint64) (lo, hi uint64, ok bool)
	// Symbol returns all addresses of a function symbol; versioned symbols
	// can have several.
	Symbol(name string) []uint64
	// Arch returns "amd64" or "arm64".
	Arch() string
}

// ErrUndecodable is wrapped by Decode's errors for bytes that are not an
// instruction this package knows. The length of such bytes is never guessed:
// a breakpoint inside an instruction crashes the traced program.
var ErrUndecodable = errors.New("undecodable instruction")

// Control says what an instruction does to the flow of control. It tells apart what the kernel's
// uprobe code tells apart.
type Control uint8

// The values of Control.
const (
	Other        Control = iota
	Nop                  // does nothing; endbr64 and bti are Other: the kernel steps them
	Push                 // push of one general register (x86)
	Call                 // direct call, Target is known
	CallIndirect         // call through a register or memory
	Jump                 // direct jump, Target is known
	JumpIndirect         // jump through a register or memory
	Jcc                  // conditional jump, Target is known
	Ret                  // return
	Trap                 // ud2, int3, hlt, brk, udf: never continues
)

var controlNames = [...]string{"other", "nop", "push", "call", "call indirect", "jump", "jump indirect", "jcc", "ret", "trap"}

// String returns a name for messages.
func (c Control) String() string {
	if int(c) < len(controlNames) {
		return controlNames[c]
	}
	return "invalid"
}

// Cond is the condition of a Jcc, as far as a BPF program can repeat it from
// the flags in the register set.
type Cond uint8

// The conditions. OtherCond also stands for arm64's cbz and tbz, which test a
// register and not the flags.
const (
	NoCond    Cond = iota // not a conditional jump
	Equal                 // je, b.eq: taken if the zero flag is set
	NotEqual              // jne, b.ne: taken if it is clear
	Sign                  // js, b.mi: taken if the sign flag is set
	NotSign               // jns, b.pl: taken if it is clear
	OtherCond             // any other condition
)

// ArgSet is a set of integer arguments: bit i stands for argument i. The arguments are rdi, rsi,
// rdx, rcx, r8 and r9 on x86-64, and x0 to x7 on arm64.
type ArgSet = uint8

// Args returns the set of the numbered arguments; numbers above 7 are ignored.
func Args(numbers ...int) ArgSet {
	var s ArgSet
	for _, n := range numbers {
		if n >= 0 && n < 8 {
			s |= 1 << n
		}
	}
	return s
}

// Inst is one decoded instruction.
type Inst struct {
	Addr  uint64
	Bytes []byte // the instruction itself
	Len   int    // in bytes
	// Target is the address to which a Call, Jump or Jcc leads. For CallIndirect and JumpIndirect
	// it is the address of the slot that holds the destination (as with -fno-plt). It is 0 if no
	// slot at a fixed address holds the destination.
	Target uint64
	// Ref is the address that a position-relative operand denotes: the operand
	// of lea x(%rip), of mov slot(%rip), of call *slot(%rip), of adr and adrp.
	// 0 if there is none.
	Ref        uint64
	Control    Control
	Cond       Cond // the condition of a Jcc
	WritesSP   bool
	WritesLR   bool   // arm64: the return address in x30 is changed (or signed)
	WritesArgs ArgSet // argument registers changed, or possibly changed
	// Locked marks a lock prefix (x86) or an exclusive access (arm64): the
	// kernel refuses a uprobe there, with uprobe_multi silently.
	Locked bool
	// Refused marks an instruction on which no uprobe may be placed. Either the kernel refuses it
	// (as for Locked ones), or a probe would do harm: a nop of 5 bytes, many instructions of AVX.
	Refused bool
	// Emulated says that the kernel emulates the instruction instead of single-stepping it out of
	// line. That makes a probe about 20 times cheaper on virtual machines and about 3 times on bare
	// metal. Multi-byte nops (x86) and nop (arm64) are single-stepped by kernels before 6.13 to
	// 6.18.
	Emulated bool
	Arch     string  // "amd64" or "arm64"
	Meaning  Meaning // what it does to the general registers

	dis *x86asm.Inst // x86asm's form of it; nil if x86asm was not used
}

// Refusal says why no probe is placed on a Refused instruction.
func (i Inst) Refusal() string {
	if i.IsNop5() {
		return fmt.Sprintf("a probe at %s could overwrite the function's data (Linux 6.18 makes a call of such an instruction)", i)
	}
	if _, ok := longOpcode(i.Bytes); ok && i.Arch == "amd64" {
		return fmt.Sprintf("Linux refuses a probe at %s, or would execute that AVX instruction wrongly", i)
	}
	return fmt.Sprintf("the kernel refuses a probe at %s", i)
}

// IsNop5 reports whether the instruction is a nop of the length of a call (x86). Linux 6.18 makes a
// call of such a nop.
func (i Inst) IsNop5() bool { return i.Control == Nop && i.Len == nop5 && i.Arch == "amd64" }

// Ends reports whether control never simply goes on to the next instruction.
func (i Inst) Ends() bool {
	return i.Control == Jump || i.Control == JumpIndirect || i.Control == Ret || i.Control == Trap
}

// Transfers reports whether the instruction may send control elsewhere.
func (i Inst) Transfers() bool {
	return i.Ends() || i.Control == Jcc || i.Control == Call || i.Control == CallIndirect
}

// CallsPointer reports whether the instruction calls a function whose address the code has
// computed or loaded, like a task's or a team's function. A call through a fixed slot does not: it
// calls a library function, in code built with -fno-plt.
func (i Inst) CallsPointer() bool { return i.Control == CallIndirect && i.Ref == 0 }

// Next returns the address after the instruction.
func (i Inst) Next() uint64 { return i.Addr + uint64(i.Len) }

// Text returns the instruction in GNU assembler syntax, decoded anew. Of an instruction that is too
// new for the disassembler it returns the Control.
func (i Inst) Text() string {
	if i.Arch == "arm64" {
		return textARM64(i)
	}
	return textX86(i)
}

// String returns address and text, for messages.
func (i Inst) String() string { return fmt.Sprintf("%#x: %s", i.Addr, i.Text()) }

// maxLen is the greatest length of an x86 instruction.
const maxLen = 15

// Decode decodes the instruction at vaddr. The error wraps ErrUndecodable if the bytes are no known
// instruction. Other errors say that nothing is mapped at vaddr, or that the file's architecture is
// not supported.
func Decode(code Code, vaddr uint64) (Inst, error) {
	b := code.Read(vaddr, maxLen)
	if len(b) == 0 {
		// The instruction may be the last one of the mapping: then fewer bytes are there.
		for n := maxLen - 1; n > 0 && len(b) == 0; n-- {
			b = code.Read(vaddr, n)
		}
	}
	if len(b) == 0 {
		return Inst{}, fmt.Errorf("no code mapped at %#x", vaddr)
	}
	return decode(code.Arch(), vaddr, b)
}

func decode(arch string, vaddr uint64, b []byte) (Inst, error) {
	var (
		i  Inst
		ok bool
	)
	switch arch {
	case "amd64":
		i, ok = decodeX86(vaddr, b)
	case "arm64":
		i, ok = decodeARM64(vaddr, b)
	default:
		return Inst{}, fmt.Errorf("architecture %q is not supported", arch)
	}
	if !ok || i.Len <= 0 || i.Len > len(b) {
		return Inst{}, fmt.Errorf("at %#x, bytes % x: %w", vaddr, b[:min(len(b), maxLen)], ErrUndecodable)
	}
	i.Addr, i.Bytes, i.Arch = vaddr, b[:i.Len:i.Len], arch
	return i, nil
}

// maxFunc bounds the bytes of one function that are decoded; the largest
// functions of the OpenMP and MPI runtimes have some 64 KiB.
const maxFunc = 1 << 20

// Decoded is code that decodes each function once. It is safe for concurrent use.
type Decoded struct {
	Code
	mu    sync.Mutex
	funcs map[uint64]decodedFunc
}

type decodedFunc struct {
	body []Inst
	err  error
}

// NewDecoded returns code that keeps the functions that were decoded.
func NewDecoded(code Code) *Decoded { return &Decoded{Code: code, funcs: map[uint64]decodedFunc{}} }

// Func decodes the whole function that contains vaddr, from its first
// instruction on. On an error the instructions before it are returned too. The
// result must not be changed.
func Func(code Code, vaddr uint64) ([]Inst, error) {
	lo, hi, ok := code.FuncRange(vaddr)
	if !ok || hi <= lo {
		return nil, fmt.Errorf("no function is known at %#x", vaddr)
	}
	d, ok := code.(*Decoded)
	if !ok {
		return decodeFunc(code, lo, hi)
	}
	d.mu.Lock()
	f, ok := d.funcs[lo]
	d.mu.Unlock()
	if !ok { // decoding holds no lock; a function that two ask for at once is decoded twice
		f.body, f.err = decodeFunc(code, lo, hi)
		d.mu.Lock()
		d.funcs[lo] = f
		d.mu.Unlock()
	}
	return f.body, f.err
}

func decodeFunc(code Code, lo, hi uint64) ([]Inst, error) {
	if hi-lo > maxFunc {
		return nil, fmt.Errorf("function at %#x: %d bytes are too many", lo, hi-lo)
	}
	b := code.Read(lo, int(hi-lo))
	if uint64(len(b)) < hi-lo {
		return nil, fmt.Errorf("function at %#x: only %d of %d bytes are in the file", lo, len(b), hi-lo)
	}
	insts := make([]Inst, 0, len(b)/4)
	for at := 0; at < len(b); {
		i, err := decode(code.Arch(), lo+uint64(at), b[at:])
		if err != nil {
			return insts, fmt.Errorf("function at %#x: %w", lo, err)
		}
		insts = append(insts, i)
		at += i.Len
	}
	return insts, nil
}

// OneSymbol returns the one address of a function symbol.
func OneSymbol(code Code, name string) (uint64, error) {
	switch a := code.Symbol(name); len(a) {
	case 0:
		return 0, fmt.Errorf("no symbol %s", name)
	case 1:
		return a[0], nil
	default:
		return 0, fmt.Errorf("symbol %s has %d addresses", name, len(a))
	}
}

// Parts returns the function that contains vaddr and the further ranges that
// its jumps lead into, such as a .cold part. A function that is reached by a
// tail call is returned too: the two look alike. The first range is that of
// vaddr; its error is returned, while further ranges that cannot be decoded are
// left out.
func Parts(code Code, vaddr uint64) ([][]Inst, error) {
	first, err := Func(code, vaddr)
	if err != nil {
		return nil, err
	}
	parts := [][]Inst{first}
	lo, hi := first[0].Addr, first[len(first)-1].Next()
	seen := map[uint64]bool{lo: true}
	for _, i := range first {
		if i.Control != Jump && i.Control != Jcc || i.Target >= lo && i.Target < hi {
			continue
		}
		plo, _, ok := code.FuncRange(i.Target)
		if !ok || seen[plo] {
			continue
		}
		seen[plo] = true
		if p, err := Func(code, i.Target); err == nil {
			parts = append(parts, p)
		}
	}
	return parts, nil
}

// Joined returns the instructions of all parts, which must not be changed.
func Joined(parts [][]Inst) []Inst {
	if len(parts) == 1 {
		return parts[0]
	}
	return slices.Concat(parts...)
}

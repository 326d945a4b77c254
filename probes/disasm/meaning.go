package disasm

// Reg is a general register in encoding order. On x86-64 rax is 0, rcx 1, rdx 2, rbx 3, rsp 4, rbp
// 5, rsi 6 and rdi 7. On arm64 31 is the stack pointer.
type Reg int8

// NoReg stands for the absence of a register.
const NoReg Reg = -1

// Address is base + index + displacement, or the same relative to the thread pointer.
type Address struct {
	Base, Index Reg
	Scaled      bool // the index is multiplied: its contribution is unknown
	TP          bool // relative to the thread pointer (%fs:)
	Disp        int64
}

// Op says how an instruction computes its Meaning's register.
type Op uint8

// The values of Op.
const (
	MeansNothing       Op = iota // nothing that is known
	MeansCall                    // a call: only some registers keep their values
	MeansAddress                 // Dst = Addr
	MeansLoad                    // Dst = memory at Addr
	MeansAddLoad                 // Dst += memory at Addr
	MeansThreadPointer           // Dst = thread pointer
)

// Meaning is what an instruction does to the general registers, as far as it is decoded.
type Meaning struct {
	Op     Op
	Dst    Reg
	Addr   Address
	Size   int    // number of bytes loaded
	Writes uint32 // all registers changed
}

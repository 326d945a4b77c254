package calibration

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
)

// The program whose probes are measured. It reads commands of three words: an address, a number n,
// a second address. It calls the function at the first address n times. Then it writes its thread's
// CPU clock before and after the calls, and a buffer of time stamps.

const (
	commandBytes = 3 * 8
	numStamps    = 64
	answerBytes  = 48 + 16*numStamps // two timespecs, 16 bytes unused, the stamps

	loadAt     = 0x400000
	codeOffset = 0x200 // in the file, behind the ELF headers
	slot       = 64    // bytes for each function
)

// program is the program's code for one architecture.
type program struct {
	elf     elf.Machine
	driver  []byte
	stamp   uint64 // offset in driver: stores the time and jumps to the second address
	bodies  map[instruction]body
	pageMax uint64 // the largest pages that the architecture has
}

// body is the code of a function, and the offset in it at which the probe is placed.
type body struct {
	code   []byte
	probe  uint64
	second uint64 // of a pair: offset of the second probe
}

// instruction is a instruction of instruction that a probe can sit on.
type instruction int

const (
	nop5 instruction = iota // amd64 only
	jump                    // likewise
	emulated
	call
	singleStep
	pair // two emulated instructions
)

func (k instruction) String() string {
	return [...]string{"5-byte nop", "relative jump", "emulated instruction", "relative call", "single-stepped instruction", "pair of emulated instructions"}[k]
}

var programs = map[string]program{
	"amd64": {
		elf: elf.EM_X86_64, pageMax: 1 << 12,
		driver: []byte{
			0x48, 0x81, 0xec, 0x00, 0x20, 0x00, 0x00, // sub $0x2000,%rsp
			// main: read(0, %rsp, 24)
			0x31, 0xc0, // xor %eax,%eax
			0x31, 0xff, // xor %edi,%edi
			0x48, 0x89, 0xe6, // mov %rsp,%rsi
			0xba, commandBytes, 0x00, 0x00, 0x00, // mov $24,%edx
			0x0f, 0x05, // syscall
			0x48, 0x83, 0xf8, commandBytes, // cmp $24,%rax
			0x75, 0x55, // jne exit
			0x4c, 0x8b, 0x24, 0x24, // mov (%rsp),%r12
			0x48, 0x8b, 0x5c, 0x24, 0x08, // mov 8(%rsp),%rbx
			0x4c, 0x8b, 0x74, 0x24, 0x10, // mov 16(%rsp),%r14
			0x4c, 0x8d, 0x6c, 0x24, 0x40, // lea 64(%rsp),%r13
			// clock_gettime(CLOCK_THREAD_CPUTIME_ID, 16(%rsp))
			0xb8, 0xe4, 0x00, 0x00, 0x00, // mov $228,%eax
			0xbf, 0x03, 0x00, 0x00, 0x00, // mov $3,%edi
			0x48, 0x8d, 0x74, 0x24, 0x10, // lea 16(%rsp),%rsi
			0x0f, 0x05, // syscall
			// again:
			0x41, 0xff, 0xd4, // call *%r12
			0x48, 0xff, 0xcb, // dec %rbx
			0x75, 0xf8, // jne again
			// clock_gettime(CLOCK_THREAD_CPUTIME_ID, 32(%rsp))
			0xb8, 0xe4, 0x00, 0x00, 0x00, // mov $228,%eax
			0xbf, 0x03, 0x00, 0x00, 0x00, // mov $3,%edi
			0x48, 0x8d, 0x74, 0x24, 0x20, // lea 32(%rsp),%rsi
			0x0f, 0x05, // syscall
			// write(1, 16(%rsp), answerBytes)
			0xb8, 0x01, 0x00, 0x00, 0x00, // mov $1,%eax
			0xbf, 0x01, 0x00, 0x00, 0x00, // mov $1,%edi
			0x48, 0x8d, 0x74, 0x24, 0x10, // lea 16(%rsp),%rsi
			0xba, answerBytes & 0xff, answerBytes >> 8, 0x00, 0x00, // mov $answerBytes,%edx
			0x0f, 0x05, // syscall
			0xeb, 0x97, // jmp main
			// exit: exit(0)
			0xb8, 0x3c, 0x00, 0x00, 0x00, // mov $60,%eax
			0x31, 0xff, // xor %edi,%edi
			0x0f, 0x05, // syscall
			0x0f, 0x1f, 0x80, 0x00, 0x00, 0x00, 0x00, // nop
			// stamp: clock_gettime(CLOCK_MONOTONIC, %r13)
			0xb8, 0xe4, 0x00, 0x00, 0x00, // mov $228,%eax
			0xbf, 0x01, 0x00, 0x00, 0x00, // mov $1,%edi
			0x4c, 0x89, 0xee, // mov %r13,%rsi
			0x0f, 0x05, // syscall
			0x49, 0x83, 0xc5, 0x10, // add $16,%r13
			0x41, 0xff, 0xe6, // jmp *%r14
		},
		stamp: 0x80,
		bodies: map[instruction]body{
			nop5:       {code: []byte{0x0f, 0x1f, 0x44, 0x00, 0x00, 0xc3}},                   // nopl 0(%rax,%rax); ret
			jump:       {code: []byte{0xeb, 0x00, 0xc3}},                                     // jmp next; next: ret
			emulated:   {code: []byte{0x55, 0x5d, 0xc3}},                                     // push %rbp; pop %rbp; ret
			call:       {code: []byte{0xe8, 0x01, 0x00, 0x00, 0x00, 0xc3 /* here: */, 0xc3}}, // call here; ret; here: ret
			pair:       {code: []byte{0x55, 0x5d, 0x55, 0x5d, 0xc3}, second: 2},              // push %rbp; pop %rbp; push %rbp; pop %rbp; ret
			singleStep: {code: []byte{0xf3, 0x0f, 0x1e, 0xfa, 0xc3}},                         // endbr64; ret
		},
	},
	"arm64": {
		elf: elf.EM_AARCH64, pageMax: 1 << 16,
		driver: words(
			0xd1400bff, // sub sp, sp, #0x2000
			// main: read(0, sp, 24)
			0xd28007e8, // mov x8, #63
			0xd2800000, // mov x0, #0
			0x910003e1, // mov x1, sp
			0xd2800302, // mov x2, #24
			0xd4000001, // svc #0
			0xf100601f, // cmp x0, #24
			0x540002a1, // b.ne exit
			0xa94053f3, // ldp x19, x20, [sp]
			0xf9400bf5, // ldr x21, [sp, #16]
			0x910103f6, // add x22, sp, #64
			// clock_gettime(CLOCK_THREAD_CPUTIME_ID, sp+16)
			0xd2800e28, // mov x8, #113
			0xd2800060, // mov x0, #3
			0x910043e1, // add x1, sp, #16
			0xd4000001, // svc #0
			// again:
			0xd63f0260, // blr x19
			0xf1000694, // subs x20, x20, #1
			0x54ffffc1, // b.ne again
			// clock_gettime(CLOCK_THREAD_CPUTIME_ID, sp+32)
			0xd2800e28, // mov x8, #113
			0xd2800060, // mov x0, #3
			0x910083e1, // add x1, sp, #32
			0xd4000001, // svc #0
			// write(1, sp+16, answerBytes)
			0xd2800808,                // mov x8, #64
			0xd2800020,                // mov x0, #1
			0x910043e1,                // add x1, sp, #16
			0xd2800002|answerBytes<<5, // mov x2, #answerBytes
			0xd4000001,                // svc #0
			0x17ffffe6,                // b main
			// exit: exit(0)
			0xd2800ba8, // mov x8, #93
			0xd2800000, // mov x0, #0
			0xd4000001, // svc #0
			0xd503201f, // nop
			// stamp: clock_gettime(CLOCK_MONOTONIC, x22)
			0xd2800e28, // mov x8, #113
			0xd2800020, // mov x0, #1
			0xaa1603e1, // mov x1, x22
			0xd4000001, // svc #0
			0x910042d6, // add x22, x22, #16
			0xd61f02a0, // br x21
		),
		stamp: 0x80,
		bodies: map[instruction]body{
			emulated:   {code: words(0xd503201f, 0xd65f03c0)},                                   // nop; ret
			call:       {code: words(0xaa1e03e9, 0x94000002, 0xaa0903fe, 0xd65f03c0), probe: 4}, // mov x9, x30; bl end; mov x30, x9; end: ret
			pair:       {code: words(0xd503201f, 0xd503201f, 0xd65f03c0), second: 4},            // nop; nop; ret
			singleStep: {code: words(0xaa0a03ea, 0xd65f03c0)},                                   // mov x10, x10; ret
		},
	},
}

func words(w ...uint32) (code []byte) {
	for _, v := range w {
		code = binary.LittleEndian.AppendUint32(code, v)
	}
	return code
}

// address is the address of the i-th function in memory; probeOffset is the offset in the file at
// which its probe is placed.
func (m *program) address(i int) uint64 { return loadAt + codeOffset + m.functions() + uint64(i)*slot }

func (m *program) probeOffset(i int, k instruction) uint64 {
	return m.address(i) - loadAt + m.bodies[k].probe
}

func (m *program) stampAddress() uint64 { return loadAt + codeOffset + m.stamp }

func (m *program) functions() uint64 { return (uint64(len(m.driver)) + slot - 1) / slot * slot }

// image returns the executable with a function for each of the kinds.
func (m *program) image(kinds []instruction) ([]byte, error) {
	code := make([]byte, m.functions()+uint64(len(kinds))*slot)
	copy(code, m.driver)
	for i, k := range kinds {
		b, ok := m.bodies[k]
		if !ok {
			return nil, fmt.Errorf("this architecture has no %s", k)
		}
		copy(code[m.functions()+uint64(i)*slot:], b.code)
	}
	head := elf.Header64{
		Ident: [elf.EI_NIDENT]byte{0x7f, 'E', 'L', 'F', byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB), byte(elf.EV_CURRENT)},
		Type:  uint16(elf.ET_EXEC), Machine: uint16(m.elf), Version: uint32(elf.EV_CURRENT),
		Entry: loadAt + codeOffset, Phoff: uint64(binary.Size(elf.Header64{})),
		Ehsize: uint16(binary.Size(elf.Header64{})), Phentsize: uint16(binary.Size(elf.Prog64{})), Phnum: 2,
	}
	size := uint64(codeOffset + len(code))
	segments := []elf.Prog64{
		{Type: uint32(elf.PT_LOAD), Flags: uint32(elf.PF_R | elf.PF_X), Vaddr: loadAt, Paddr: loadAt, Filesz: size, Memsz: size, Align: m.pageMax},
		{Type: uint32(elf.PT_GNU_STACK), Flags: uint32(elf.PF_R | elf.PF_W), Align: 16}, // no executable stack
	}
	var b bytes.Buffer
	for _, v := range []any{head, segments} {
		if err := binary.Write(&b, binary.LittleEndian, v); err != nil {
			return nil, err
		}
	}
	b.Write(make([]byte, codeOffset-b.Len()))
	b.Write(code)
	return b.Bytes(), nil
}

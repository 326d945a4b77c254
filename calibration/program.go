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
	numStamps    = 32
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
	spawn   uint64 // offset in driver: starts another thread that reads commands, too
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
			// spawn: mmap(0, 0x8000, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0)
			0xb8, 0x09, 0x00, 0x00, 0x00, // mov $9,%eax
			0x31, 0xff, // xor %edi,%edi
			0xbe, 0x00, 0x80, 0x00, 0x00, // mov $0x8000,%esi
			0xba, 0x03, 0x00, 0x00, 0x00, // mov $3,%edx
			0x41, 0xba, 0x22, 0x00, 0x00, 0x00, // mov $0x22,%r10d
			0x49, 0xc7, 0xc0, 0xff, 0xff, 0xff, 0xff, // mov $-1,%r8
			0x45, 0x31, 0xc9, // xor %r9d,%r9d
			0x0f, 0x05, // syscall
			// clone(CLONE_VM|CLONE_FS|CLONE_FILES|CLONE_SIGHAND|CLONE_THREAD|CLONE_SYSVSEM, its
			// end)
			0x48, 0x8d, 0xb0, 0x00, 0x80, 0x00, 0x00, // lea 0x8000(%rax),%rsi
			0xb8, 0x38, 0x00, 0x00, 0x00, // mov $56,%eax
			0xbf, 0x00, 0x0f, 0x05, 0x00, // mov $0x50f00,%edi
			0x0f, 0x05, // syscall
			0x85, 0xc0, // test %eax,%eax
			0x74, 0x01, // je child
			0xc3, // ret
			// child: the beginning
			0x41, 0xbe, 0x00, 0x02, 0x40, 0x00, // mov $(loadAt+codeOffset),%r14d
			0x41, 0xff, 0xe6, // jmp *%r14
		},
		stamp: 0x80, spawn: 0x96,
		bodies: map[instruction]body{
			// nopl 0(%rax,%rax); ret
			nop5: {code: []byte{0x0f, 0x1f, 0x44, 0x00, 0x00, 0xc3}},
			// jmp next; next: ret
			jump: {code: []byte{0xeb, 0x00, 0xc3}},
			// push %rbp; pop %rbp; ret
			emulated: {code: []byte{0x55, 0x5d, 0xc3}},
			// call here; ret; here: ret
			call: {code: []byte{0xe8, 0x01, 0x00, 0x00, 0x00, 0xc3 /* here: */, 0xc3}},
			// push %rbp; pop %rbp; push %rbp; pop %rbp; ret
			pair:       {code: []byte{0x55, 0x5d, 0x55, 0x5d, 0xc3}, second: 2},
			singleStep: {code: []byte{0xf3, 0x0f, 0x1e, 0xfa, 0xc3}}, // endbr64; ret
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
			// spawn: mmap(0, 0x8000, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0)
			0xd2801bc8, // mov x8, #222
			0xd2800000, // mov x0, #0
			0xd2900001, // mov x1, #0x8000
			0xd2800062, // mov x2, #3
			0xd2800443, // mov x3, #0x22
			0x92800004, // mov x4, #-1
			0xd2800005, // mov x5, #0
			0xd4000001, // svc #0
			// clone(CLONE_VM|CLONE_FS|CLONE_FILES|CLONE_SIGHAND|CLONE_THREAD|CLONE_SYSVSEM, its
			// end)
			0x91402001, // add x1, x0, #8, lsl #12
			0xd2801b88, // mov x8, #220
			0xd281e000, // mov x0, #0x0f00
			0xf2a000a0, // movk x0, #5, lsl #16
			0xd2800002, // mov x2, #0
			0xd2800003, // mov x3, #0
			0xd2800004, // mov x4, #0
			0xd4000001, // svc #0
			0xb4000040, // cbz x0, child
			0xd65f03c0, // ret
			// child: the beginning
			0xd2804009, // mov x9, #codeOffset
			0xf2a00809, // movk x9, #(loadAt>>16), lsl #16
			0xd61f0120, // br x9
		),
		stamp: 0x80, spawn: 0x98,
		bodies: map[instruction]body{
			// nop; ret
			emulated: {code: words(0xd503201f, 0xd65f03c0)},
			// mov x9, x30; bl end; mov x30, x9; end: ret
			call: {code: words(0xaa1e03e9, 0x94000002, 0xaa0903fe, 0xd65f03c0), probe: 4},
			// nop; nop; ret
			pair:       {code: words(0xd503201f, 0xd503201f, 0xd65f03c0), second: 4},
			singleStep: {code: words(0xaa0a03ea, 0xd65f03c0)}, // mov x10, x10; ret
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

func (m *program) spawnAddress() uint64 { return loadAt + codeOffset + m.spawn }

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
		// no executable stack
		{Type: uint32(elf.PT_GNU_STACK), Flags: uint32(elf.PF_R | elf.PF_W), Align: 16},
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

// Package vex knows how Linux reads instructions of AVX and later, where a probe is placed.
//
// Linux takes the opcode of an instruction with a VEX, EVEX or XOP prefix for one of one byte. This
// is so up to Linux 6.18 at least (arch/x86/kernel/uprobes.c). So vpxor, with the opcode ef, is
// taken for an access to a port, and refused. One refused instruction fails all probes of a file.
// Worse, vpor (eb) and vpcmpeqd (76) are taken for jumps: Linux emulates these jumps, and the
// instruction is never executed. The program's results would be wrong.
package vex

// Opcode returns the opcode of an instruction that begins with a VEX, EVEX or XOP prefix. The
// prefixes of a byte before that one are left out. ok is false for all other instructions.
func Opcode(code []byte) (op byte, ok bool) {
	at := 0
	switch {
	case len(code) < 3:
		return 0, false
	case code[0] == 0xc5:
		at = 2
	case code[0] == 0xc4, code[0] == 0x8f && code[1]&0x38 != 0: // 8f /0 is pop
		at = 3
	case code[0] == 0x62:
		at = 4
	default:
		return 0, false
	}
	if at >= len(code) {
		return 0, false
	}
	return code[at], true
}

// Misread is about an instruction with this opcode behind a VEX, EVEX or XOP prefix. It tells
// whether Linux refuses a probe there, or would execute the instruction wrongly.
func Misread(op byte) bool {
	switch {
	case op >= 0x70 && op <= 0x7f, op == 0xe8, op == 0xe9, op == 0xeb: // jumps and the call
		return true
	case op == 0xc2, op == 0xc3, op == 0xca, op == 0xcb, op == 0xff: // returns; calls
		return true
	case op >= 0x88 && op <= 0x90: // mov, lea and nops; mov to ss
		return true
	case op == 0x9a, op == 0x9d: // call far, popf
		return true
	}
	return !oneByte[op>>4].has(op & 15)
}

// opcodes is a row of the kernel's table of opcodes, good_insns_64; the lowest bit is column 0.
type opcodes uint16

func (o opcodes) has(column byte) bool { return o>>column&1 != 0 }

// oneByte has the opcodes of one byte at which Linux places probes.
var oneByte = [16]opcodes{
	0x0: 0xbf3f, // not 06, 07, 0e
	0x1: 0x3f3f, // not 16, 17, 1e, 1f
	0x2: 0x7f7f, // not 27, 2f
	0x3: 0x7f7f, // not 37, 3f
	0x4: 0xffff,
	0x5: 0xffff,
	0x6: 0x0ff8, // not 60 to 62, 6c to 6f
	0x7: 0xffff,
	0x8: 0xfffb, // not 82
	0x9: 0xfbff, // not 9a
	0xa: 0xffff,
	0xb: 0xffff,
	0xc: 0x0fff, // not cc to cf
	0xd: 0xff8f, // not d4 to d6
	0xe: 0x0b0f, // not e4 to e7, ea, ec to ef
	0xf: 0xf3ec, // not f0, f1, f4, fa, fb
}

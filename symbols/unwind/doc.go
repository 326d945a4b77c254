// Package unwind finds a function's caller by the unwind information that compilers write
// (.eh_frame, .debug_frame: DWARF 5, 6.4; LSB 5.0, Core, 10.6). So it also works for code without a
// frame pointer. It uses registers and a copy of a part of the stack, and does not read the
// process.
package unwind

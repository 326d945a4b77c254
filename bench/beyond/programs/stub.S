/* Stubs before a runtime's entry points, each with a 5-byte nop to probe.
 *
 * jump: the nop comes first; the return address is in r11 there. The runtime's
 *       function returns to the program.
 * late: the nop comes after the call, with the time before it in r10: one hit
 *       tells of both ends. Where user code may run meanwhile, as jump (-DLATE). */
	.macro AT_ENTRY f
	.globl \f
	.type \f, @function
	.p2align 4
\f:
	mov (%rsp), %r11
	.byte 0x0f, 0x1f, 0x44, 0, 0
	jmp *slot_\f(%rip)
	.size \f, . - \f
	.endm

	.macro AT_RETURN f
	.globl \f
	.type \f, @function
	.p2align 4
\f:
	.cfi_startproc
	push %rdi
	push %rsi
	push %rdx
	push %rcx
	sub $24, %rsp
	.cfi_def_cfa_offset 64
	mov %rsp, %rsi
	mov $1, %edi /* CLOCK_MONOTONIC, as the records' */
	call *slot_clock_gettime(%rip)
	imul $1000000000, (%rsp), %rax
	add 8(%rsp), %rax
	mov %rax, 16(%rsp)
	mov 24(%rsp), %rcx
	mov 32(%rsp), %rdx
	mov 40(%rsp), %rsi
	mov 48(%rsp), %rdi
	call *slot_\f(%rip)
	mov 16(%rsp), %r10
	mov 32(%rsp), %rdx
	mov 48(%rsp), %rdi
	add $56, %rsp
	.cfi_def_cfa_offset 8
	mov (%rsp), %r11
	.byte 0x0f, 0x1f, 0x44, 0, 0
	ret
	.cfi_endproc
	.size \f, . - \f
	.endm

	.text
#define OPEN(f) AT_ENTRY f
#ifdef LATE
#define SHUT(f) AT_RETURN f
#else
#define SHUT(f) AT_ENTRY f
#endif
#include "entries.h"
	.section .note.GNU-stack, "", @progbits

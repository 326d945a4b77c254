/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The registers of the probed thread, per architecture, and the kernel's structs that tell more of
 * it. Only fields that are used are declared. CO-RE relocates all of them but those of pt_regs,
 * which are ABI. */
#pragma once
#include "shared.h"

#if defined(__TARGET_ARCH_x86)
struct pt_regs {
	u64 r15, r14, r13, r12, bp, bx, r11, r10, r9, r8, ax, cx, dx, si, di;
	u64 orig_ax, ip, cs, flags, sp, ss;
};
struct thread_struct { u64 fsbase; } __attribute__((preserve_access_index));
#define REG_ARG0(r) ((r)->di)
#define REG_ARG1(r) ((r)->si)
#define REG_ARG2(r) ((r)->dx)
#define REG_ARG3(r) ((r)->cx)
#define REG_ARG4(r) ((r)->r8)
#define REG_ARG5(r) ((r)->r9)
#define STACK_ARG6(r) read_u64((r)->sp + 8)
/* The arguments in registers. On the stack lie the return address, and then the other arguments. */
#define EACH_REG_ARG(X) X(0, di) X(1, si) X(2, dx) X(3, cx) X(4, r8) X(5, r9)
#define REG_ARGS 6
#define RETURN_ON_STACK 1
#define REG_BP(r) ((r)->bp)
/* The registers in the order of their encoding; 4 is the stack pointer. */
#define EACH_REG(X) X(0, ax) X(1, cx) X(2, dx) X(3, bx) X(5, bp) X(6, si) X(7, di) X(8, r8) X(9, r9) \
	X(10, r10) X(11, r11) X(12, r12) X(13, r13) X(14, r14) X(15, r15)
#define REG_RET(r)  ((r)->ax)
#define REG_SP(r)   ((r)->sp)
#define REG_IP(r)   ((r)->ip)
#define ZERO_FLAG(r) ((r)->flags & 0x40)
#define SIGN_FLAG(r) ((r)->flags & 0x80)
/* Whether the kernel may be handling a return (sys_uretprobe, Linux 6.11). This is also true while
 * it handles a breakpoint. */
#define MAY_RETURN(r) ((r)->orig_ax == -1ULL)
#elif defined(__TARGET_ARCH_arm64)
struct pt_regs { u64 regs[31], sp, pc, pstate; };
struct thread_uw { u64 tp_value; } __attribute__((preserve_access_index));
struct thread_struct { struct thread_uw uw; } __attribute__((preserve_access_index));
#define REG_ARG0(r) ((r)->regs[0])
#define REG_ARG1(r) ((r)->regs[1])
#define REG_ARG2(r) ((r)->regs[2])
#define REG_ARG3(r) ((r)->regs[3])
#define REG_ARG4(r) ((r)->regs[4])
#define REG_ARG5(r) ((r)->regs[5])
#define STACK_ARG6(r) ((r)->regs[6])
#define EACH_REG_ARG(X) X(0, regs[0]) X(1, regs[1]) X(2, regs[2]) X(3, regs[3]) X(4, regs[4]) X(5, regs[5]) \
	X(6, regs[6]) X(7, regs[7])
#define REG_ARGS 8
#define RETURN_ON_STACK 0
#define REG_BP(r) ((r)->regs[29])
#define EACH_REG(X) X(0, regs[0]) X(1, regs[1]) X(2, regs[2]) X(3, regs[3]) X(4, regs[4]) X(5, regs[5]) \
	X(6, regs[6]) X(7, regs[7]) X(8, regs[8]) X(9, regs[9]) X(10, regs[10]) X(11, regs[11]) \
	X(12, regs[12]) X(13, regs[13]) X(14, regs[14]) X(15, regs[15]) X(16, regs[16]) X(17, regs[17]) \
	X(18, regs[18]) X(19, regs[19]) X(20, regs[20]) X(21, regs[21]) X(22, regs[22]) X(23, regs[23]) \
	X(24, regs[24]) X(25, regs[25]) X(26, regs[26]) X(27, regs[27]) X(28, regs[28]) X(29, regs[29])
#define REG_RET(r)  ((r)->regs[0])
#define REG_SP(r)   ((r)->sp)
#define REG_IP(r)   ((r)->pc)
#define ZERO_FLAG(r) ((r)->pstate & (1ULL << 30))
#define SIGN_FLAG(r) ((r)->pstate & (1ULL << 31))
#define MAY_RETURN(r) 1
#endif

struct return_instance {
	u64 func, orig_ret_vaddr, stack;
	struct return_instance *next;
} __attribute__((preserve_access_index));
struct uprobe_task { struct return_instance *return_instances; } __attribute__((preserve_access_index));
struct xol_area { u64 vaddr; } __attribute__((preserve_access_index));
struct uprobes_state { struct xol_area *xol_area; } __attribute__((preserve_access_index));
struct mm_struct { struct uprobes_state uprobes_state; } __attribute__((preserve_access_index));

struct task_struct {
	int pid, tgid;
	struct thread_struct thread;
	struct task_struct *real_parent;
	struct mm_struct *mm;
	struct uprobe_task *utask;
} __attribute__((preserve_access_index));

struct task_struct___state { unsigned int __state; } __attribute__((preserve_access_index));

/* The context of programs that are run for each task of an iterator. */
struct bpf_iter_meta { struct seq_file *seq; } __attribute__((preserve_access_index));
struct bpf_iter__task { struct bpf_iter_meta *meta; struct task_struct *task; } __attribute__((preserve_access_index));

#if defined(__TARGET_ARCH_x86)
#define THREAD_POINTER(t) ((t)->thread.fsbase)
#else
#define THREAD_POINTER(t) ((t)->thread.uw.tp_value)
#endif

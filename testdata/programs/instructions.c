// instructions.c: executes single instructions out of a file, each from the same
// state, and prints what state each of them leaves (x86-64).
//
//   instructions CODE
//
// CODE holds slots of 64 bytes: an instruction, a return, and data. A line is
// `SLOT SIGNAL HASH`: the signal that the instruction raised, 0 if none, and a hash
// of the registers and of the memory at which rdi points.
#define _GNU_SOURCE
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SLOT = 64, VECTORS = 4, WORDS = 4 };

static struct state {
	uint64_t vector[VECTORS][2], word[WORDS], memory[16];
} state, begin;

static sigjmp_buf out;

static void raised(int sig) { siglongjmp(out, sig); }

// execute(slot): rbx holds the state, rax, rcx, rdx and r8 its words.
void execute(void *slot);
__asm__(".text\n.globl execute\n.type execute,@function\nexecute:\n"
	"push %rbx\n push %rbp\n push %r12\n push %r13\n push %r14\n"
	"lea state(%rip),%rbx\n mov %rdi,%rbp\n"
	"movups (%rbx),%xmm0\n movups 16(%rbx),%xmm1\n movups 32(%rbx),%xmm2\n movups 48(%rbx),%xmm3\n"
	"mov 64(%rbx),%rax\n mov 72(%rbx),%rcx\n mov 80(%rbx),%rdx\n mov 88(%rbx),%r8\n"
	"lea 96(%rbx),%rdi\n mov %rbx,%r12\n xor %esi,%esi\n"
	"call *%rbp\n"
	"mov %r12,%rbx\n"
	"movups %xmm0,(%rbx)\n movups %xmm1,16(%rbx)\n movups %xmm2,32(%rbx)\n movups %xmm3,48(%rbx)\n"
	"mov %rax,64(%rbx)\n mov %rcx,72(%rbx)\n mov %rdx,80(%rbx)\n mov %r8,88(%rbx)\n"
	"pop %r14\n pop %r13\n pop %r12\n pop %rbp\n pop %rbx\n ret\n.size execute,.-execute");

static uint64_t hash(const void *of, size_t n)
{
	uint64_t h = 14695981039346656037u;
	for (const unsigned char *p = of; n--; p++)
		h = (h ^ *p) * 1099511628211u;
	return h;
}

int main(int argc, char **argv)
{
	struct stat st;
	int fd = argc > 1 ? open(argv[1], O_RDONLY) : -1;
	if (fd < 0 || fstat(fd, &st))
		return 1;
	char *code = mmap(NULL, st.st_size, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	if (code == MAP_FAILED)
		return 1;
	// The handlers have a stack of their own, for slots that spoil theirs.
	static char stack[1 << 16];
	sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = sizeof stack}, NULL);
	for (const int *s = (const int[]){SIGILL, SIGSEGV, SIGBUS, SIGFPE, SIGTRAP, SIGALRM, 0}; *s; s++)
		sigaction(*s, &(struct sigaction){.sa_handler = raised, .sa_flags = SA_ONSTACK | SA_NODEFER}, NULL);
	for (size_t i = 0; i < sizeof begin / 8; i++)
		((uint64_t *)&begin)[i] = 0x3ff123456789abcdu * (i + 1);
	for (long slot = 0; slot * SLOT < st.st_size; slot++) {
		static const uint32_t usual = 0x1f80; // of mxcsr
		__asm__ volatile("ldmxcsr %0" : : "m"(usual));
		state = begin;
		int sig = sigsetjmp(out, 1);
		if (!sig)
			execute(code + slot * SLOT);
		__asm__ volatile("cld; emms");
		printf("%ld %d %016lx\n", slot, sig, sig ? 0 : (unsigned long)hash(&state, sizeof state));
	}
	return 0;
}

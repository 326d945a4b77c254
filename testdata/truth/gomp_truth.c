// gomp_truth.c: preload library that counts the calls of libgomp's entry
// points by symbol and OpenMP thread number of the caller.
//
//   gcc -O2 -fPIC -shared -o gomp_truth.so gomp_truth.c
//   TRUTH_OUT=counts LD_PRELOAD=./gomp_truth.so program
//
// Lines of the file (see counts.h):
//   symbol thread n         calls
//   symbol:taken thread n   calls with a positive result: a chunk, a section,
//                           a won single, an acquired test lock
//   symbol:body thread n    executions of a parallel region's body, where
//                           thread is the number in the new team
//
// Calls are counted in a stub that jumps on to the runtime. Arguments and return
// address stay as they were. So a profiler that watches the same run sees the
// program's own call sites. Results need a frame of our own; where return
// addresses matter, switch them off with TRUTH_RESULTS=0. Bodies need
// a replaced function pointer and are counted only with TRUTH_BODIES=1.
//
// The definitions here have no symbol version, and therefore serve every version.
// They forward to the default version (omp_set_lock@@OMP_3.0 and so on). OMP_1.0,
// which differs in the lock's size, was last used by GCC 4.3.
#include "counts.h"
#include "gomp_symbols.h"
#include <dlfcn.h>
#include <stdbool.h>

enum kind { PLAIN, BOOL, INT, NULLP, BODY, LAST };

#define INDEX(name, kind) I_##name,
enum { GOMP_SYMBOLS(INDEX) NUM_SYMBOLS };

_Static_assert(2 * NUM_SYMBOLS <= MAX_NAMES, "MAX_NAMES is too small");

static void *real[NUM_SYMBOLS];   // the runtime's function
static void *target[NUM_SYMBOLS]; // where the stub jumps: real or a wrapper

typedef long word;
// Nine words are the longest argument list of any wrapped function
// (GOMP_loop_start). Passing more than the caller did is harmless in the
// calling conventions of both architectures: the callee does not look.
#define WORDS word a, word b, word c, word d, word e, word f, word g, word h, word i
#define PASS a, b, c, d, e, f, g, h, i
typedef word function(WORDS);

static int thread_num(void)
{
	static int (*get)(void);
	if (!get) {
		int (*found)(void) = (int (*)(void))dlsym(RTLD_NEXT, "omp_get_thread_num");
		if (!found) {
			void *lib = dlopen("libgomp.so.1", RTLD_LAZY | RTLD_NOLOAD);
			found = lib ? (int (*)(void))dlsym(lib, "omp_get_thread_num") : NULL;
		}
		if (!found)
			counts_fatal("omp_get_thread_num not found");
		get = found;
	}
	return get();
}

// Results. One wrapper per symbol, because a wrapper must know its symbol.

static bool positive(enum kind kind, word result)
{
	switch (kind) {
	case BOOL: return (unsigned char)result;
	case INT: return (int)result;
	case NULLP: return result == 0;
	default: return false;
	}
}

struct body {
	void (*fn)(void *);
	void *data;
	int index;
};

static void run_body(void *p)
{
	struct body *b = p;
	counts_add(NUM_SYMBOLS + b->index, thread_num());
	b->fn(b->data);
}

#define WRAPPER(name, kind)                                                    \
	static word wrap_##name(WORDS)                                         \
	{                                                                      \
		function *f_ = (function *)real[I_##name];                     \
		if (kind == BODY) {                                            \
			struct body body = {(void (*)(void *))a, (void *)b, I_##name}; \
			a = (word)run_body;                                    \
			b = (word)&body;                                       \
			return f_(PASS);                                       \
		}                                                              \
		word r = f_(PASS);                                             \
		if (positive(kind, r))                                         \
			counts_add(NUM_SYMBOLS + I_##name, thread_num());      \
		return r;                                                      \
	}
GOMP_SYMBOLS(WRAPPER)

#define ROW(name, kind) {#name, #name ":taken", #name ":body", kind, wrap_##name},
static const struct {
	const char *name, *taken, *body;
	enum kind kind;
	function *wrapper;
} symbols[NUM_SYMBOLS] = {GOMP_SYMBOLS(ROW)};

static const char *count_name(int n)
{
	if (n < NUM_SYMBOLS)
		return symbols[n].name;
	n -= NUM_SYMBOLS;
	return symbols[n].kind == BODY ? symbols[n].body : symbols[n].taken;
}

static void *resolve(int n)
{
	void *p = dlsym(RTLD_NEXT, symbols[n].name);
	if (!p) {
		// A runtime that came by dlopen is not in the global scope. The
		// handle is kept on purpose: our pointers must stay valid.
		void *lib = dlopen("libgomp.so.1", RTLD_LAZY | RTLD_NOLOAD);
		p = lib ? dlsym(lib, symbols[n].name) : NULL;
	}
	if (!p) {
		fprintf(stderr, "truth: %s not found\n", symbols[n].name);
		abort();
	}
	real[n] = p;

	const char *results = getenv("TRUTH_RESULTS"), *bodies = getenv("TRUTH_BODIES");
	bool wrap = false;
	switch (symbols[n].kind) {
	case BOOL: case INT: case NULLP: wrap = !results || strcmp(results, "0"); break;
	case BODY: wrap = bodies && !strcmp(bodies, "1"); break;
	case PLAIN: case LAST: break;
	}
	void *t = wrap ? (void *)symbols[n].wrapper : p;
	__atomic_store_n(&target[n], t, __ATOMIC_RELEASE);
	return t;
}

// Called by the stubs; returns where to jump.
__attribute__((used, visibility("hidden"))) void *truth_count(long n)
{
	void *t = __atomic_load_n(&target[n], __ATOMIC_ACQUIRE);
	if (!t)
		t = resolve(n);
	if (symbols[n].kind == LAST)
		counts_write(count_name, 2 * NUM_SYMBOLS);
	else
		counts_add(n, thread_num());
	return t;
}

__attribute__((constructor)) static void begin(void) { counts_init(); }
__attribute__((destructor)) static void finish(void) { counts_write(count_name, 2 * NUM_SYMBOLS); }

// Stubs: keep every register that may carry an argument, count, jump on.

#if defined(__x86_64__)

#define STUB(name, kind)                                                       \
	".globl " #name "\n.type " #name ", @function\n" #name ":\n"           \
	"	endbr64\n"                                                     \
	"	pushq $truth_index\n"                                          \
	"	jmp truth_stub\n"                                              \
	".size " #name ", . - " #name "\n"                                     \
	".set truth_index, truth_index + 1\n"

__asm__(".text\n.set truth_index, 0\n" GOMP_SYMBOLS(STUB)
	"truth_stub:\n"
	"	subq $192, %rsp\n" // with the index and the return address: aligned
	"	movq %rdi, 0(%rsp)\n	movq %rsi, 8(%rsp)\n"
	"	movq %rdx, 16(%rsp)\n	movq %rcx, 24(%rsp)\n"
	"	movq %r8, 32(%rsp)\n	movq %r9, 40(%rsp)\n"
	"	movq %rax, 48(%rsp)\n	movq %r10, 56(%rsp)\n"
	"	movups %xmm0, 64(%rsp)\n	movups %xmm1, 80(%rsp)\n"
	"	movups %xmm2, 96(%rsp)\n	movups %xmm3, 112(%rsp)\n"
	"	movups %xmm4, 128(%rsp)\n	movups %xmm5, 144(%rsp)\n"
	"	movups %xmm6, 160(%rsp)\n	movups %xmm7, 176(%rsp)\n"
	"	movq 192(%rsp), %rdi\n"
	"	call truth_count\n"
	"	movq %rax, %r11\n"
	"	movups 64(%rsp), %xmm0\n	movups 80(%rsp), %xmm1\n"
	"	movups 96(%rsp), %xmm2\n	movups 112(%rsp), %xmm3\n"
	"	movups 128(%rsp), %xmm4\n	movups 144(%rsp), %xmm5\n"
	"	movups 160(%rsp), %xmm6\n	movups 176(%rsp), %xmm7\n"
	"	movq 0(%rsp), %rdi\n	movq 8(%rsp), %rsi\n"
	"	movq 16(%rsp), %rdx\n	movq 24(%rsp), %rcx\n"
	"	movq 32(%rsp), %r8\n	movq 40(%rsp), %r9\n"
	"	movq 48(%rsp), %rax\n	movq 56(%rsp), %r10\n"
	"	addq $200, %rsp\n"
	"	jmp *%r11\n");

#elif defined(__aarch64__)

#define STUB(name, kind)                                                       \
	".globl " #name "\n.type " #name ", %function\n" #name ":\n"           \
	"	hint #34\n" /* bti c */                                        \
	"	mov x16, #truth_index\n"                                       \
	"	b truth_stub\n"                                                \
	".size " #name ", . - " #name "\n"                                     \
	".set truth_index, truth_index + 1\n"

__asm__(".text\n.set truth_index, 0\n" GOMP_SYMBOLS(STUB)
	"truth_stub:\n"
	"	stp x29, x30, [sp, #-224]!\n	mov x29, sp\n"
	"	stp x0, x1, [sp, #16]\n	stp x2, x3, [sp, #32]\n"
	"	stp x4, x5, [sp, #48]\n	stp x6, x7, [sp, #64]\n"
	"	str x8, [sp, #80]\n"
	"	stp q0, q1, [sp, #96]\n	stp q2, q3, [sp, #128]\n"
	"	stp q4, q5, [sp, #160]\n	stp q6, q7, [sp, #192]\n"
	"	mov x0, x16\n"
	"	bl truth_count\n"
	"	mov x16, x0\n"
	"	ldp q0, q1, [sp, #96]\n	ldp q2, q3, [sp, #128]\n"
	"	ldp q4, q5, [sp, #160]\n	ldp q6, q7, [sp, #192]\n"
	"	ldr x8, [sp, #80]\n"
	"	ldp x0, x1, [sp, #16]\n	ldp x2, x3, [sp, #32]\n"
	"	ldp x4, x5, [sp, #48]\n	ldp x6, x7, [sp, #64]\n"
	"	ldp x29, x30, [sp], #224\n"
	"	br x16\n");

#else
#error "no stubs for this architecture"
#endif

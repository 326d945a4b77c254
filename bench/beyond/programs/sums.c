// sums.c: no probe at all. Per thread, call site and lock, executions and times
// are added up in the process, as the kernel side's folding does there.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <x86intrin.h>

enum { SLOTS = 16 };
struct slot { uint64_t site, lock, executions, enter, body, leave; };
static __thread struct {
	struct slot slots[SLOTS], *open;
	uint64_t acquired;
} me __attribute__((tls_model("initial-exec")));

// A slot in use by another site would be written out here; a storm has one.
static struct slot *slot_of(uint64_t site, uint64_t lock)
{
	struct slot *s = &me.slots[(site >> 2 ^ lock >> 4) % SLOTS];
	if (s->site != site || s->lock != lock)
		*s = (struct slot){.site = site, .lock = lock};
	return s;
}

typedef void function(uint64_t, uint64_t, uint64_t, uint64_t);
#define CALLER ((uint64_t)__builtin_return_address(0))
#define REPLACE(f) static function *real_##f; void f(uint64_t a, uint64_t b, uint64_t c, uint64_t d)
#define TIMED(f) uint64_t before = __rdtsc(); real_##f(a, b, c, d); uint64_t after = __rdtsc()

#define BEGIN(f, lock) REPLACE(f) { \
	TIMED(f); \
	struct slot *s = slot_of(CALLER, lock); \
	s->enter += after - before; \
	me.open = s; \
	me.acquired = after; }
#define END(f, unused) REPLACE(f) { \
	TIMED(f); \
	struct slot *s = me.open; \
	if (s) { \
		s->body += before - me.acquired; \
		s->leave += after - before; \
		s->executions++; \
		me.open = 0; \
	} }
#define WAIT(f, unused) REPLACE(f) { \
	TIMED(f); \
	struct slot *s = slot_of(CALLER, 0); \
	s->enter += after - before; \
	s->executions++; }

#ifdef GOMP
#define ENTRIES BEGIN(GOMP_critical_start, 0) END(GOMP_critical_end, 0) WAIT(GOMP_barrier, 0)
#else
#define ENTRIES BEGIN(__kmpc_critical, c) BEGIN(__kmpc_critical_with_hint, c) END(__kmpc_end_critical, 0) WAIT(__kmpc_barrier, 0)
#endif
ENTRIES
BEGIN(omp_set_lock, a) END(omp_unset_lock, 0)

__attribute__((constructor)) static void fill(void)
{
#undef BEGIN
#undef END
#undef WAIT
#define BEGIN(f, unused) real_##f = (function *)dlsym(RTLD_NEXT, #f);
#define END(f, unused) BEGIN(f, 0)
#define WAIT(f, unused) BEGIN(f, 0)
	ENTRIES
	BEGIN(omp_set_lock, 0) END(omp_unset_lock, 0)
}

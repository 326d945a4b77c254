// slots.c: where the stubs' calls go on to. The runtime must be among the
// libraries that the program was linked with.
#define _GNU_SOURCE
#include <dlfcn.h>

#define SHUT(f) __attribute__((visibility("hidden"))) void *slot_##f;
#define OPEN(f) SHUT(f)
#include "entries.h"
SHUT(clock_gettime)
#undef SHUT

__attribute__((constructor)) static void fill(void)
{
#define SHUT(f) slot_##f = dlsym(RTLD_NEXT, #f);
#include "entries.h"
	SHUT(clock_gettime)
}

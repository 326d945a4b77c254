/* Accessors of which no formula must be made, or just one. */
#include <stdlib.h>

struct comm { int size, other, kind; struct comm *next; };
struct comm *first;
int choice;

#define ACCESSOR(name) __attribute__((noinline)) int name(struct comm *c, int *size)

ACCESSOR(by_kind) { *size = c->kind == 7 ? c->size : c->other; return 0; }
ACCESSOR(by_choice) { *size = choice ? c->size : c->other; return 0; }
ACCESSOR(elsewhere) { *size = strtol((char *)c, 0, 10); return 0; }
ACCESSOR(written_elsewhere) { (void)c; return getloadavg((double *)size, 3); }
ACCESSOR(by_loop) { int n = 0; for (struct comm *p = first; p; p = p->next) n += p == c; *size = n; return 0; }
ACCESSOR(divided) { *size = c->size / c->other; return 0; }
ACCESSOR(exclusive) { *size = c->size ^ c->other; return 0; }
ACCESSOR(by_pointer) { *size = ((int (*)(struct comm *))c->next)(c); return 0; }
ACCESSOR(failing) { (void)c; (void)size; return 5; }
ACCESSOR(endless) { (void)c; (void)size; for (;;) ; }
ACCESSOR(asserted) { if (!c) abort(); *size = c->size; return 0; }
ACCESSOR(undefined) { *size = c->size < 0 ? -32766 : c->size; return 0; }
ACCESSOR(special) { *size = (int)(long)c == 0x44000001 ? 1 : choice; return 0; }
ACCESSOR(special_memory) { *size = (int)(long)c == 0x44000001 ? c->other : c->size; return 0; }
ACCESSOR(locked) { *size = __sync_fetch_and_add(&c->other, 1); return 0; }

int main(int argc, char **argv)
{
	first = (struct comm *)argv;
	choice = argc;
	return 0;
}

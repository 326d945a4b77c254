// Data that relocations point at, an ident_t as clang lays it out, thread-local
// variables, and functions that only their unwind entries tell of when stripped.
#include <stdlib.h>
struct ident { int reserved1, flags, reserved2, length; const char *source; };
static char text[] = ";dir/a;b.c;A::run;42;7;;";
static char unknown[] = ";unknown;unknown;0;0;;";
struct ident located = {0, 0x22, 0, sizeof text - 1, text};
struct ident nowhere = {0, 0x402, 0, 0, unknown};
static int target = 5;
int *pointer = &target;
int number = 77;
const int fixed = 99;
int *const always = &target;
int outside_size;
extern __thread int one, two;
__thread int one = 1, two = 2;
__attribute__((noinline)) static int local1(int x) { return x * 3 + one; }
__attribute__((noinline)) static int local2(int x) { return abs(x) / 7 + two; }
int both(int x) { return local1(x) + local2(x) + atoi("1") + *pointer; }
int main(int argc, char **argv) { (void)argv; return both(argc + located.flags + nowhere.flags) + outside_size; }

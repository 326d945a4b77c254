/* ompp_fortran.c - the markers of ompp.h for Fortran, which has no inline
 * assembly. Compile it with the program:
 *
 *   cc -c ompp_fortran.c && gfortran -fopenmp program.f90 ompp_fortran.o
 *
 *   call ompp_begin('name')  ...  call ompp_end('name')
 *   call ompp_off()          ...  call ompp_on()
 *
 * No module and no interface is needed. The name is a character literal. */
#include "ompp.h"
#include <stddef.h>

#ifdef OMPP_MARKER_
#ifdef __x86_64__
#define OMPP_NAMED_(provider, name, length) \
	__asm__ __volatile__(OMPP_MARKER_(provider, "", "8@%%rdi 8@%%rsi") : : "D"(name), "S"(length) : "memory")
#else
#define OMPP_NAMED_(provider, name, length) \
	do { \
		register const char *x0_ __asm__("x0") = name; \
		register size_t x1_ __asm__("x1") = length; \
		__asm__ __volatile__(OMPP_MARKER_(provider, "", "8@x0 8@x1") : : "r"(x0_), "r"(x1_) : "memory"); \
	} while (0)
#endif
#else
#define OMPP_NAMED_(provider, name, length) ((void)(name), (void)(length))
#endif

/* gfortran passes the length of a character argument behind the others. */
void ompp_begin_(const char *name, size_t length) { OMPP_NAMED_("ompp_begin", name, length); }
void ompp_end_(const char *name, size_t length) { OMPP_NAMED_("ompp_end", name, length); }
void ompp_on_(void) { ompp_on(); }
void ompp_off_(void) { ompp_off(); }

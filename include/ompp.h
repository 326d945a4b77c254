/* ompp.h - marks regions of a program for ompp-attach.
 *
 *   ompp_begin("name");  ...  ompp_end("name");   a USER REGION of that name
 *   ompp_off();          ...  ompp_on();          measuring stops and goes on
 *
 * Header only, for C and C++; Fortran programs compile ompp_fortran.c and call
 * the same names. A marker is a nop and a note (.note.stapsdt) that tells where
 * it is: it costs nothing while nobody looks. `perf`, `bpftrace` and SystemTap
 * see it too.
 *
 * The name is a string literal of letters, digits, blanks and _ - . : / only.
 * Regions nest; the begin and the end of a region are in one executable or
 * library, and are reached by the same thread. A region that is left without
 * its end marker ends when a region around it does. In C++, let a destructor
 * set the end marker if exceptions may pass.
 */
#ifndef OMPP_H
#define OMPP_H

#if defined(__ELF__) && defined(__GNUC__) && (defined(__x86_64__) || defined(__aarch64__))

/* The layout is that of <sys/sdt.h>, which not every system has. A nop of one
 * byte: of one of five, Linux 6.18 makes a call that overwrites what a function
 * keeps below the stack pointer. */
#define OMPP_MARKER_(provider, name, arguments) \
	"990: nop\n" \
	".pushsection .note.stapsdt, \"?\", \"note\"\n" \
	".balign 4\n" \
	".4byte 992f-991f, 994f-993f, 3\n" \
	"991: .asciz \"stapsdt\"\n" \
	"992: .balign 4\n" \
	"993: .8byte 990b\n" \
	".8byte _.stapsdt.base\n" \
	".8byte 0\n" \
	".asciz \"" provider "\"\n" \
	".asciz \"" name "\"\n" \
	".asciz \"" arguments "\"\n" \
	"994: .balign 4\n" \
	".popsection\n" \
	".ifndef _.stapsdt.base\n" \
	".pushsection .stapsdt.base, \"aG\", \"progbits\", .stapsdt.base, comdat\n" \
	".weak _.stapsdt.base\n" \
	".hidden _.stapsdt.base\n" \
	"_.stapsdt.base: .space 1\n" \
	".size _.stapsdt.base, 1\n" \
	".popsection\n" \
	".endif\n"

/* The compiler moves no access to memory over a marker. */
#define OMPP_MARK_(provider, name) __asm__ __volatile__(OMPP_MARKER_(provider, name, "") : : : "memory")

#else
#define OMPP_MARK_(provider, name) ((void)0)
#endif

#define ompp_begin(name) OMPP_MARK_("ompp_begin", name)
#define ompp_end(name) OMPP_MARK_("ompp_end", name)
#define ompp_on() OMPP_MARK_("ompp", "on")
#define ompp_off() OMPP_MARK_("ompp", "off")

#endif

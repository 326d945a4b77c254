// Package regions is a binary Opari: it builds the table of the OpenMP regions of a program or
// library without running it. It reads the calls of the runtime, outlined functions, libomp's
// ident_t, line tables and the directives of the source, as far as each is there.
//
// Code is scanned for bytes that may call a runtime. Functions that hold any are decoded whole,
// with the constants that calls are given (values.Constants: ident_t, outlined function, a
// critical's lock).
//
// With the source, each call is given its directive (align.go). The ident_t tells the directive, or
// the call's line, where it is the directive's. Otherwise the first line on the way into the
// construct's body tells it. It is the line of a row of the line table that begins a statement. GCC
// gives calls and jumped-to code the line of the code before. The order decides last. Constructs
// without a call are the directives left over in a function's text. Without the source, ends are
// estimated, and marked so.
//
// Package collect asks the table for each call's place (At) and each outlined function's
// (Function).
package regions

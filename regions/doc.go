// Package regions is a binary Opari: it builds the table of the OpenMP regions of a program or
// library without running it. It reads the calls of the runtime, outlined functions, libomp's
// ident_t, line tables and the directives of the source, as far as each is there.
//
// Code is scanned for bytes that may call a runtime. Functions with such bytes are decoded whole,
// with the constants that the calls get as arguments (values.Constants: ident_t, outlined function,
// a critical's lock).
//
// With the source, each call gets its directive (align.go). Three things tell the directive, in
// this order:
//
//   - The ident_t, or the call's line if it is that of a directive. GCC often gives calls, and code
//     behind jumps, the line of the code before.
//   - The first line on the way into the construct's body, in a row of the line table that begins a
//     statement.
//   - The order of calls and directives.
//
// The directives left over in a function's text are constructs without a call. Without the source,
// the ends of constructs are estimated, and marked as estimates.
//
// Package collect asks the table for the place of each call (At) and of each outlined function
// (Function).
package regions

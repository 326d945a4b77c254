// Package debuginfo reads the debug information (DWARF) of a file: compile units, line tables, and
// functions with the copies that were inlined. Addresses are vaddrs, as the ELF file states them. A
// nil *Index is that of a file without debug information, and knows nothing.
package debuginfo

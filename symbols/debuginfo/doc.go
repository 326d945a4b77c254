// Package debuginfo reads the debug information (DWARF) of a file: compile units, line tables, and
// functions with their inlined copies. Addresses are vaddrs, as the ELF file states them. A nil
// *Index stands for a file without debug information, and knows nothing.
package debuginfo

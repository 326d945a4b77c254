// Package disasm reads machine code for the probes: it decodes instructions into one common form
// for x86-64 and arm64, one at a time or a function at a time. Packages below it analyse whole
// functions: graph finds the flow of control, values and taint follow the values of registers.
// Package points finds the instructions at which a uprobe is safe.
package disasm

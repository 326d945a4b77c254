// Package disasm reads machine code for the probes: it decodes instructions into one common form
// for x86-64 and arm64, alone and function by function. What flows through a function is found by
// packages below: control in graph, values in values and taint. Package points finds the
// instructions at which a uprobe may safely sit.
package disasm

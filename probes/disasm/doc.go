// Package disasm reads machine code for the probes: it decodes instructions into one common form
// for x86-64 and arm64. It picks the cheapest instruction of a function at which a uprobe may
// safely sit. It evaluates short functions symbolically to learn the layout of a runtime's internal
// structures.
package disasm

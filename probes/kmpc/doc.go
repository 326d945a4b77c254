// Package kmpc knows LLVM's libomp and Intel's libiomp5: their entry points, and the places inside
// them where regions and tasks begin and end. Most of these places have no symbols; they are found
// by disassembly.
//
// A region's body begins at a call of `__kmp_invoke_microtask`, and ends at the instruction behind
// the call. The region ends at the last jump of `__kmpc_fork_call`. Where the join may be derived,
// ends have other places, by thread (apart.go).
package kmpc

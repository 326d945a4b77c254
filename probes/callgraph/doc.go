// Package callgraph reads the code of a runtime library. It tells which functions call which
// others, and which of them may run user code. It also tells at which instructions before and
// behind a call a probe may sit. The runtimes' packages find functions with it that have no
// symbols.
package callgraph

// Package callgraph reads the code of a runtime library: which functions call which others, which
// of them may run user code, and at which instructions before and behind a call a probe may sit.
// The runtimes' packages find functions with it that have no symbols.
package callgraph

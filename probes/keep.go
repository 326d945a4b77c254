package probes

import (
	"ompp-attach/bpf"
	"ompp-attach/event"
)

// keepFlags says which of a point's records may wait in the kernel until their
// thread has more to tell (bpf/keep.h). What others wait for may not: forks,
// what ends a thread's part in a region, tasks. A primary thread's end may,
// until its join.
func (p *point) keepFlags() (flags uint32) {
	if p.foldFlags() != 0 {
		return 0
	}
	waits := func(e event.Edge) bool {
		return p.construct.Traits().Keep || p.construct == event.Parallel && (e == event.Begin || e == event.End && p.ret == event.Join)
	}
	if p.entry != event.NoEdge && waits(p.entry) {
		flags |= bpf.RowKeep
	}
	if p.ret != event.NoEdge && waits(p.ret) {
		flags |= bpf.RowKeepReturn
	}
	return flags
}

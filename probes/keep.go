package probes

import (
	"ompp-attach/bpf"
	"ompp-attach/event"
)

// keepFlags says which of a point's records may wait in the kernel side until their thread has more
// to report (bpf/keep.h). Records on which other threads depend may not wait: forks, the end of a
// thread's part in a region, tasks. A primary thread's end may wait until its join.
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

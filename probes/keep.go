package probes

import (
	"ompp-attach/bpf"
	"ompp-attach/event"
)

// keepFlags says which of a row's records may wait in the kernel side until their thread has more
// to report (bpf/keep.h). Records on which other threads depend may not wait: forks, the end of a
// thread's part in a region, tasks. A primary thread's end may wait until its join.
func (r *Row) keepFlags() (flags uint32) {
	if r.foldFlags() != 0 {
		return 0
	}
	waits := func(e event.Edge) bool {
		return r.Construct.Traits().Keep || r.Construct == event.Parallel && (e == event.Begin || e == event.End && r.Return == event.Join)
	}
	if r.Entry != event.NoEdge && waits(r.Entry) {
		flags |= bpf.RowKeep
	}
	if r.Return != event.NoEdge && waits(r.Return) {
		flags |= bpf.RowKeepReturn
	}
	return flags
}

package probes

import (
	"ompp-attach/bpf"
	"ompp-attach/event"
)

// isWhole reports whether a construct has no body: then it ends when its call returns.
func (r *Row) isWhole() bool {
	return r.Entry == event.Enter && r.Return == event.Released
}

// foldFlags returns the flags that say how a row takes part in folding.
func (r *Row) foldFlags() (flags uint32) {
	if r.Construct.FoldIndex() == 0 || r.Marks != 0 || r.Exit != event.NoEdge {
		return 0
	}
	switch {
	case r.isWhole():
		flags = bpf.RowFoldBegin | bpf.RowFoldEnd
	case r.Entry == event.Enter && r.Return == event.Acquired:
		flags = bpf.RowFoldBegin
	case r.Entry == event.Enter && r.Return == event.Result && r.Construct == event.Lock:
		flags = bpf.RowFoldBegin | bpf.RowFoldTest | bpf.RowFoldTestBool
	case r.Entry == event.Enter && r.Return == event.Result && r.Construct == event.NestLock:
		flags = bpf.RowFoldBegin | bpf.RowFoldTest
	case r.Entry == event.Release && (r.Return == event.Released || r.Return == event.NoEdge):
		flags = bpf.RowFoldEnd
	default:
		return 0
	}
	if r.Construct == event.Lock || r.Construct == event.NestLock {
		flags |= bpf.RowFoldByName
	}
	return flags | bpf.FoldGroup(r.Construct.FoldIndex())
}

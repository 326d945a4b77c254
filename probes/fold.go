package probes

import (
	"ompp-attach/bpf"
	"ompp-attach/event"
)

// isWhole reports whether a construct has no body: then it ends when its call returns.
func (p *point) isWhole() bool {
	return p.entry == event.Enter && p.ret == event.Released
}

// foldFlags returns the flags that say how a point's rows take part in folding.
func (p *point) foldFlags() (flags uint32) {
	if p.construct.FoldIndex() == 0 || p.marks != 0 || p.exit != event.NoEdge {
		return 0
	}
	switch {
	case p.isWhole():
		flags = bpf.RowFoldBegin | bpf.RowFoldEnd
	case p.entry == event.Enter && p.ret == event.Acquired:
		flags = bpf.RowFoldBegin
	case p.entry == event.Enter && p.ret == event.Result && p.construct == event.Lock:
		flags = bpf.RowFoldBegin | bpf.RowFoldTest | bpf.RowFoldTestBool
	case p.entry == event.Enter && p.ret == event.Result && p.construct == event.NestLock:
		flags = bpf.RowFoldBegin | bpf.RowFoldTest
	case p.entry == event.Release && (p.ret == event.Released || p.ret == event.NoEdge):
		flags = bpf.RowFoldEnd
	default:
		return 0
	}
	if p.construct == event.Lock || p.construct == event.NestLock {
		flags |= bpf.RowFoldByName
	}
	return flags | bpf.FoldGroup(p.construct.FoldIndex())
}

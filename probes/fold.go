package probes

import (
	"ompp-attach/bpf"
	"ompp-attach/event"
)

// foldable are the constructs that the kernel side adds up where their thread
// reports nothing else meanwhile. They begin and end on one thread, what else a
// thread has open does not matter to them, and the engine pairs their ends with
// the innermost beginning.
var foldable = map[event.Construct]bool{
	event.Critical: true, event.Ordered: true, event.Atomic: true, event.Lock: true, event.NestLock: true, event.Flush: true,
}

// isWhole tells that a construct has no body: it ends when its call returns.
func (p *point) isWhole() bool {
	return p.entry == event.Enter && p.ret == event.Released
}

// foldFlags is how a point's rows take part in folding.
func (p *point) foldFlags() (flags uint32) {
	if !foldable[p.construct] || p.marks != 0 || p.exit != event.NoEdge {
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
	return flags | bpf.FoldGroup(uint32(p.construct))
}

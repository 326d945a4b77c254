package probes

import (
	"runtime"

	"ompp-attach/bpf"
	"ompp-attach/event"
	"ompp-attach/probes/insn"
)

// ProbeOf is the kind of a hit on an instruction of a class.
func ProbeOf(c insn.Cost) event.Probe { return event.ProbeNop5 + event.Probe(c) }

// kind is the kind of the hits of a row's entry.
func (pl *Placement) kind(r *bpf.Row) event.Probe { return ProbeOf(pl.Cost).Reading(readsOf(r)) }

// readsOf is how often the kernel side reads the thread's memory at an entry.
func readsOf(r *bpf.Row) (n int) {
	if r.Flags&(bpf.RowNoSite|bpf.RowSiteHere) == 0 {
		n += returnReads
	}
	for _, f := range []struct {
		flag  uint32
		reads int
	}{
		{bpf.RowTeamFromTLS, 1}, {bpf.RowLevelFromTLS, 1}, {bpf.RowTrip32, 2}, {bpf.RowTrip64, 2}, {bpf.RowBFromA, 1},
		{bpf.RowSizeFromKmp, 4}, // of the primary thread only
	} {
		if r.Flags&f.flag != 0 {
			n += f.reads
		}
	}
	if r.Flags&bpf.RowTeamFromTLS != 0 && r.TlsSlot != 0 {
		n++
	}
	return n
}

// returnReads is what reading the return address takes: on arm64 it is in a
// register.
var returnReads = map[string]int{"amd64": 1}[runtime.GOARCH]

// Edges are the construct that the probe belongs to and what its entry and its
// return tell; NoEdge: nothing.
func (pl *Placement) Edges() (c event.Construct, entry, ret event.Edge) {
	return pl.point.construct, pl.point.entry, pl.point.ret
}

// Kind is the kind of the hits of the probe's entry.
func (pl *Placement) Kind() event.Probe { return pl.kind(&pl.row) }

// MayNotReturn tells that the entry's flags can make the return's report
// unnecessary: what is asked for is free.
func (pl *Placement) MayNotReturn() bool {
	return pl.row.Flags&(bpf.RowFreeIfZF|bpf.RowFreeIfNotSF|bpf.RowReturnIfZero) != 0
}

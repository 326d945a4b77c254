package probes

import (
	"runtime"

	"ompp-attach/bpf"
	"ompp-attach/event"
	"ompp-attach/probes/disasm/points"
)

// ProbeOf returns the kind of a hit on an instruction of this cost.
func ProbeOf(c points.Cost) event.Probe { return event.ProbeNop5 + event.Probe(c) }

// kind returns the kind of the hits of a row's entry.
func (pl *Placement) kind(r *bpf.Row) event.Probe {
	return ProbeOf(pl.Cost).Reading(readsOf(r))
}

// readsSite reports whether the return address is read at a row's entry.
func readsSite(r *bpf.Row) bool { return r.Flags&(bpf.RowNoSite|bpf.RowSiteHere) == 0 }

// readsOf returns how often the kernel side reads the thread's memory at an entry.
func readsOf(r *bpf.Row) (n int) {
	if readsSite(r) {
		n += returnReads
	}
	for _, f := range []struct {
		flag  uint32
		reads int
	}{
		{bpf.RowTeamFromTLS, 1}, {bpf.RowLevelFromTLS, 1}, {bpf.RowTrip32, 2}, {bpf.RowTrip64, 2}, {bpf.RowBFromA, 1},
		{bpf.RowSizeFromKmp, sizeReads(r)}, // for the primary thread only
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

// sizeReads is the number of reads that the size of libomp's team takes.
func sizeReads(r *bpf.Row) int {
	if r.KmpThreads == 0 {
		return 1
	}
	return 4
}

// returnReads is the number of reads of memory that the return address takes: on arm64 it is in a
// register.
var returnReads = map[string]int{"amd64": 1}[runtime.GOARCH]

// Edges returns the construct that the probe belongs to, and the edges that its entry and its
// return report. NoEdge means that nothing is reported.
func (pl *Placement) Edges() (c event.Construct, entry, ret event.Edge) {
	return pl.Row.Construct, pl.Row.Entry, pl.Row.Return
}

// Kinds returns the kinds of the hits of the probe's entry and return.
func (pl *Placement) Kinds() (entry, ret event.Probe) {
	return pl.kind(&pl.Kernel), event.ProbeReturn
}

// MayNotReturn reports whether the entry's flags can make the return's report unnecessary, because
// the lock is free.
func (pl *Placement) MayNotReturn() bool {
	return pl.Kernel.Flags&(bpf.RowFreeIfZF|bpf.RowFreeIfNotSF|bpf.RowReturnIfZero) != 0
}

package probes

import (
	"runtime"

	"ompp-attach/bpf"
	"ompp-attach/event"
	"ompp-attach/probes/disasm"
)

// ProbeOf returns the kind of a hit on an instruction of a cost class.
func ProbeOf(c disasm.Cost) event.Probe { return event.ProbeNop5 + event.Probe(c) }

// kind returns the kind of the hits of a row's entry.
func (pl *Placement) kind(r *bpf.Row, sitesLater bool) event.Probe {
	p := ProbeOf(pl.Cost).Reading(readsOf(r, sitesLater))
	if r.Flags&bpf.RowKeep != 0 {
		p = p.Kept()
	}
	return p
}

// returnKind returns the kind of the hits of a row's return.
func returnKind(r *bpf.Row) event.Probe {
	if r.Flags&bpf.RowKeepReturn != 0 {
		return event.ProbeReturn.Kept()
	}
	return event.ProbeReturn
}

// readsSite reports whether the return address is read at a row's entry. It is left to the return
// if that is probed and the entry's record may wait (ROW_SITE_LATER in bpf/report.h).
func readsSite(r *bpf.Row, later bool) bool {
	const mask = bpf.RowKeep | bpf.RowReturn | bpf.RowReturnIfZero | bpf.RowBFromA | bpf.RowFoldBegin | bpf.RowFoldEnd
	return r.Flags&(bpf.RowNoSite|bpf.RowSiteHere) == 0 && !(later && r.Flags&mask == bpf.RowKeep|bpf.RowReturn)
}

// readsOf returns how often the kernel side reads the thread's memory at an entry.
func readsOf(r *bpf.Row, sitesLater bool) (n int) {
	if readsSite(r, sitesLater) {
		n += returnReads
	}
	for _, f := range []struct {
		flag  uint32
		reads int
	}{
		{bpf.RowTeamFromTLS, 1}, {bpf.RowLevelFromTLS, 1}, {bpf.RowTrip32, 2}, {bpf.RowTrip64, 2}, {bpf.RowBFromA, 1},
		{bpf.RowSizeFromKmp, 4}, // for the primary thread only
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

// returnReads is the number of reads of memory that the return address takes: on arm64 it is in a
// register.
var returnReads = map[string]int{"amd64": 1}[runtime.GOARCH]

// Edges returns the construct that the probe belongs to, and the edges that its entry and its
// return report. NoEdge means that nothing is reported.
func (pl *Placement) Edges() (c event.Construct, entry, ret event.Edge) {
	return pl.Row.Construct, pl.Row.Entry, pl.Row.Return
}

// Kinds returns the kinds of the hits of the probe's entry and return. sitesLater is as
// bpf.SitesLater says.
func (pl *Placement) Kinds(sitesLater bool) (entry, ret event.Probe) {
	return pl.kind(&pl.Kernel, sitesLater), returnKind(&pl.Kernel)
}

// MayNotReturn reports whether the entry's flags can make the return's report unnecessary, because
// the lock is free.
func (pl *Placement) MayNotReturn() bool {
	return pl.Kernel.Flags&(bpf.RowFreeIfZF|bpf.RowFreeIfNotSF|bpf.RowReturnIfZero) != 0
}

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

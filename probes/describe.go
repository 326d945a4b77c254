package probes

import (
	"fmt"
	"slices"
	"strings"

	"ompp-attach/bpf"
)

// This file says what a probe does at a hit, by the rules of on_entry in bpf/hits.h. The table of
// probes (docs/probes.md) is made with it.

// Answer says what the kernel side does about a hit.
type Answer struct {
	Reported bool // the hit makes a record, or at least wants the return
	Return   bool // the return is probed
}

// At returns what the kernel side does about a hit in a situation, where one probe serves entry and
// return (bpf.Session).
func (pl *Placement) At(s bpf.Situation) Answer {
	has := func(f uint32) bool { return pl.Kernel.Flags&f != 0 }
	switch {
	case has(bpf.RowOnlyIfZF) && !s.Zero, has(bpf.RowOnlyIfNotZF) && s.Zero, has(bpf.RowOutsideOnly) && s.Inside:
		return Answer{}
	case has(bpf.RowFreeIfZF) && s.Zero, has(bpf.RowFreeIfNotSF) && !s.Sign:
		return Answer{Reported: true}
	}
	return Answer{true, has(bpf.RowReturn | bpf.RowReturnIfZero)}
}

// ReturnRule says when the return is probed; "" means never.
func (pl *Placement) ReturnRule() string {
	switch f := pl.Kernel.Flags; {
	case f&(bpf.RowReturn|bpf.RowReturnIfZero) == 0:
		return ""
	case f&(bpf.RowFreeIfZF|bpf.RowFreeIfNotSF) != 0:
		return "if it waits"
	}
	return "yes"
}

// Condition says which hits count; "" means all.
func (pl *Placement) Condition() string {
	var all []string
	for _, c := range []struct {
		flag uint32
		text string
	}{{bpf.RowOnlyIfZF, "zero flag set"}, {bpf.RowOnlyIfNotZF, "zero flag clear"}, {bpf.RowOutsideOnly, "called from outside"}} {
		if pl.Kernel.Flags&c.flag != 0 {
			all = append(all, c.text)
		}
	}
	return strings.Join(all, ", ")
}

// Reads lists what a reported hit reads of the process's memory. Reading registers costs nothing.
func (pl *Placement) Reads() (list []string) {
	f := pl.Kernel.Flags
	if readsSite(&pl.Kernel) && pl.onAMD64 {
		list = append(list, "return address")
	}
	if slices.Contains([]uint8{pl.Kernel.A, pl.Kernel.B}, bpf.Arg(6)) {
		list = append(list, "argument on the stack")
	}
	for _, r := range []struct {
		flag uint32
		what string
	}{{bpf.RowBFromA, "task's routine"}, {bpf.RowTeamFromTLS, "team and number"},
		{bpf.RowSizeFromKmp, fmt.Sprintf("team's size (%d, by the primary thread)", sizeReads(&pl.Kernel))}, {bpf.RowTrip32 | bpf.RowTrip64, "bounds"}} {
		if f&r.flag != 0 {
			list = append(list, r.what)
		}
	}
	return list
}

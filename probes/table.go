package probes

import (
	"ompp-attach/bpf"
	"ompp-attach/event"
	"ompp-attach/probes/insn"
)

// field names the field of an event that takes a value which a probe reads from a register.
type field uint8

const (
	toNothing field = iota
	toFn
	toLoc
	toKey
	toValue
	toTaskFlags // GOMP_TASK_FLAG_*
)

// take says which argument register a probe reads, and which field gets the value.
type take struct {
	arg int // 0 to 5
	to  field
}

// point is one row of a runtime's table: a set of entry points that mean the same. For a new
// construct or runtime, add rows.
type point struct {
	symbols   string // regular expression for whole symbol names
	construct event.Construct
	entry     event.Edge // NoEdge: the entry is not reported
	ret       event.Edge // NoEdge: no return probe
	// reported by plain probes where the call returns, because user code runs inside
	exit  event.Edge
	a, b  take
	flags uint32 // bpf.Row*
	num   int    // 1 + the number of the argument that is a thread number; 0: none
	// fast: the function begins with a compare-and-swap whose outcome tells
	// whether the slow path, and with it a return probe, is needed.
	fast bool
	// taken0: a returned zero means chosen (GOMP_single_copy_start).
	taken0 bool
	// zeroIfFree: the flags at the entry's probe tell which answer the call will give: 0 where a
	// lock would be free, else 1.
	zeroIfFree bool
	// forwarded: if the call comes from the library itself, the library has passed on the program's
	// call.
	forwarded bool
	// marks are set on every event of the point.
	marks event.Flag
	// runtime, if any, replaces the plan's runtime: for points in the program's code.
	runtime event.Runtime
	// value is the Value of every entry event, if no register gives one.
	value int64
	// imported: place the point only for symbols that the program imports. It is set for families
	// of hundreds of functions.
	imported bool
}

// args are the argument registers that the point's probe reads.
func (p *point) args() insn.ArgSet {
	var s insn.ArgSet
	for _, t := range []take{p.a, p.b} {
		if t.to != toNothing && !(t.to == toFn && p.flags&bpf.RowBFromA != 0) {
			s |= insn.Args(t.arg)
		}
	}
	if p.num > 0 {
		s |= insn.Args(p.num - 1)
	}
	if p.flags&(bpf.RowTrip32|bpf.RowTrip64) != 0 {
		s |= insn.Args(4, 5)
	}
	return s
}

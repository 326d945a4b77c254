package probes

import (
	"ompp-attach/bpf"
	"ompp-attach/event"
	"ompp-attach/probes/disasm"
)

// Field names the field of an event that takes a value which a probe reads.
type Field uint8

// The fields of an event that take a value.
const (
	ToNothing Field = iota
	ToFn
	ToLoc
	ToKey
	ToValue
	ToTaskFlags // GOMP_TASK_FLAG_*
)

// Take says which argument register a probe reads, and which field gets the value.
type Take struct {
	Arg int // 0 to 5; GOMP_task's flags are argument 6, on the stack
	To  Field
}

// Fn takes an argument that is the address of a function, or else names the construct.
func Fn(arg int) Take { return Take{arg, ToFn} }

// Loc takes an argument that is the address of libomp's ident_t.
func Loc(arg int) Take { return Take{arg, ToLoc} }

// Key takes an argument that names a team or a task.
func Key(arg int) Take { return Take{arg, ToKey} }

// Value takes an argument that is a number.
func Value(arg int) Take { return Take{arg, ToValue} }

// TaskFlags takes an argument that has the flags of a libgomp task.
func TaskFlags(arg int) Take { return Take{arg, ToTaskFlags} }

// Elsewhere fills a field with a value that no argument register holds: the row's flags, or the
// probe's place, say where it comes from.
func Elsewhere(to Field) Take { return Take{To: to} }

// Row is one row of a runtime's table: a set of entry points that mean the same. Places inside a
// runtime have rows of their own, without symbols. For a new construct, add rows.
type Row struct {
	Symbols   string // regular expression for whole symbol names
	Construct event.Construct
	Entry     event.Edge // NoEdge: the entry is not reported
	Return    event.Edge // NoEdge: no return probe
	// Exit is reported by a probe on the instruction that the call returns to, because user code
	// runs inside.
	Exit  event.Edge
	A, B  Take
	Flags uint32 // bpf.Row*
	// Num and Size are 1 + the number of the argument that is a thread number, or a team's size.
	// 0: there is none.
	Num, Size int
	// Fast: the function begins with a compare-and-swap. Its outcome tells whether the slow path is
	// needed, and with it a return probe.
	Fast bool
	// Sparse: the return may be left out where it tells little (bpf/sparse.h).
	Sparse bool
	// ZeroIsChosen: a returned zero means chosen (GOMP_single_copy_start).
	ZeroIsChosen bool
	// ZeroIfFree: the flags at the entry's probe tell which answer the call will give: 0 where a
	// lock would be free, else 1.
	ZeroIfFree bool
	// Forwarded: if the call comes from the library itself, the library has passed on the program's
	// call.
	Forwarded bool
	// Marks are set on every event of the row.
	Marks event.Flag
	// Runtime, if any, replaces the plan's runtime: for probes in the program's code.
	Runtime event.Runtime
	// Value is the Value of every entry event, if no register gives one.
	Value int64
	// Fn is the Fn of every event of a function of a level, which no register gives.
	Fn uint64
	// Lift is added to the stack pointer at the probe, to get the one at the function's entry.
	Lift int64
	// Imported: place a probe only for symbols that the program imports. It is set for families of
	// hundreds of functions.
	Imported bool
}

// args are the argument registers that the row's probe reads.
func (r *Row) args() disasm.ArgSet {
	var s disasm.ArgSet
	for _, t := range []Take{r.A, r.B} {
		if t.To != ToNothing && !(t.To == ToFn && r.Flags&bpf.RowBFromA != 0) {
			s |= disasm.Args(t.Arg)
		}
	}
	if r.Num > 0 {
		s |= disasm.Args(r.Num - 1)
	}
	if r.Size > 0 {
		s |= disasm.Args(r.Size - 1)
	}
	if r.Flags&(bpf.RowTrip32|bpf.RowTrip64) != 0 {
		s |= disasm.Args(4, 5)
	}
	return s
}

// kernel returns the row in the form that the kernel side takes, for a probe at vaddr. lo and hi
// bound the runtime's own code.
func (r *Row) kernel(vaddr, lo, hi uint64) bpf.Row {
	k := bpf.Row{Flags: r.Flags | r.foldFlags(), TextLo: lo - vaddr, TextHi: hi - vaddr}
	if r.Entry != event.NoEdge {
		k.Flags |= bpf.RowEntry
	}
	if r.Return != event.NoEdge && r.Flags&bpf.RowReturnIfZero == 0 {
		k.Flags |= bpf.RowReturn
	}
	if r.Sparse {
		k.Flags |= bpf.RowSparse
	}
	if r.Construct.IsTasking() { // what is executed in a barrier then is told by events
		k.Flags |= bpf.RowExact
	}
	switch r.Entry {
	// the construct's start has reported the place
	case event.Release, event.Close, event.Begin, event.End:
		if r.Flags&bpf.RowOutsideOnly == 0 {
			k.Flags |= bpf.RowNoSite
		}
	}
	source := func(t Take) uint8 {
		if t.To == ToNothing || t.To == ToKey && r.Flags&bpf.RowTeamFromTLS != 0 ||
			t.To == ToValue && r.Flags&(bpf.RowTrip32|bpf.RowTrip64) != 0 || t.To == ToFn && r.Flags&bpf.RowBFromA != 0 {
			return 0
		}
		return bpf.Arg(t.Arg)
	}
	k.A, k.B = source(r.A), source(r.B)
	if r.Num > 0 {
		k.Num = bpf.Arg(r.Num - 1)
	}
	if r.Size > 0 {
		k.Size = bpf.Arg(r.Size - 1)
	}
	return k
}

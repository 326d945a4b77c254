package rank

import (
	"ompp-attach/bpf"
	"ompp-attach/collect/target"
	"ompp-attach/probes/mpilib"
	"ompp-attach/symbols"
	"ompp-attach/symbols/unwind"
)

// Fortran and C++ call MPI through bindings: one to three functions in libraries of their own. The
// return address of the MPI call lies in such a library. The kernel side knows the address ranges
// of these libraries, and then adds the stack to its record.

// Bindings are the files of a process that call MPI on behalf of others: the bindings, and the MPI
// library itself, which may hold some.
type Bindings map[*symbols.Object]bool

// FindBindings finds the bindings among the files that a process maps. It also returns what the
// kernel side has to know of them. program is the path of the program's own file.
func FindBindings(mods []symbols.Module, program string) (Bindings, *bpf.MPIWrappers) {
	w := &bpf.MPIWrappers{}
	bindings, deep := Bindings{}, false
	for i := range mods {
		o := mods[i].Object()
		if n := len(bindings); n < len(w.Is) && !o.IsExecutable() && (mpilib.IsBinding(o) || target.MayBeMPI(o) && mpilib.Is(o)) {
			w.Is[n].Lo, w.Is[n].Size = mods[i].Start, mods[i].End-mods[i].Start
			bindings[o] = true
			deep = deep || mpilib.Is(o) && !mpilib.IsOpenMPI(o)
		}
	}
	for i := range mods {
		switch {
		case mods[i].Path == program: // has copies of the library's objects (copy relocations)
			w.Images[0].Lo, w.Images[0].Size = mods[i].Start, mods[i].End-mods[i].Start
		case mpilib.IsOpenMPI(mods[i].Object()):
			w.Images[1].Lo, w.Images[1].Size = mods[i].Start, mods[i].End-mods[i].Start
		}
	}
	if deep {
		w.Deep = 1
	}
	return bindings, w
}

// CallsThrough sets the process's bindings, for Caller.
func (r *Rank) CallsThrough(b Bindings) { r.bindings = b }

// Caller returns the address at which the program called a binding, from the stack in the record of
// the binding's call. ok is false if the copied stack does not reach that far, or cannot be
// unwound.
func (r *Rank) Caller(mods []symbols.Module, rec *bpf.MPIRecord) (site uint64, ok bool) {
	// The address before the return address lies in the call.
	at := unwind.Entry{PC: rec.Site - 1, SP: rec.StackAt(), FP: rec.BP, Stack: rec.Stack}
	return unwind.Caller(mods, at, func(m *symbols.Module, _ uint64) bool { return r.bindings[m.Object()] })
}

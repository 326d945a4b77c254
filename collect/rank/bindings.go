package rank

import (
	"slices"

	"ompp-attach/bpf"
	"ompp-attach/collect/target"
	"ompp-attach/mpi"
	"ompp-attach/probes/mpilib"
	"ompp-attach/symbols"
	"ompp-attach/symbols/unwind"
)

// Fortran and C++ call MPI through bindings: one to three functions in libraries of their own.
// Preloaded tools are wrappers of MPI. The return address of the MPI call lies in such a file. The
// kernel side knows the address ranges of these files, and then adds the stack to its record.

// Bindings are the files of a process that call MPI on behalf of others: bindings and wrappers. The
// MPI library itself is one of them, because it may hold bindings. The value tells whether the file
// is a wrapper.
type Bindings map[*symbols.Object]bool

// FindBindings finds the bindings among the files that a process maps. It also returns what the
// kernel side has to know of them. program is the path of the program's own file.
func FindBindings(mods []symbols.Module, program string) (Bindings, *bpf.MPIWrappers) {
	w := &bpf.MPIWrappers{}
	bindings, deep, libraries := Bindings{}, false, target.MPILibraries(mods)
	for i := range mods {
		o := mods[i].Object()
		library := slices.Contains(libraries, o)
		wrapper := !library && !mpilib.IsBinding(o) && mpilib.IsWrapper(o)
		if n := len(bindings); n < len(w.Is) && !o.IsExecutable() && (library || wrapper || mpilib.IsBinding(o)) {
			w.Is[n].Lo, w.Is[n].Size = mods[i].Start, mods[i].End-mods[i].Start
			bindings[o] = wrapper
			deep = deep || wrapper || library && !mpilib.IsOpenMPI(o)
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

// Caller returns the address at which the program called a binding or wrapper, from the stack in
// the record of the library's call. ok is false if the copied stack does not reach that far or
// cannot be unwound. It is also false if a wrapper made the call, and the program did not ask for
// it.
func (r *Rank) Caller(mods []symbols.Module, rec *bpf.MPIRecord, op mpi.Op) (site uint64, ok bool) {
	// The address before the return address lies in the call.
	at := unwind.Entry{PC: rec.Site - 1, SP: rec.StackAt(), FP: rec.BP, Stack: rec.Stack}
	passes := true // the outermost frame in a wrapper decides
	if m, found := symbols.Find(mods, at.PC); found && r.bindings[m.Object()] {
		passes = passesOn(m.Object(), m.VAddr(at.PC), op)
	}
	site, ok = unwind.Caller(mods, at, func(m *symbols.Module, vaddr uint64) bool {
		wrapper, through := r.bindings[m.Object()]
		if wrapper {
			passes = passesOn(m.Object(), vaddr, op)
		}
		return through
	})
	return site, ok && passes
}

// passesOn reports whether a wrapper's code belongs to its function for an operation.
func passesOn(o *symbols.Object, vaddr uint64, op mpi.Op) bool {
	name, _, _ := o.FuncAt(vaddr)
	return mpilib.Passes(name, op)
}

package collect

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

// mpiBindings returns the address ranges in which MPI is called on behalf of the program: the
// bindings, and the MPI library itself, which may hold some. It also stores which files they are in
// p.
func (pc *placer) mpiBindings(p *Process, mods []symbols.Module) *bpf.MPIWrappers {
	w := &bpf.MPIWrappers{}
	bindings, deep := map[*symbols.Object]bool{}, false
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
		case mods[i].Path == p.meta.Path: // has copies of the library's objects (copy relocations)
			w.Images[0].Lo, w.Images[0].Size = mods[i].Start, mods[i].End-mods[i].Start
		case mpilib.IsOpenMPI(mods[i].Object()):
			w.Images[1].Lo, w.Images[1].Size = mods[i].Start, mods[i].End-mods[i].Start
		}
	}
	if deep {
		w.Deep = 1
	}
	pc.reader.mu.Lock()
	p.mpi.bindings = bindings
	pc.reader.mu.Unlock()
	return w
}

// caller returns the address at which the program called the binding. ok is false if the copied
// stack does not reach that far, or cannot be unwound.
func (q *mpiProcess) caller(mods []symbols.Module, r *bpf.MPIRecord) (site uint64, ok bool) {
	// The address before the return address lies in the call.
	at := unwind.Entry{PC: r.Site - 1, SP: r.StackAt(), FP: r.BP, Stack: r.Stack}
	return unwind.Caller(mods, at, func(m *symbols.Module, _ uint64) bool { return q.bindings[m.Object()] })
}

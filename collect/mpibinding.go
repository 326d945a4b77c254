package collect

import (
	"ompp-attach/bpf"
	"ompp-attach/probes"
	"ompp-attach/symbols"
	"ompp-attach/symbols/unwind"
)

// Fortran and C++ call MPI through bindings, one to three functions of
// libraries of their own: the call's return address lies there. The kernel side
// knows these libraries' addresses and then adds the stack to its record.

// mpiBindings are the address ranges in which MPI is called on the program's
// behalf: the bindings', and those of the MPI library itself, which may hold some.
// It notes whose they are.
func (m *Measurement) mpiBindings(p *Process, mods []symbols.Module) *bpf.MPIWrappers {
	w := &bpf.MPIWrappers{}
	bindings, deep := map[*symbols.Object]bool{}, false
	for i := range mods {
		o := mods[i].Object()
		if n := len(bindings); n < len(w.Is) && !o.IsExecutable() && (probes.IsMPIBinding(o) || mayBeMPI(o) && probes.IsMPI(o)) {
			w.Is[n].Lo, w.Is[n].Size = mods[i].Start, mods[i].End-mods[i].Start
			bindings[o] = true
			deep = deep || probes.IsMPI(o) && !probes.IsOpenMPI(o)
		}
	}
	for i := range mods {
		switch {
		case mods[i].Path == p.meta.Path: // with copies of the library's objects (copy relocations)
			w.Images[0].Lo, w.Images[0].Size = mods[i].Start, mods[i].End-mods[i].Start
		case probes.IsOpenMPI(mods[i].Object()):
			w.Images[1].Lo, w.Images[1].Size = mods[i].Start, mods[i].End-mods[i].Start
		}
	}
	if deep {
		w.Deep = 1
	}
	m.mu.Lock()
	p.mpi.bindings = bindings
	m.mu.Unlock()
	return w
}

// caller returns where the program called the binding from which a call came.
// ok is false if the stack does not tell, or not enough of it was copied.
func (q *mpiProcess) caller(mods []symbols.Module, r *bpf.MPIRecord) (site uint64, ok bool) {
	at := unwind.Entry{PC: r.Site - 1, SP: r.StackAt(), FP: r.BP, Stack: r.Stack} // in the call
	return unwind.Caller(mods, at, func(m *symbols.Module, _ uint64) bool { return q.bindings[m.Object()] })
}

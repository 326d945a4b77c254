package rank

import (
	"ompp-attach/bpf"
	"ompp-attach/collect/target"
	"ompp-attach/probes/mpilib/handles"
)

// Neighbors completes the record of a neighbourhood collective on a communicator that the kernel
// side has not seen being made. Such a communicator is a duplicate, or was made before attaching.
// The volume of the call stays unknown if it depends on arrays of unknown length. ok is false if
// the numbers of neighbours cannot be found.
func (r *Rank) Neighbors(rec *bpf.MPIRecord) (ok bool) {
	if r.noNeighbors[rec.Comm] || r.library == nil {
		return false
	}
	in, out, ok := handles.Degrees(r.library.Object(), rec.Comm, r.library.Bias, target.ReadMemory(r.pid))
	if !ok {
		if r.noNeighbors == nil {
			r.noNeighbors = map[uint64]bool{}
		}
		r.noNeighbors[rec.Comm] = true
		return false
	}
	rec.In, rec.Np = int32(in), int32(out)
	rec.Flags &^= bpf.MPIUnreadComm
	return true
}

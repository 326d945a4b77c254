package collect

import (
	"ompp-attach/bpf"
	"ompp-attach/collect/target"
	"ompp-attach/probes/mpilib/handles"
)

// findNeighbors completes the record of a neighbourhood collective on a communicator that the
// kernel side has not seen being made: a duplicate, or one made before attaching. It tells the
// kernel side the communicator's numbers of neighbours for later calls. The volume of this call
// stays unknown if it depends on arrays, whose length was not known. reader.mu is held.
func (rd *reader) findNeighbors(p *Process, r *bpf.MPIRecord) {
	if p.mpi.noNeighbors[r.Comm] || p.mpi.library == nil {
		return
	}
	lib := p.mpi.library
	in, out, ok := handles.Degrees(lib.Object(), r.Comm, lib.Bias, target.ReadMemory(int(p.pid)))
	if !ok {
		if p.mpi.noNeighbors == nil {
			p.mpi.noNeighbors = map[uint64]bool{}
		}
		p.mpi.noNeighbors[r.Comm] = true
		return
	}
	r.In, r.Np = int32(in), int32(out)
	r.Flags &^= bpf.MPIUnreadComm
	if err := rd.mpiReading.kernel.SetDegrees(int(p.pid), r.Comm, r.In, r.Np); err != nil {
		rd.logf("process %d: %v", p.pid, err)
	}
}

package collect

import (
	"ompp-attach/bpf"
	"ompp-attach/probes/accessor"
)

// lookForNeighbors completes a record of a neighbourhood collective on a
// communicator whose making the kernel side has not seen (a duplicate, or one
// from before attaching), and tells it for the calls to come; mu is held. Of
// arrays, whose length was not known, the volume of this call is not, either.
func (m *Measurement) lookForNeighbors(p *Process, r *bpf.MPIRecord) {
	if p.mpi.noNeighbors[r.Comm] || p.mpi.library == nil {
		return
	}
	lib := p.mpi.library
	in, out, ok := accessor.Degrees(lib.Object(), r.Comm, lib.Bias, readMemory(int(p.pid)))
	if !ok {
		if p.mpi.noNeighbors == nil {
			p.mpi.noNeighbors = map[uint64]bool{}
		}
		p.mpi.noNeighbors[r.Comm] = true
		return
	}
	r.In, r.Np = int32(in), int32(out)
	r.Flags &^= bpf.MPIUnreadComm
	if err := m.mpi.kernel.SetDegrees(int(p.pid), r.Comm, r.In, r.Np); err != nil {
		m.logf("process %d: %v", p.pid, err)
	}
}

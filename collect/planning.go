package collect

import (
	"ompp-attach/collect/selection"
	"ompp-attach/probes"
	"ompp-attach/probes/mpilib"
)

// planning is what package plans uses of the placer. placer.mu is held.
type planning struct{ *placer }

func (p planning) Selection() *selection.Selection { return p.selection }

func (p planning) LogsCalls() bool { return p.calls }

func (p planning) Logf(format string, args ...any) { p.logf(format, args...) }

func (p planning) DerivesEnds() bool { return p.kernel.LeavesOut() }

func (p planning) Store(plan *probes.Plan) (*probes.Attached, error) {
	p.reader.mu.Lock()
	defer p.reader.mu.Unlock()
	return p.reader.decoder.Store(p.kernel, plan, p.running)
}

func (p planning) Alter(change func()) {
	p.reader.mu.Lock()
	defer p.reader.mu.Unlock()
	change()
}

func (p planning) LoadMPI() error {
	if p.mpi.kernel == nil && p.mpi.loadErr == nil {
		p.mpi.kernel, p.mpi.loadErr = p.kernel.LoadMPI()
	}
	return p.mpi.loadErr
}

func (p planning) StoreMPI(plan *mpilib.Plan) (*mpilib.Attached, error) {
	p.reader.mu.Lock()
	defer p.reader.mu.Unlock()
	p.reader.mpiReading.kernel = p.mpi.kernel
	return p.reader.mpiReading.decoder.Store(p.mpi.kernel, plan)
}

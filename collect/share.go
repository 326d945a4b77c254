package collect

import (
	"io"

	"ompp-attach/bpf"
	"ompp-attach/collect/links"
	"ompp-attach/event"
	"ompp-attach/probes"
)

// attach places a file's probes for a process; placer.mu is held.
func (pc *placer) attach(p *Process, path string, a *probes.Attached) (io.Closer, error) {
	pc.reader.samplesAt(a.Plan.Object, a.Plan.Probed())
	if pc.budget != nil {
		return pc.attachGroups(p, path, a)
	}
	return pc.share(p, a, func(pid int) (io.Closer, error) { return pc.kernel.Attach(path, pid, a.Points()) })
}

// attachGroups places a file's probes by group of constructs, except those of groups that are
// removed.
func (pc *placer) attachGroups(p *Process, path string, a *probes.Attached) (io.Closer, error) {
	l := links.NewGroups(int(p.pid), a, func(part any, points []bpf.Point) (io.Closer, error) {
		return pc.share(p, part, func(pid int) (io.Closer, error) { return pc.kernel.Attach(path, pid, points) })
	})
	for g := range event.NumGroups {
		if pc.budget.removed[g] {
			continue
		}
		if err := l.Place(g); err != nil {
			l.Close()
			return nil, err
		}
	}
	return l, nil
}

// joins tells whether a process takes part in shared probes: it is a rank of a job.
func (p *Process) joins() bool { return p.meta.MPI != nil && p.meta.MPI.Size != 1 && !p.alone }

// share places a plan's probes for a process. A rank of a job takes part in the plan's shared
// probes. place is called with the process's PID, or with 0 for all processes. placer.mu is held.
func (pc *placer) share(p *Process, plan any, place func(pid int) (io.Closer, error)) (io.Closer, error) {
	if !p.joins() {
		return place(int(p.pid))
	}
	return pc.shared.Join(plan, func() (io.Closer, error) { return place(0) }, func() error {
		err := pc.kernel.Share(int(p.pid))
		p.shares = p.shares || err == nil
		return err
	})
}

// unshare keeps all shared probes from answering in a process. placer.mu is held. To close the
// links would be too late: that may take long. By then another program in a process of the same PID
// may share the probes anew.
func (pc *placer) unshare(p *Process) {
	if p.shares {
		pc.kernel.Unshare(int(p.pid))
		p.shares = false
	}
}

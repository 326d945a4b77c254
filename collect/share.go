package collect

import (
	"io"

	"ompp-attach/probes"
)

// The ranks of a job share their probes: each probe of one process alone costs
// all others that map the file, since the kernel asks every link at every hit.
// In return, a probe that is placed for all costs also processes that are not
// measured, half a microsecond a hit.

// sharedLink is a file's probes, placed for all processes.
type sharedLink struct {
	link  io.Closer
	users int
}

// part is one process's part in a sharedLink; closing it once ends that.
type part struct {
	m    *Measurement
	plan any
}

// attach places a file's probes for a process; scanning is held.
func (m *Measurement) attach(p *Process, path string, a *probes.Attached) (io.Closer, error) {
	m.samplesAt(a.Plan.Object, a.Plan.Probed())
	if m.budget != nil {
		return m.attachKinds(p, path, a)
	}
	return m.share(p, a, func(pid int) (io.Closer, error) { return m.kernel.Attach(path, pid, a.Points()) })
}

// share places a plan's probes for a process, or lets it take part in those that
// are there; place places them for a process, or for all (0). scanning is held.
func (m *Measurement) share(p *Process, plan any, place func(pid int) (io.Closer, error)) (io.Closer, error) {
	r := p.meta.MPI
	if r == nil || r.Size == 1 || p.alone {
		return place(int(p.pid))
	}
	m.sharing.Lock()
	defer m.sharing.Unlock()
	s := m.shared[plan]
	if s == nil {
		link, err := place(0)
		if err != nil {
			return nil, err
		}
		s = &sharedLink{link: link}
		m.shared[plan] = s
	}
	if err := m.kernel.Share(int(p.pid)); err != nil {
		if s.users == 0 {
			s.link.Close()
			delete(m.shared, plan)
		}
		return nil, err
	}
	s.users++
	p.shares = true
	return &part{m, plan}, nil
}

// unshare silences all probes that a process shares; scanning is held. It must
// not be left to who closes the links, which may take long: a process of the
// same number, that has run another program, shares them anew by then.
func (p *Process) unshare() {
	if p.shares {
		p.program.m.kernel.Unshare(int(p.pid))
		p.shares = false
	}
}

// Close implements io.Closer; the process goes on with its other parts, unless
// it does not share any more.
func (s *part) Close() error {
	s.m.sharing.Lock()
	defer s.m.sharing.Unlock()
	l := s.m.shared[s.plan]
	if l.users--; l.users > 0 {
		return nil
	}
	delete(s.m.shared, s.plan)
	return l.link.Close()
}

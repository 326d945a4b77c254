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
	pid  int
	plan any
}

// attach places a file's probes for a process; scanning is held.
func (m *Measurement) attach(p *Process, path string, a *probes.Attached) (io.Closer, error) {
	if m.budget != nil {
		return m.attachKinds(p, path, a)
	}
	return m.share(p, a, func(pid int) (io.Closer, error) { return m.kernel.Attach(path, pid, a.Points()) })
}

// share places a plan's probes for a process, or lets it take part in those that
// are there; place places them for a process, or for all (0).
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
	return &part{m, int(p.pid), plan}, nil
}

// Close implements io.Closer. All of a process's probes go at one time, so
// that its parts in other files lose nothing.
func (s *part) Close() error {
	s.m.kernel.Unshare(s.pid)
	return s.leave()
}

// leave gives up the part in one link; the process goes on with others.
func (s *part) leave() error {
	s.m.sharing.Lock()
	defer s.m.sharing.Unlock()
	l := s.m.shared[s.plan]
	if l.users--; l.users > 0 {
		return nil
	}
	delete(s.m.shared, s.plan)
	return l.link.Close()
}

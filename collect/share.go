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
	plan *probes.Attached
}

// attach places a file's probes for a process; scanning is held.
func (m *Measurement) attach(p *Process, path string, a *probes.Attached) (io.Closer, error) {
	r := p.meta.MPI
	if r == nil || r.Size == 1 || p.alone {
		return m.kernel.Attach(path, int(p.pid), a.Points())
	}
	m.sharing.Lock()
	defer m.sharing.Unlock()
	s := m.shared[a]
	if s == nil {
		link, err := m.kernel.Attach(path, 0, a.Points())
		if err != nil {
			return nil, err
		}
		s = &sharedLink{link: link}
		m.shared[a] = s
	}
	if err := m.kernel.Share(int(p.pid)); err != nil {
		if s.users == 0 {
			s.link.Close()
			delete(m.shared, a)
		}
		return nil, err
	}
	s.users++
	return &part{m, int(p.pid), a}, nil
}

// Close implements io.Closer. All of a process's probes go at one time, so
// that its parts in other files lose nothing.
func (s *part) Close() error {
	s.m.kernel.Unshare(s.pid)
	s.m.sharing.Lock()
	defer s.m.sharing.Unlock()
	l := s.m.shared[s.plan]
	if l.users--; l.users > 0 {
		return nil
	}
	delete(s.m.shared, s.plan)
	return l.link.Close()
}

package links

import (
	"io"
	"sync"
)

// Shared are the probes that are placed for all processes. A probe for one process alone costs all
// processes that map the file, since the kernel calls every link at every hit. In return, a probe
// for all processes also costs processes that are not measured: half a microsecond a hit. The zero
// value has none. Its lock is held while probes are placed or removed; no other is taken meanwhile.
type Shared struct {
	mu    sync.Mutex
	links map[any]*shared
}

// shared holds the probes of a plan, or of a part of a plan.
type shared struct {
	link  io.Closer
	users int
}

// Join makes a process a user of the probes of a plan, which it identifies. If the probes are not
// there yet, place places them for all processes. enter then makes them answer in the process.
// Closing the link ends the use, and must be done once; the last one removes the probes.
func (s *Shared) Join(plan any, place func() (io.Closer, error), enter func() error) (io.Closer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.links[plan]
	if l == nil {
		link, err := place()
		if err != nil {
			return nil, err
		}
		l = &shared{link: link}
		if s.links == nil {
			s.links = map[any]*shared{}
		}
		s.links[plan] = l
	}
	if err := enter(); err != nil {
		if l.users == 0 {
			l.link.Close()
			delete(s.links, plan)
		}
		return nil, err
	}
	l.users++
	return &use{s, plan}, nil
}

// use is one process's use of shared probes.
type use struct {
	of   *Shared
	plan any
}

// Close implements io.Closer. The last use that is closed removes the probes.
func (u *use) Close() error {
	u.of.mu.Lock()
	defer u.of.mu.Unlock()
	l := u.of.links[u.plan]
	if l.users--; l.users > 0 {
		return nil
	}
	delete(u.of.links, u.plan)
	return l.link.Close()
}

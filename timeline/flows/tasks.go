package flows

import "ompp-attach/timeline"

// tasks are the numbers of a process's tasks.
type tasks struct{ created, executed set }

func (t *tasks) take(s *timeline.Span) {
	switch {
	case s.Task == 0:
	case s.Kind == timeline.Created:
		t.created.add(s.Task)
	case s.Exec.C > 0: // the first of a task's parts
		t.executed.add(s.Task)
	}
}

// set is a set of numbers that are mostly close together.
type set map[uint64]*[setPage / 64]uint64

const (
	setPage  = 1 << 12
	setMost  = 1 << 28 // numbers from here on are not kept: tasks are numbered from 1
	setPages = setMost / setPage
)

func (s *set) add(n uint64) {
	page := n / setPage
	if page >= setPages {
		return
	}
	if *s == nil {
		*s = set{}
	}
	p := (*s)[page]
	if p == nil {
		p = new([setPage / 64]uint64)
		(*s)[page] = p
	}
	p[n%setPage/64] |= 1 << (n % 64)
}

func (s set) has(n uint64) bool {
	p := s[n/setPage]
	return p != nil && p[n%setPage/64]&(1<<(n%64)) != 0
}

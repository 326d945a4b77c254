package main

import (
	"fmt"
	"os"
	"path/filepath"

	"ompp-attach/timeline"
)

// spans are what timelines have recorded, and what they have dropped.
type spans struct {
	recorded, dropped uint64
	unknown           bool // something is missing of which the number is not known
}

// record attaches ompp-attach to a process, to record all executions into a file. What it returns
// ends that, and counts what is in the file.
func (s *spans) record(pid int, dir string) (func() error, error) {
	stop, _, err := attachTool(pid, dir, "--timeline", "all")
	if err != nil {
		return nil, err
	}
	return func() error {
		if err := stop(); err != nil {
			return err
		}
		return s.count(filepath.Join(dir, "profile", "profile.timeline"))
	}, nil
}

func (s *spans) count(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return fmt.Errorf("the timeline: %w", err)
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return fmt.Errorf("the timeline: %w", err)
	}
	t, err := timeline.Read(f, st.Size())
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	n, _ := t.Spans()
	s.recorded += n
	for _, g := range t.Gaps {
		if s.dropped += g.Spans; g.Spans == 0 {
			s.unknown = true
		}
	}
	s.unknown = s.unknown || t.Torn
	return nil
}

// String tells what was lost.
func (s *spans) String() string {
	switch {
	case s.recorded+s.dropped == 0:
		return "-"
	case s.unknown:
		return fmt.Sprintf("at least %d of %d", s.dropped, s.recorded+s.dropped)
	}
	return fmt.Sprintf("%d of %d", s.dropped, s.recorded+s.dropped)
}

package perfetto

import (
	"ompp-attach/event"
	"ompp-attach/timeline"
)

// wait is a part of a span in which its thread waits, or the runtime works.
type wait struct {
	name     string
	from, to uint64 // ns of the engine's clock
}

// waits returns the waits of an execution, in order of their times. They are known only if the
// execution did not stand still: then its parts follow each other without a break.
func waits(s *timeline.Span, c event.Construct) (out []wait) {
	if s.Kind != timeline.Execution || s.Flags&timeline.Unseen != 0 || c.ExecutesTask() {
		return nil
	}
	sum := uint64(0)
	for _, p := range s.Parts {
		if p.T < 0 {
			return nil
		}
		sum += uint64(p.T)
	}
	if sum != s.To-s.From || uint64(s.Parts[timeline.Body].T) == sum {
		return nil
	}
	names := [timeline.NumParts]string{timeline.Enter: "waits to enter", timeline.Barrier: "implicit barrier", timeline.Exit: "leaves"}
	if c.IsParallel() {
		names[timeline.Enter], names[timeline.Exit] = "startup", "shutdown"
	}
	at := s.From
	for i, p := range s.Parts {
		if p.T > 0 && names[i] != "" {
			out = append(out, wait{names[i], at, at + uint64(p.T)})
		}
		at += uint64(p.T)
	}
	return out
}

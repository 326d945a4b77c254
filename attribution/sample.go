package attribution

import (
	"encoding/binary"
	"fmt"

	"ompp-attach/attribution/tree"
	"ompp-attach/event"
	"ompp-attach/profile"
)

// Samples. A sample counts for the innermost region that its thread has open, and changes nothing
// else. A sample that was taken in a probe may be read before the probe's record; the two differ by
// some microseconds.

// maxStackBytes bounds the memory of different stacks: 100 000 stacks of 20 frames.
const maxStackBytes = 16 << 20

// maxPlaces bounds the number of different combinations of thread, region and stack: some 60 MB,
// and about 1 MB of the recorded profile.
const maxPlaces = 1 << 18

// sampling is the engine's state of samples.
type sampling struct {
	tree    *tree.Tree
	stackOf map[string]int32 // index in stacks, by the stack's addresses
	stacks  []string
	bytes   int
	// Number of samples whose callers were left out, because there were too many stacks.
	folded uint64
	taken  uint64
	places int
}

// lateSample is a sample behind a thread's body in its team. It waits until the time of the team's
// join is known.
type lateSample struct {
	time, weight uint64
	id           tree.SampleID
}

// sample charges a sample.
func (sm *sampling) sample(t *thread, ev *event.Event) {
	s := ev.Sample
	if s == nil || len(s.Stack) == 0 {
		return
	}
	sm.taken++
	id := tree.SampleID{Row: t.row, Stack: sm.intern(s.Stack), Kernel: s.Kernel, Cut: s.Cut}
	if s.Changing || s.Probe {
		id.Phase = profile.PhaseProbe
	}
	var f *frame
	for i := len(t.stack) - 1; i >= 0 && f == nil; i-- {
		if g := &t.stack[i]; !g.internal && g.phase != done {
			f = g
		}
	}
	switch {
	case f == nil:
		if !t.known {
			id.Row, id.Tid = -1, t.tid
		}
		sm.addSample(sm.tree.Root, id, s.Weight)
	case f.team != nil && f.phase == inBarrier:
		id.Row = f.row
		late := lateSample{ev.Time, s.Weight, id}
		// The team's memory is in use again: this thread's execution was over.
		if m := f.team; m.forked > f.Mark {
			sm.idleSample(&late)
		} else if m.charged {
			sm.settleSample(m, &late)
		} else {
			m.late = append(m.late, late)
		}
	default:
		if id.Row = f.row; id.Phase == "" {
			id.Phase = f.phase.sampled()
		}
		sm.addSample(f.node, id, s.Weight)
	}
}

func (p phase) sampled() string {
	switch p {
	case starting, entering:
		return profile.PhaseEnter
	case inBarrier:
		return profile.PhaseBarrier
	case leaving:
		return profile.PhaseExit
	}
	return profile.PhaseBody
}

// settleSamples charges the samples of a team's threads that were taken behind their bodies.
func (sm *sampling) settleSamples(m *team) {
	for i := range m.late {
		sm.settleSample(m, &m.late[i])
	}
	m.late = m.late[:0]
}

func (sm *sampling) settleSample(m *team, s *lateSample) {
	switch {
	case m.joined != 0 && s.time > m.joined:
		sm.idleSample(s)
		return
	case s.id.Phase == profile.PhaseProbe: // a sample in a probe keeps its phase
	case m.last != 0 && s.time > m.last:
		s.id.Phase = profile.PhaseExit
	default:
		s.id.Phase = profile.PhaseBarrier
	}
	sm.addSample(m.node, s.id, s.weight)
}

func (sm *sampling) idleSample(s *lateSample) {
	if s.id.Phase != profile.PhaseProbe {
		s.id.Phase = profile.PhaseIdle
	}
	sm.addSample(sm.tree.Root, s.id, s.weight)
}

// addSample adds a sample to a node. When there are too many places, new ones keep only their
// innermost address.
func (sm *sampling) addSample(n *tree.Node, id tree.SampleID, weight uint64) {
	if _, known := n.Samples[id]; !known {
		const addr = 8
		if s := sm.stacks[id.Stack]; sm.places >= maxPlaces && len(s) > addr {
			id.Stack = sm.intern([]uint64{binary.LittleEndian.Uint64([]byte(s[:addr]))})
			sm.folded++
		}
		sm.places++
	}
	n.Samples.Add(id, tree.SampleSum{Count: 1, Weight: weight})
}

// intern returns the number of a stack. When there are too many stacks, new ones keep only their
// innermost address.
func (s *sampling) intern(stack []uint64) int32 {
	if s.stackOf == nil {
		s.stackOf = map[string]int32{}
	}
	b := make([]byte, 0, 512)
	for _, addr := range stack {
		b = binary.LittleEndian.AppendUint64(b, addr)
	}
	n, known := s.stackOf[string(b)]
	if known {
		return n
	}
	if s.bytes += len(b); s.bytes > maxStackBytes && len(stack) > 1 {
		s.bytes -= len(b)
		s.folded++
		return s.intern(stack[:1])
	}
	n = int32(len(s.stacks))
	s.stacks = append(s.stacks, string(b))
	s.stackOf[s.stacks[n]] = n
	return n
}

// note returns the warning about samples whose callers were left out, if there are any.
func (s *sampling) note() []string {
	if s.folded == 0 {
		return nil
	}
	return []string{fmt.Sprintf("More different call stacks were sampled than could be kept: of %d samples only the innermost function is known.", s.folded)}
}

// rowOfSample returns the row of a sample. A thread may have got its row after the sample; the
// result is -1 if it never got one.
func (e *Engine) rowOfSample(id tree.SampleID) int {
	if id.Row >= 0 {
		return id.Row
	}
	if t := e.threads.byID[id.Tid]; t != nil && t.known {
		return t.row
	}
	return -1
}

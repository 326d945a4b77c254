package stack

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

// MaxStackBytes bounds the memory of different stacks: 100 000 stacks of 20 frames.
const MaxStackBytes = 16 << 20

// maxPlaces bounds the number of different combinations of thread, region and stack: some 60 MB,
// and about 1 MB of the recorded profile.
const maxPlaces = 1 << 18

// Sampling is the engine's state of samples.
type Sampling struct {
	Tree    *tree.Tree
	stackOf map[string]int32 // index in stacks, by the stack's addresses
	Stacks  []string
	bytes   int
	// Number of samples whose callers were left out, because there were too many stacks.
	cut    uint64
	taken  uint64
	places int
}

// Sample charges a sample.
func (sm *Sampling) Sample(t *Thread, ev *event.Event) {
	s := ev.Sample
	if s == nil || len(s.Stack) == 0 {
		return
	}
	sm.taken++
	id := tree.SampleID{Seat: t.Seat, Stack: sm.intern(s.Stack), Kernel: s.Kernel, Cut: s.Cut}
	if s.Changing || s.Probe {
		id.Phase = profile.PhaseProbe
	}
	var f *Frame
	for i := len(t.Stack) - 1; i >= 0 && f == nil; i-- {
		if g := &t.Stack[i]; !g.Internal && g.Phase != Done {
			f = g
		}
	}
	switch {
	case f == nil:
		if !t.Known {
			id.Seat, id.Tid = -1, t.Tid
		}
		sm.addSample(sm.Tree.Root, id, s.Weight)
	case f.Team != nil && f.Phase == InBarrier:
		id.Seat = f.Seat
		late := lateSample{ev.Time, s.Weight, id}
		// The team's memory is in use again: this thread's execution was over.
		if m := f.Team; m.Forked > f.Mark {
			sm.idleSample(&late)
		} else if m.Charged {
			sm.chargeLate(m, &late)
		} else {
			m.late = append(m.late, late)
		}
	default:
		if id.Seat = f.Seat; id.Phase == "" {
			id.Phase = f.Phase.sampled()
		}
		sm.addSample(f.Node, id, s.Weight)
	}
}

// ChargeLate charges the samples of a team's threads that were taken behind their bodies.
func (sm *Sampling) ChargeLate(m *Team) {
	for i := range m.late {
		sm.chargeLate(m, &m.late[i])
	}
	m.late = m.late[:0]
}

func (sm *Sampling) chargeLate(m *Team, s *lateSample) {
	switch {
	case m.Joined != 0 && s.time > m.Joined:
		sm.idleSample(s)
		return
	case s.id.Phase == profile.PhaseProbe: // a sample in a probe keeps its phase
	case m.last != 0 && s.time > m.last:
		s.id.Phase = profile.PhaseExit
	default:
		s.id.Phase = profile.PhaseBarrier
	}
	sm.addSample(m.Node, s.id, s.weight)
}

func (sm *Sampling) idleSample(s *lateSample) {
	if s.id.Phase != profile.PhaseProbe {
		s.id.Phase = profile.PhaseIdle
	}
	sm.addSample(sm.Tree.Root, s.id, s.weight)
}

// addSample adds a sample to a node. When there are too many places, new ones keep only their
// innermost address.
func (sm *Sampling) addSample(n *tree.Node, id tree.SampleID, weight uint64) {
	if _, known := n.Samples[id]; !known {
		const addr = 8
		if s := sm.Stacks[id.Stack]; sm.places >= maxPlaces && len(s) > addr {
			id.Stack = sm.intern([]uint64{binary.LittleEndian.Uint64([]byte(s[:addr]))})
			sm.cut++
		}
		sm.places++
	}
	n.Samples.Add(id, tree.SampleSum{Count: 1, Weight: weight})
}

// intern returns the number of a stack. When there are too many stacks, new ones keep only their
// innermost address.
func (s *Sampling) intern(stack []uint64) int32 {
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
	if s.bytes += len(b); s.bytes > MaxStackBytes && len(stack) > 1 {
		s.bytes -= len(b)
		s.cut++
		return s.intern(stack[:1])
	}
	n = int32(len(s.Stacks))
	s.Stacks = append(s.Stacks, string(b))
	s.stackOf[s.Stacks[n]] = n
	return n
}

// Note returns the warning about samples whose callers were left out, if there are any.
func (s *Sampling) Note() []string {
	if s.cut == 0 {
		return nil
	}
	return []string{fmt.Sprintf("More different call stacks were sampled than could be kept: of %d samples only the innermost function is known.", s.cut)}
}

// lateSample is a sample behind a thread's body in its team. It waits until the time of the team's
// join is known.
type lateSample struct {
	time, weight uint64
	id           tree.SampleID
}

func (p Phase) sampled() string {
	switch p {
	case Starting, Entering:
		return profile.PhaseEnter
	case InBarrier:
		return profile.PhaseBarrier
	case Leaving:
		return profile.PhaseExit
	}
	return profile.PhaseBody
}

package stack

import (
	"ompp-attach/attribution/samples"
	"ompp-attach/attribution/tree"
	"ompp-attach/event"
	"ompp-attach/profile"
)

// Samples. A sample counts for the innermost region that its thread has open, and changes nothing
// else. A sample that was taken in a probe may be read before the probe's record; the two differ by
// some microseconds.

// Sampling charges samples to regions.
type Sampling struct {
	*samples.Store
	Tree *tree.Tree
}

// Sample charges a sample.
func (sm *Sampling) Sample(t *Thread, ev *event.Event) {
	s := ev.Sample
	if s == nil || len(s.Stack) == 0 {
		return
	}
	id := tree.SampleID{Seat: t.Seat, Stack: sm.Take(s.Stack), Kernel: s.Kernel, Cut: s.Cut}
	if s.Changing || s.Probe {
		id.Phase = profile.PhaseProbe
	}
	var open *OpenRegion
	for i := len(t.Stack) - 1; i >= 0 && open == nil; i-- {
		if o := &t.Stack[i]; !o.Internal && o.Phase != Done {
			open = o
		}
	}
	switch {
	case open == nil:
		if !t.Known {
			id.Seat, id.Tid = -1, t.Tid
		}
		sm.Add(sm.Tree.Root, id, s.Weight)
	case open.Team != nil && open.Phase == InBarrier:
		id.Seat = open.Seat
		late := lateSample{ev.Time, s.Weight, id}
		// The team's memory is in use again: this thread's execution was over.
		if m := open.Team; m.Forked > open.Mark {
			sm.idleSample(&late)
		} else if m.Charged {
			sm.chargeLate(m, &late)
		} else {
			m.late = append(m.late, late)
		}
	default:
		if id.Seat = open.Seat; id.Phase == "" {
			id.Phase = open.Phase.sampled()
		}
		sm.Add(open.Node, id, s.Weight)
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
	sm.Add(m.Node, s.id, s.weight)
}

func (sm *Sampling) idleSample(s *lateSample) {
	if s.id.Phase != profile.PhaseProbe {
		s.id.Phase = profile.PhaseIdle
	}
	sm.Add(sm.Tree.Root, s.id, s.weight)
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

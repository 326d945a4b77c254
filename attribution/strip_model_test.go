package attribution

import (
	"math/rand/v2"
	"testing"

	"ompp-attach/event"
	"ompp-attach/profile"
)

// stateTruth notes in which state each thread of a simulation is, tick by tick.
type stateTruth struct {
	times map[uint32]map[profile.State]int64
	final map[*simTeam][]finalWait // times in the final barriers of open teams
}

// finalWait is a time of a thread in the final barrier of a team. It is part of the team's shutdown if
// nobody was awaited any more, which is known at the join.
type finalWait struct {
	tid      uint32
	from, to uint64
}

func (s *stateTruth) add(tid uint32, state profile.State, d uint64) {
	if s.times == nil {
		s.times, s.final = map[uint32]map[profile.State]int64{}, map[*simTeam][]finalWait{}
	}
	if s.times[tid] == nil {
		s.times[tid] = map[profile.State]int64{}
	}
	s.times[tid][state] += int64(d)
}

// pass notes what a thread does from one time to another.
func (s *stateTruth) pass(t *simThread, from, to uint64) {
	stack := t.visible()
	for i := len(stack) - 1; i >= 0; i-- {
		f := stack[i]
		state := f.state()
		if state == profile.StateBarrier && f.team != nil {
			s.add(t.tid, state, 0)
			s.final[f.team] = append(s.final[f.team], finalWait{t.tid, from, to})
			return
		}
		if state != "" {
			s.add(t.tid, state, to-from)
			return
		}
	}
	if t.pending != nil {
		s.add(t.tid, profile.StateRuntime, to-from)
	}
}

// joined tells of a team that nobody was awaited any more from a time on.
func (s *stateTruth) joined(m *simTeam, last uint64) {
	for _, w := range s.final[m] {
		state := profile.StateBarrier
		if w.from >= last {
			state = profile.StateRuntime
		}
		s.add(w.tid, state, w.to-w.from)
	}
	delete(s.final, m)
}

// state is what a thread does in an innermost region; empty: what it does around.
func (f *simFrame) state() profile.State {
	switch f.c {
	case event.Barrier, event.TaskWait, event.TaskYield:
		return profile.StateBarrier
	case event.Task, event.UntiedTask, event.TaskLoop:
		return profile.StateRuntime
	case event.TaskExec:
		return profile.StateWork
	}
	if f.team != nil {
		switch {
		case f.end != 0:
			return profile.StateBarrier
		case f.begin != 0:
			return profile.StateWork
		}
		return profile.StateRuntime
	}
	switch f.span {
	case &f.figures.Enter:
		return profile.StateLock
	case &f.figures.Barrier:
		return profile.StateBarrier
	case &f.figures.Exit:
		return profile.StateRuntime
	}
	return ""
}

// TestStripSumsOfModel: whatever a program does, and in whatever order its threads are read, the time
// of each thread in each state is that of the program, to the nanosecond.
func TestStripSumsOfModel(t *testing.T) {
	compared := 0
	for seed := range uint64(200) {
		for _, rt := range []event.Runtime{event.Gomp, event.Kmpc} {
			rnd := rand.New(rand.NewPCG(seed, uint64(rt)))
			s := simulate(rnd, rt, 30+rnd.IntN(300))
			e := New(1, fakeFiles{})
			e.Began(1000)
			feedMixed(rnd, e, s.events, seed%2 == 0)
			e.Finish(s.now + 10)
			for _, th := range s.threads {
				got, want := e.in.Strip.Times(th.tid), s.states.times[th.tid]
				for _, state := range []profile.State{profile.StateWork, profile.StateBarrier, profile.StateLock, profile.StateRuntime} {
					if got[state] != want[state] {
						t.Errorf("seed %d, %v, thread %d, %s: %d ns, want %d", seed, rt, th.tid, state, got[state], want[state])
					}
					if want[state] != 0 {
						compared++
					}
				}
			}
			if seed == 199 && t.Failed() {
				return
			}
		}
	}
	if compared < 1000 {
		t.Errorf("only %d times compared", compared)
	}
}

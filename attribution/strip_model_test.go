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
	all   []stateTime
	final map[*simTeam][]finalWait // times in the final barriers of open teams
}

// finalWait is a time of a thread in the final barrier of a team. It is part of the team's shutdown
// if nobody was awaited any more, which is known at the join.
type finalWait struct {
	tid      uint32
	from, to uint64
}

// stateTime is a time for which a thread was in a state.
type stateTime struct {
	tid      uint32
	state    profile.State
	from, to uint64
}

func (s *stateTruth) add(tid uint32, state profile.State, from, to uint64) {
	s.all = append(s.all, stateTime{tid, state, from, to})
	if s.times == nil {
		s.times, s.final = map[uint32]map[profile.State]int64{}, map[*simTeam][]finalWait{}
	}
	if s.times[tid] == nil {
		s.times[tid] = map[profile.State]int64{}
	}
	s.times[tid][state] += int64(to - from)
}

// pass notes what a thread does from one time to another.
func (s *stateTruth) pass(t *simThread, from, to uint64) {
	stack := t.visible()
	for i := len(stack) - 1; i >= 0; i-- {
		f := stack[i]
		state := f.state()
		if state == profile.StateBarrier && f.team != nil {
			s.add(t.tid, state, from, from)
			s.final[f.team] = append(s.final[f.team], finalWait{t.tid, from, to})
			return
		}
		if state != "" {
			s.add(t.tid, state, from, to)
			return
		}
	}
	if t.pending != nil {
		s.add(t.tid, profile.StateRuntime, from, to)
	}
}

// joined tells of a team that nobody was awaited any more from a time on.
func (s *stateTruth) joined(m *simTeam, last uint64) {
	for _, w := range s.final[m] {
		state := profile.StateBarrier
		if w.from >= last {
			state = profile.StateRuntime
		}
		s.add(w.tid, state, w.from, w.to)
	}
	delete(s.final, m)
}

// state is what a thread does in an innermost region; empty: what it does around.
func (f *simRegion) state() profile.State {
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
	switch f.sum {
	case &f.figures.Enter:
		return profile.StateLock
	case &f.figures.Barrier:
		return profile.StateBarrier
	case &f.figures.Exit:
		return profile.StateRuntime
	}
	return ""
}

// TestStripSumsOfModel: the time of each thread in each state is that of the program, to the
// nanosecond. That holds whatever a program does, and in whatever order its threads are read.
func TestStripSumsOfModel(t *testing.T) {
	compared, seeds := 0, tries(uint64(200))
	for seed := range seeds {
		for _, rt := range []event.Runtime{event.Gomp, event.Kmpc} {
			rnd := rand.New(rand.NewPCG(seed, uint64(rt)))
			s := simulate(rnd, rt, 30+rnd.IntN(300))
			e := New(1, fakeFiles{})
			e.Began(1000)
			feedMixed(rnd, e, s.events, seed%2 == 0)
			e.Finish(s.now + 10)
			for _, th := range s.threads {
				got, want := map[profile.State]int64{}, s.states.times[th.tid]
				bins, _ := e.in.Strip.Bins(th.tid)
				for _, bin := range bins {
					for state, d := range bin {
						got[state] += d
					}
				}
				for _, state := range []profile.State{profile.StateWork, profile.StateBarrier, profile.StateLock, profile.StateRuntime} {
					if got[state] != want[state] {
						t.Errorf("seed %d, %v, thread %d, %s: %d ns, want %d", seed, rt, th.tid, state, got[state], want[state])
					}
					if want[state] != 0 {
						compared++
					}
				}
			}
			if seed == seeds-1 && t.Failed() {
				return
			}
		}
	}
	if compared < tries(1000) {
		t.Errorf("only %d times compared", compared)
	}
}

// TestStripBinsOfModel: the time of each thread in each state in each bin is that of the program,
// to the nanosecond. That holds for bins of any width. A step of the program takes so long here
// that it runs for some bins, or for so many that bins are added up.
func TestStripBinsOfModel(t *testing.T) {
	compared, widths := 0, map[uint64]int{}
	for seed := range tries(uint64(50)) {
		for _, step := range []uint64{1 << 8, 1 << 16, 1 << 18} {
			rnd := rand.New(rand.NewPCG(seed, 7))
			s := simulate(rnd, []event.Runtime{event.Gomp, event.Kmpc}[seed%2], 30+rnd.IntN(300))
			for i := range s.events {
				s.events[i].Time *= step
			}
			e := New(1, fakeFiles{})
			began := 1000 * step
			e.Began(began)
			feedMixed(rnd, e, s.events, seed%2 == 0)
			e.Finish((s.now + 10) * step)
			for _, th := range s.threads {
				got, width := e.in.Strip.Bins(th.tid)
				if width == 0 {
					continue
				}
				widths[width]++
				want := binsOf(s.states.all, th.tid, began, step, width, len(got))
				for i := range got {
					for _, state := range []profile.State{profile.StateWork, profile.StateBarrier, profile.StateLock, profile.StateRuntime} {
						if got[i][state] != want[i][state] {
							t.Errorf("seed %d, thread %d, bin %d of %d ns, %s: %d ns, want %d", seed, th.tid, i, width, state, got[i][state], want[i][state])
						}
						if want[i][state] != 0 {
							compared++
						}
					}
				}
			}
			if t.Failed() {
				return
			}
		}
	}
	if compared < 10_000 || len(widths) < 8 {
		t.Errorf("only %d times compared, of bins of %d widths", compared, len(widths))
	}
}

// binsOf divides the times of a thread, in steps of so many ns, into bins of a width (ns).
func binsOf(all []stateTime, tid uint32, began, step, width uint64, bins int) []map[profile.State]int64 {
	out := make([]map[profile.State]int64, bins)
	for i := range out {
		out[i] = map[profile.State]int64{}
	}
	for _, x := range all {
		if x.tid != tid {
			continue
		}
		for from, to := max(x.from*step, began)-began, max(x.to*step, began)-began; from < to; {
			i := from / width
			end := min(to, (i+1)*width)
			if int(i) < bins {
				out[i][x.state] += int64(end - from)
			}
			from = end
		}
	}
	return out
}

package attribution

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ompp-attach/attribution/ledger"
	"ompp-attach/attribution/mpicall"
	"ompp-attach/attribution/stack"
	"ompp-attach/event"
	"ompp-attach/mpi"
	"ompp-attach/profile"
)

// mpiFiles places calls at a line equal to their address.
type mpiFiles struct{ fakeFiles }

func (m mpiFiles) Region(k Key) profile.Region {
	if k.Construct == event.MPI {
		return profile.Region{Construct: event.MPI, Name: mpi.Op(k.Fn).String(), Location: profile.Location{File: "x.c", Begin: int(k.Site)}}
	}
	return m.fakeFiles.Region(k)
}

func (m mpiFiles) Seen(Key) {}

// callingSim is a simulation whose threads call MPI. What the counters must be it tells without
// knowing anything of tasks. A region's MPI time is the time that passes for the region (the
// simulation's figures grow) while its thread is in a call.
type callingSim struct {
	*simulation
	in    map[*simThread]*simCall
	calls map[*figures]*profile.MPIStats
	total map[figureKey]*profile.MPIStats // of a seat
}

type simCall struct {
	call    event.MPICall
	site    uint64
	running []*figures // regions whose time passed, when some last did
}

var simOps = []string{"MPI_Send", "MPI_Recv", "MPI_Sendrecv", "MPI_Bcast", "MPI_Allgather", "MPI_Barrier", "MPI_Waitall", "MPI_Send_init", "MPI_File_write"}

func (s *callingSim) pass() {
	before := map[*figures]int64{}
	for t := range s.in {
		for _, f := range t.visible() {
			before[f.figures] = f.figures.Exec.T
		}
	}
	from := s.now
	s.simulation.pass()
	for t, c := range s.in {
		c.running = nil
		// The figures do not tell which of two executions on one path is suspended.
		counted := map[string]bool{}
		for _, f := range slices.Backward(t.visible()) {
			// A team's time is settled at its end.
			passed := f.figures.Exec.T > before[f.figures] || f.team != nil
			if passed && !counted[f.path] {
				counted[f.path] = true
				c.running = append(c.running, f.figures)
				s.counters(f.figures).T += int64(s.now - from)
			}
		}
		s.seatTotal(t).T += int64(s.now - from)
	}
}

func (s *callingSim) counters(f *figures) *profile.MPIStats {
	if s.calls[f] == nil {
		s.calls[f] = &profile.MPIStats{}
	}
	return s.calls[f]
}

// seatTotal is what the thread of a seat does in MPI, by the seat of its outermost
// region.
func (s *callingSim) seatTotal(t *simThread) *profile.MPIStats {
	at := figureKey{root: t.root}
	for _, f := range t.stack {
		if f.team != nil {
			at.root, at.num = f.team.root, int(f.num)
			break
		}
	}
	if s.total[at] == nil {
		s.total[at] = &profile.MPIStats{}
	}
	return s.total[at]
}

func (s *callingSim) step(t *simThread, ending bool) {
	if c := s.in[t]; c != nil {
		if c.running != nil && (ending || s.rnd.IntN(2) == 0) {
			s.endCall(t, c, event.Released)
		}
		return
	}
	f := t.top()
	free := f == nil && t.root >= 0 && t.pending == nil ||
		f != nil && f.phase == stack.InBody && !f.waits && !f.internal && len(f.steps) == 0 && f.c != event.Task && f.c != event.UntiedTask
	if free && !ending && s.rnd.IntN(3) == 0 {
		s.beginCall(t)
		return
	}
	s.act(t)
}

func (s *callingSim) beginCall(t *simThread) {
	n := s.rnd.IntN(len(simOps))
	op, ok := mpi.ParseOp(simOps[n])
	if !ok {
		panic("no such operation")
	}
	c := &simCall{site: uint64(900 + 2*n + s.rnd.IntN(2))}
	c.call = event.MPICall{Op: op, Start: s.now, Args: mpi.Args{Send: s.rnd.Uint64N(1000), Recv: s.rnd.Uint64N(1000), Size: 4}}
	if s.rnd.IntN(8) == 0 {
		c.call.Flags = mpi.UnknownVolume
	}
	s.in[t] = c
	f := s.push(t, event.MPI, c.site)
	f.sum = &f.figures.Body
	f.figures.Body.C++
}

func (s *callingSim) endCall(t *simThread, c *simCall, edge event.Edge) {
	moved := mpicall.Figures(&c.call)
	leaf := s.counters(t.top().figures)
	leaf.Add(&moved)
	moved.Sized = 0
	for _, f := range c.running {
		if s.counters(f) != leaf {
			s.counters(f).Add(&moved)
		}
	}
	s.seatTotal(t).Add(&moved)
	s.emit(t, event.MPI, edge, event.Event{Site: c.site, MPI: &c.call})
	t.pop()
	delete(s.in, t)
}

// simulateCalls executes a program that calls MPI, to its end or to the middle.
func simulateCalls(rnd *rand.Rand, rt event.Runtime, steps int, stops bool) *callingSim {
	s := &callingSim{newSimulation(rnd, rt), map[*simThread]*simCall{}, map[*figures]*profile.MPIStats{}, map[figureKey]*profile.MPIStats{}}
	s.stops = stops
	for range steps {
		s.pass()
		s.step(s.threads[rnd.IntN(len(s.threads))], false)
	}
	s.pass()
	if stops {
		for _, t := range s.threads {
			for _, f := range t.stack {
				if f.team != nil {
					f.figures.Exec.T += int64(s.now - f.team.forked)
					f.figures.Exec.C++
				}
			}
			if c := s.in[t]; c != nil {
				s.endCall(t, c, event.Enter)
			}
		}
	}
	s.ending = true
	for !stops && slices.ContainsFunc(s.threads, func(t *simThread) bool { return len(t.stack) > 0 || t.pending != nil }) {
		s.pass()
		s.step(s.threads[rnd.IntN(len(s.threads))], true)
	}
	s.fold()
	calls := map[*figures]*profile.MPIStats{}
	for f, m := range s.calls {
		to := s.folded[f]
		if calls[to] == nil {
			calls[to] = &profile.MPIStats{}
		}
		calls[to].Add(m)
	}
	s.calls = calls
	s.nameUntied()
	return s
}

// mpiCounters are a profile's MPI counters by path and thread.
func mpiCounters(p *profile.Profile) map[figureKey]*profile.MPIStats {
	out := map[figureKey]*profile.MPIStats{}
	path := make([]string, len(p.Nodes))
	for i, n := range p.Nodes {
		if n.Parent >= 0 {
			r := p.Regions[n.Region]
			path[i] = path[n.Parent] + fmt.Sprintf("/%s@%d", r.Construct, r.Location.Begin)
		}
		for _, s := range n.Stats {
			th := p.Threads[s.Thread]
			if s.MPI != nil {
				out[figureKey{path[i], th.Root, th.Num}] = s.MPI
			}
		}
	}
	return out
}

// Random programs whose threads call MPI in nested regions, tasks and outside. Counters and times
// are those of the model, and every other figure is as well.
func TestModelMPI(t *testing.T) {
	seen := 0
	for seed := range tries(uint64(150)) {
		for _, rt := range []event.Runtime{event.Gomp, event.Kmpc} {
			for _, stops := range []bool{false, true} {
				rnd := rand.New(rand.NewPCG(seed, uint64(rt)))
				s := simulateCalls(rnd, rt, 30+rnd.IntN(300), stops)
				want := map[figureKey]*profile.MPIStats{}
				for at, f := range s.want {
					if m := s.calls[f]; m != nil {
						want[at] = m
					}
				}
				for at, m := range s.total {
					want[at] = m
				}
				e := New(1, mpiFiles{})
				feedMixed(rnd, e, s.events, seed%2 == 1)
				p := e.Finish(s.now)
				if d := cmp.Diff(want, mpiCounters(p)); d != "" {
					t.Fatalf("seed %d, %v, stops %t: -model +engine\n%s", seed, rt, stops, d)
				}
				if d := cmp.Diff(s.want, measured(p)); d != "" && !stops {
					t.Fatalf("seed %d, %v: -model +engine\n%s", seed, rt, d)
				}
				seen += len(want)
			}
		}
	}
	if seen < tries(5000) {
		t.Errorf("only %d counters compared", seen)
	}
}

// A mean cost may be more than a short call took. No more of a call is the probes' than its time.
// What is theirs of the calls of a region is the sum of that, in nested teams and tasks too. Dear
// probes leave nothing of any region's calls, cheap ones as much in all as of each call.
func TestModelCostsOfCalls(t *testing.T) {
	short := 0
	for seed := range tries(uint64(60)) {
		for _, rt := range []event.Runtime{event.Gomp, event.Kmpc} {
			for _, before := range []int64{2, 1 << 40} {
				rnd := rand.New(rand.NewPCG(seed, uint64(rt)))
				s := simulateCalls(rnd, rt, 30+rnd.IntN(300), false)
				var each, all, atRoot, inLeaves int64
				for i := range s.events {
					if ev := &s.events[i]; ev.MPI != nil {
						ev.Probe = event.ProbeEmulated
						d := ledger.Between(ev.MPI.Start, ev.Time)
						each, all = each+min(d, before), all+d
						if d < before {
							short++
						}
					}
				}
				e := New(1, mpiFiles{})
				var costs event.HitCosts
				costs.Kinds[event.ProbeReturn].Before = before
				e.Costs(costs)
				feedMixed(rnd, e, s.events, seed%2 == 1)
				p := e.Finish(s.now)
				for i, n := range p.Nodes {
					for _, st := range n.Stats {
						m := st.MPI
						if m == nil {
							continue
						}
						if m.Cost > m.T || before > all && m.Cost != m.T {
							t.Fatalf("seed %d, %v: node %d, seat %d: %d ns of %d are the probes'", seed, rt, i, st.Thread, m.Cost, m.T)
						}
						switch {
						case i == 0:
							atRoot += m.Cost
						case p.Regions[n.Region].Construct == event.MPI:
							inLeaves += m.Cost
						}
					}
				}
				if atRoot != each || inLeaves != each {
					t.Fatalf("seed %d, %v: %d ns of all calls are the probes', %d of each place, %d of each call", seed, rt, atRoot, inLeaves, each)
				}
			}
		}
	}
	if short < tries(1000) {
		t.Errorf("only %d calls are shorter than what they cost", short)
	}
}

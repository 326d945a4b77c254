package critical

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"ompp-attach/mpi"
	"ompp-attach/mpi/match"
	"ompp-attach/mpi/match/reader"
)

// activity is a step of a rank: work, and then a call. The call has a time of its own, which begins
// when the call need not wait any more.
type activity struct {
	rank       int
	work, cost uint64
	needs      []*activity // calls that other ranks must have entered before this call can end
	call       match.Call
	site       int
	world      bool // no rank leaves before all have come

	enter, leave uint64 // of the simulation
	known        bool
}

// program is a random program of ranks. Its calls take as long as they must.
type program struct {
	rand    *rand.Rand
	ranks   [][]*activity
	open    [][]*activity // by rank: nonblocking calls that are not complete
	request uint64
	sites   int // number of different call sites of a rank; 0: each call has its own
	half    int // number of ranks in the communicator "half"
}

func op(name string) mpi.Op {
	o, ok := mpi.ParseOp("MPI_" + name)
	if !ok {
		panic(name)
	}
	return o
}

func (g *program) call(rank int, name string, set func(*match.Call)) *activity {
	a := &activity{rank: rank, work: 1 + g.rand.Uint64N(1e9), cost: 1 + g.rand.Uint64N(1e7), site: len(g.ranks[rank])}
	if g.sites > 0 {
		a.site %= g.sites
	}
	a.call = match.Call{Op: op(name), Site: a.site, To: mpi.NoPeer, From: mpi.NoPeer, Sends: true, Receives: true}
	a.call.Later = match.Begins(a.call.Op)
	if set != nil {
		set(&a.call)
	}
	if a.call.Later {
		g.request++
		a.call.Request = g.request
		g.open[rank] = append(g.open[rank], a)
	}
	g.ranks[rank] = append(g.ranks[rank], a)
	return a
}

func (g *program) message() {
	n := len(g.ranks)
	from := g.rand.IntN(n)
	to := (from + 1 + g.rand.IntN(n-1)) % n
	tag := int32(g.rand.IntN(3))
	s := g.call(from, []string{"Bsend", "Ssend", "Isend"}[g.rand.IntN(3)], func(c *match.Call) { c.To, c.SendTag, c.Receives = int32(to), tag, false })
	r := g.call(to, []string{"Recv", "Irecv"}[g.rand.IntN(2)], func(c *match.Call) { c.From, c.RecvTag, c.Sends = int32(from), tag, false })
	if r.needs = []*activity{s}; s.call.Op != op("Bsend") {
		s.needs = []*activity{r}
	}
}

var collectives = []string{"Barrier", "Allreduce", "Bcast", "Reduce", "Exscan", "Ibarrier"}

func (g *program) collective(world bool) {
	name, n := collectives[g.rand.IntN(len(collectives))], len(g.ranks)
	if !world {
		n = g.half
	}
	root := g.rand.IntN(n)
	var all []*activity
	for rank := range n {
		a := g.call(rank, name, func(c *match.Call) { c.To = int32(root) })
		if !world {
			a.call.Comm = 1
		}
		a.world = world && (name == "Barrier" || name == "Allreduce")
		all = append(all, a)
	}
	for rank, a := range all {
		switch {
		case name == "Bcast" && rank != root:
			a.needs = all[root : root+1]
		case name == "Reduce" && rank == root, name == "Barrier", name == "Allreduce", name == "Ibarrier":
			a.needs = all
		case name == "Exscan":
			a.needs = all[:rank]
		}
	}
}

func (g *program) complete(rank int) {
	open := g.open[rank]
	if len(open) == 0 {
		return
	}
	g.rand.Shuffle(len(open), func(i, j int) { open[i], open[j] = open[j], open[i] })
	n := 1 + g.rand.IntN(len(open))
	done := open[:n]
	g.open[rank] = slices.Clone(open[n:])
	w := g.call(rank, "Waitall", nil)
	for _, a := range done {
		w.call.Completes = append(w.call.Completes, a.call.Request)
		w.needs = append(w.needs, a.needs...)
	}
}

func newProgram(seed uint64, sites int) *program {
	g := &program{rand: rand.New(rand.NewPCG(seed, 7)), sites: sites}
	n := 2 + g.rand.IntN(4)
	g.half = 1 + n/2
	g.ranks, g.open = make([][]*activity, n), make([][]*activity, n)
	for range 60 {
		switch g.rand.IntN(8) {
		case 0:
			g.collective(true)
		case 1:
			g.collective(false)
		case 2:
			g.complete(g.rand.IntN(n))
		default:
			g.message()
		}
	}
	for rank := range n {
		for len(g.open[rank]) > 0 {
			g.complete(rank)
		}
	}
	return g
}

// run simulates the program, and returns when its last rank ends.
func (g *program) run() (end uint64) {
	for _, calls := range g.ranks {
		for _, a := range calls {
			a.known = false
		}
	}
	before := map[*activity]*activity{}
	for _, calls := range g.ranks {
		for i, a := range calls[1:] {
			before[a] = calls[i]
		}
	}
	var leave func(a *activity) uint64
	enter := func(a *activity) uint64 {
		if b := before[a]; b != nil {
			return leave(b) + a.work
		}
		return 1e6 + a.work
	}
	leave = func(a *activity) uint64 {
		if a.known {
			return a.leave
		}
		a.enter = enter(a)
		at := a.enter
		if !a.call.Later { // otherwise the call that completes it needs them
			for _, o := range a.needs {
				at = max(at, enter(o))
			}
		}
		a.leave, a.known = at+a.cost, true
		return a.leave
	}
	for _, calls := range g.ranks {
		end = max(end, leave(calls[len(calls)-1]))
	}
	return end
}

// logs returns the logs that a recorder would make of the simulated program.
func (g *program) logs() (logs []*match.RankCalls) {
	for rank, calls := range g.ranks {
		var list match.List
		for _, a := range calls {
			c := a.call
			c.Start, c.End = a.enter, a.leave
			list = append(list, c)
		}
		l := &match.RankCalls{Rank: rank, Comms: []match.Comm{{Name: "world", Size: int32(len(g.ranks)), Rank: int32(rank)}}, Threads: []match.Calls{&list}}
		if rank < g.half {
			l.Comms = append(l.Comms, match.Comm{Name: "half", Size: int32(g.half), Rank: int32(rank)})
		}
		logs = append(logs, l)
	}
	return logs
}

func listen(logs []*match.RankCalls, c match.Clocks) (*Result, *match.Result) {
	p := New(logs, func(_, site int) int { return site })
	r := reader.RunWith(logs, c, p)
	out := p.Finish()
	before := map[Place]int64{}
	for s, t := range out.Stretches {
		before[Place{s.Rank, s.Site, false}] += t
	}
	for at, t := range out.Times {
		if !at.In && t.Path != before[at] {
			panic(fmt.Sprintf("%+v: %d on the path, but %d since the calls before", at, t.Path, before[at]))
		}
	}
	return out, r
}

// TestModel: an activity is on the path if, and only if, a shorter activity would let the program
// end earlier. The path is as long as the program runs.
func TestModel(t *testing.T) {
	on, turns := 0, uint64(0)
	for seed := range uint64(60) {
		g := newProgram(seed, 0)
		end := g.run()
		got, _ := listen(g.logs(), nil)
		begins := func(calls []*activity) bool { return got.Length == int64(end-calls[0].enter) }
		if got.Overlap >= 0 || got.Unknown != 0 || !slices.ContainsFunc(g.ranks, begins) {
			t.Fatalf("seed %d: %d of %d ns, %d unknown, overlap %d", seed, got.Length, end, got.Unknown, got.Overlap)
		}
		turns += got.Turns
		for rank, calls := range g.ranks {
			for i, a := range calls {
				for in, part := range map[bool]*uint64{false: &a.work, true: &a.cost} {
					if i == 0 && !in {
						continue // before the first call nothing is recorded
					}
					*part--
					shorter := g.run()
					*part++
					want := int64(0)
					if shorter < end {
						want = int64(*part)
						on++
					}
					have := int64(0)
					if x := got.Times[Place{rank, i, in}]; x != nil {
						have = x.Path
					}
					if have != want {
						t.Fatalf("seed %d: rank %d, call %d (%s, in %v): %d ns on the path, not %d", seed, rank, i, a.call.Op, in, have, want)
					}
				}
			}
		}
	}
	if on < 1000 || turns < 500 {
		t.Errorf("%d activities on paths, %d turns only", on, turns)
	}
}

// TestBalance: the time of a call path is divided among the ranks in many ways. The program never
// saves more than the result says. Between two calls at which all ranks meet, the sum over the
// ranks stays the same.
func TestBalance(t *testing.T) {
	tight := 0
	for seed := range uint64(150) {
		g := newProgram(seed, 3)
		end := g.run()
		got, _ := listen(g.logs(), nil)
		for site := range 3 {
			w := Work{site, false}
			was := g.divide(site)
			saved := int64(end) - int64(g.run())
			g.restore(was)
			g.run()
			if saved > got.Saves[w]+1000 { // shares are rounded
				t.Fatalf("seed %d: balance at %d saves %d ns, more than %d", seed, site, saved, got.Saves[w])
			}
			if got.Saves[w] < int64(end)/3 {
				tight++
			}
		}
	}
	if tight < 100 {
		t.Errorf("only %d bounds say anything", tight)
	}
}

// divide gives each rank an equal share of the work at a call site in each phase, in random parts.
// It returns the work before.
func (g *program) divide(site int) map[*activity]uint64 {
	was := map[*activity]uint64{}
	phases := [][][]*activity{} // by phase and rank
	for rank, calls := range g.ranks {
		phase := 0
		for i, a := range calls {
			if len(phases) == phase {
				phases = append(phases, make([][]*activity, len(g.ranks)))
			}
			if a.site == site && i > 0 {
				phases[phase][rank] = append(phases[phase][rank], a)
			}
			if a.world {
				phase++
			}
		}
	}
	for _, ranks := range phases {
		sum := uint64(0)
		for _, list := range ranks {
			if len(list) == 0 {
				sum = 0
				break // this rank has no such place
			}
			for _, a := range list {
				sum += a.work
			}
		}
		if sum == 0 {
			continue
		}
		for _, list := range ranks {
			left := sum / uint64(len(ranks))
			for i, a := range list {
				was[a] = a.work
				if a.work = left; i < len(list)-1 {
					a.work = g.rand.Uint64N(left + 1)
				}
				left -= a.work
			}
		}
	}
	return was
}

func (g *program) restore(was map[*activity]uint64) {
	for a, work := range was {
		a.work = work
	}
}

// TestNothing: if a rank's calls overlap, or its log ends early, no path is claimed.
func TestNothing(t *testing.T) {
	g := newProgram(1, 0)
	g.run()
	logs := g.logs()
	logs[1].Until = g.ranks[1][len(g.ranks[1])/2].enter
	r, _ := listen(logs, nil)
	if r.Unknown == 0 || r.Unknown > r.Length {
		t.Errorf("a log ends early: %d of %d not known", r.Unknown, r.Length)
	}
	over := vector("Barrier", 1, 5, 0, nil)
	inner := vector("Send", 3, 4, 0, func(c *match.Call) { c.To = mpi.ProcNull })
	if r, _ := listen(logsOf([]match.Call{over, inner}, []match.Call{over}), nil); r.Overlap != 0 || len(r.Times) != 0 {
		t.Errorf("%+v", r)
	}
}

// TestMostCalls: the path of a phase with too many calls is not known. Later phases are known.
func TestMostCalls(t *testing.T) {
	var a, b []match.Call
	null := func(c *match.Call) { c.To = mpi.ProcNull }
	a, b = append(a, vector("Barrier", 1, 2, 0, nil)), append(b, vector("Barrier", 1, 2, 0, nil))
	for i := range uint64(50) {
		a = append(a, vector("Send", 10+2*i, 11+2*i, 1, null))
	}
	for i := range uint64(3) {
		a, b = append(a, vector("Barrier", 200+10*i, 203+10*i, 2, nil)), append(b, vector("Barrier", 202+10*i, 203+10*i, 2, nil))
	}
	logs := logsOf(a, b)
	p := New(logs, func(_, site int) int { return site })
	p.most = 20
	reader.RunWith(logs, nil, p)
	r := p.Finish()
	if r.Lost != 1 || r.Unknown != 201000 || r.Length != 222000 || r.Times[Place{1, 2, false}].Path != 18000 {
		t.Errorf("%+v: %v", r, show(r))
	}
}

// ahead are the clocks of two machines. That of host b is ahead by a time (ns), which is known
// within a bound.
type ahead struct{ by, bound int64 }

func (ahead) Comparable(_, _ string) bool { return true }

func (c ahead) Convert(to, from string, t uint64) (at uint64, bound int64) {
	switch {
	case to == from:
		return t, 0
	case to == "b":
		return t + uint64(c.by), c.bound
	}
	return t - uint64(c.by), c.bound
}

// TestTwoMachines: the path is the same if the ranks' clocks differ, and their difference is known.
// Each turn to a rank of the other machine adds to the bound.
func TestTwoMachines(t *testing.T) {
	across := 0
	for seed := range uint64(40) {
		g := newProgram(seed, 0)
		for rank := range g.ranks { // the program begins with a barrier: its end tells who was last
			a := &activity{rank: rank, work: 1 + g.rand.Uint64N(1000), cost: 1, site: len(g.ranks[rank])}
			a.call = match.Call{Op: op("Barrier"), Site: a.site, To: mpi.NoPeer, From: mpi.NoPeer, Sends: true, Receives: true}
			g.ranks[rank] = append([]*activity{a}, g.ranks[rank]...)
		}
		for rank := range g.ranks {
			for _, b := range g.ranks {
				g.ranks[rank][0].needs = append(g.ranks[rank][0].needs, b[0])
			}
		}
		g.run()
		want, _ := listen(g.logs(), nil)
		logs, clock := g.logs(), ahead{by: 5e12, bound: 3}
		for rank, l := range logs {
			if rank%2 == 0 {
				continue
			}
			l.Host = "b"
			list := *l.Threads[0].(*match.List)
			for i := range list {
				list[i].Start, list[i].End = list[i].Start+uint64(clock.by), list[i].End+uint64(clock.by)
			}
		}
		got, _ := listen(logs, clock)
		if !maps.EqualFunc(got.Times, want.Times, func(a, b *Time) bool { return *a == *b }) || got.Length != want.Length || got.Unknown != 0 || !maps.Equal(got.Saves, want.Saves) {
			t.Fatalf("seed %d: %v\nnot %v", seed, show(got), show(want))
		}
		if got.Bound%3 != 0 || got.Bound > 3*int64(got.Turns) || want.Bound != 0 {
			t.Fatalf("seed %d: bound %d of %d turns", seed, got.Bound, got.Turns)
		}
		across += int(got.Bound)
	}
	if across < 100 {
		t.Errorf("the paths hardly ever go from one machine to the other: %d", across)
	}
}

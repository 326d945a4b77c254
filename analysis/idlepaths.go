package analysis

import (
	"ompp-attach/event"
	"ompp-attach/profile"
)

// IdleThread is the time, in ns, for which a worker was in no region while its initial thread was
// at a node.
type IdleThread struct {
	Thread int // index in Profile.Threads
	Time   int64
	MPI    int64 // the part of Time while the initial thread was in MPI outside of parallel regions
}

// IdleThreads returns, for each node, the time of workers that had no part in it: EXPERT's idle
// threads (Mohr et al., Design and Prototype of a Performance Tool Interface for OpenMP), charged
// to the call path of the initial thread.
//
//   - At nodes outside of parallel regions, and at the root for the program's own code, each worker
//     is idle for the initial thread's exclusive time.
//   - At an outermost parallel region, the workers without a part in the team are idle for as long
//     as the region lasted for its primary thread.
//
// So a worker's time in teams and its idle time add up to its initial thread's life. Where teams
// nest, threads of inner teams share rows with others, and the idle time is a lower bound. In a
// region that was under way when measurement began, the thread's place is not known. Nor is it
// known if no event has told the thread's number. Such a thread has no idle time.
func IdleThreads(p *profile.Profile) [][]IdleThread {
	out := make([][]IdleThread, len(p.Nodes))
	workers := map[int][]int{} // by Root
	for i, t := range p.Threads {
		if t.Num > 0 {
			workers[t.Root] = append(workers[t.Root], i)
		}
	}
	if len(workers) == 0 {
		return out
	}
	add := func(node, root int, time, mpi int64, busy map[int]int64) {
		for _, w := range workers[root] {
			if idle := time - busy[w]; idle > 0 {
				out[node] = append(out[node], IdleThread{w, idle, min(idle, mpi)})
			}
		}
	}
	calls := map[int]int64{} // by Root: those whose regions have been taken out
	for i := range p.Nodes[0].Stats {
		s := &p.Nodes[0].Stats[i]
		if t := p.Threads[s.Thread]; t.Num == 0 {
			calls[t.Root] = OwnCalls(event.NoConstruct, s).T
		}
	}
	for _, s := range SerialTimes(p) {
		add(0, s.Root, s.Time, calls[s.Root], nil)
	}
	t := newTree(p)
	busy := t.workersIn()
	for i := 1; i < len(p.Nodes); i++ {
		outermost := t.team[i] == i && t.team[p.Nodes[i].Parent] < 0
		construct := p.Regions[p.Nodes[i].Region].Construct
		if t.team[i] >= 0 && (!outermost || construct == event.Unknown) {
			continue
		}
		for j := range p.Nodes[i].Stats {
			s := &p.Nodes[i].Stats[j]
			th := p.Threads[s.Thread]
			switch {
			case th.Num != 0:
			case outermost:
				add(i, th.Root, s.Exec.T, 0, busy[i])
			default:
				add(i, th.Root, s.Exec.T-s.Child, OwnCalls(construct, s).T, nil)
			}
		}
	}
	return out
}

// workersIn returns, for each outermost node that starts a team, the time of each worker in the
// node or in teams inside. A thread of an inner team counts with the inner team's time, unless it
// is in the outer team as well.
func (t *tree) workersIn() []map[int]int64 {
	out := make([]map[int]int64, len(t.p.Nodes))
	outermost := make([]int, len(t.p.Nodes)) // of each node in a team
	counted := make([]map[int]bool, len(t.p.Nodes))
	for i := 1; i < len(t.p.Nodes); i++ {
		if t.team[i] < 0 {
			continue
		}
		up := t.p.Nodes[i].Parent
		counted[i] = counted[up]
		if t.team[i] != i {
			outermost[i] = outermost[up]
			continue
		}
		if outermost[i] = outermost[up]; outermost[i] == 0 {
			outermost[i], out[i] = i, map[int]int64{}
		}
		here := map[int]bool{}
		for thread := range counted[up] {
			here[thread] = true
		}
		for j := range t.p.Nodes[i].Stats {
			s := &t.p.Nodes[i].Stats[j]
			if !here[s.Thread] {
				out[outermost[i]][s.Thread] += s.Exec.T
			}
			here[s.Thread] = true
		}
		counted[i] = here
	}
	return out
}

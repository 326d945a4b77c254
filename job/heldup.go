package job

import (
	"ompp-attach/analysis"
	"ompp-attach/profile"
)

// heldUp returns for how long a process was held up outside of MPI by threads that were ready to
// run and had no core (ns). The threads of a team wait for each other, so in a team the thread
// counts that lacked a core for longest. Outside of teams, the initial thread counts. Workers that
// wait for a region hold up nobody.
func heldUp(p *profile.Profile) (ns int64) {
	paths := analysis.NewPaths(p)
	inTeams := map[int]int64{} // by thread
	for i := 1; i < len(p.Nodes); i++ {
		n := &p.Nodes[i]
		if paths.Team(i) != i || paths.Team(n.Parent) >= 0 {
			continue
		}
		var longest int64
		for k := range n.Stats {
			lack := lackOutside(&n.Stats[k])
			inTeams[n.Stats[k].Thread] += lack
			longest = max(longest, lack)
		}
		ns += longest
	}
	var longest int64
	for k := range p.Nodes[0].Stats {
		if s := &p.Nodes[0].Stats[k]; p.Threads[s.Thread].Num == 0 {
			longest = max(longest, lackOutside(s)-inTeams[s.Thread])
		}
	}
	return ns + longest
}

// lackOutside returns the time without a core outside of MPI (ns).
func lackOutside(s *profile.ThreadStats) (ns int64) {
	if s.NoCore != nil {
		ns = s.NoCore.Exec
	}
	if s.MPI != nil {
		ns -= s.MPI.NoCore
	}
	return max(0, ns)
}

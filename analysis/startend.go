package analysis

import (
	"slices"

	"ompp-attach/event"
	"ompp-attach/mpi"
	"ompp-attach/profile"
)

// StartEnd is the part of the time in MPI that its start and its end took. This time is not
// communication: the launcher, the network's setup and the slowest start determine it. It is found
// by the regions of the calls, so call MPIStartEnd before profile.Hide removes these.
type StartEnd struct {
	Operations []string // the operations, in the order of their regions; empty: none was measured
	T          int64    // sum over all threads, ns
	// Times by thread, ns. Begin is the time in calls that begin MPI, All in calls that begin
	// or end it.
	Begin, All map[int]int64
}

// StartsEnds reports whether a region is a call that begins or ends MPI.
func StartsEnds(r *profile.Region) bool {
	op, ok := operationOf(r)
	return ok && op.StartEnd()
}

// BeginsMPI reports whether a region is a call that begins MPI.
func BeginsMPI(r *profile.Region) bool {
	op, ok := operationOf(r)
	return ok && op.Begins
}

func operationOf(r *profile.Region) (*mpi.Operation, bool) {
	if r.Construct != event.MPI {
		return nil, false
	}
	op, ok := mpi.ParseOp(r.Name)
	return op.Info(), ok
}

// MPIStartEnd adds up the calls that begin or end MPI.
func MPIStartEnd(p *profile.Profile) StartEnd {
	out := StartEnd{Begin: map[int]int64{}, All: map[int]int64{}}
	for i := range p.Nodes {
		n := &p.Nodes[i]
		if n.Region < 0 || !StartsEnds(&p.Regions[n.Region]) {
			continue
		}
		op, _ := operationOf(&p.Regions[n.Region])
		if !slices.Contains(out.Operations, op.Name) {
			out.Operations = append(out.Operations, op.Name)
		}
		for j := range n.Stats {
			s := &n.Stats[j]
			out.T += s.Exec.T
			out.All[s.Thread] += s.Exec.T
			if op.Begins {
				out.Begin[s.Thread] += s.Exec.T
			}
		}
	}
	return out
}

// Apart separates the call sites that start or end MPI from the others.
func Apart(sites []int, region func(int) *profile.Region) (communication, startEnd []int) {
	for _, i := range sites {
		if StartsEnds(region(i)) {
			startEnd = append(startEnd, i)
		} else {
			communication = append(communication, i)
		}
	}
	return communication, startEnd
}

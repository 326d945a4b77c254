package severity

import (
	"ompp-attach/mpi/clocks"
	"ompp-attach/mpi/match"
)

// Nodes says how clocks of the machines on which ranks ran were compared for
// the waits between ranks.
type Nodes struct {
	Machines []Machine
	Links    []clocks.Link // by index in Machines
	Across   match.Across
}

// Machine is a machine on which ranks ran.
type Machine struct {
	Hosts   []string // its names
	Ranks   []int
	Stepped bool  // the time of day was set meanwhile
	Shift   int64 // what was added to its times before they were compared, ns
}

// Offset returns how much CLOCK_MONOTONIC of a link's first machine was ahead of
// the second one's, ns.
func (n *Nodes) Offset(k *clocks.Link) int64 {
	return k.Offset + n.Machines[k.B].Shift - n.Machines[k.A].Shift
}
